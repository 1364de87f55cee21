"""An option, said once: a field of a class of options, with its flags, the rule and the help."""

import re
from dataclasses import field, fields
from numbers import Real
from typing import Any, NamedTuple

from ipyjaxbench.validation import NUMBERS, checked

_FLAG = re.compile(r"(?:^|, )(--?[\w-]+)")


class Option(NamedTuple):
    """What can be typed for a field.

    Attributes:
        spelled: its flags, and maybe a value to type, such as "-v, --variable result".
        value: rule that makes the value of a text, or raises ValueError; or texts that are offered;
            for a flag without a value what the field is set to.
        help: what it does, in ASCII; ``{usual:g}`` stands for the value of that field where nothing
            is typed.
        several: whether it may be given several times.
        names: what else it takes: "kept" names of results, or "labels" of the cell's arms.
        field: that it sets.
        old: flag that it had before, which still works and says so.
    """

    spelled: str
    value: object
    help: str
    several: bool = False
    names: str = ""
    field: str = ""
    old: str = ""

    @property
    def flags(self) -> tuple[str, ...]:
        """Its flags, the short one first."""
        return tuple(_FLAG.findall(self.spelled))

    @property
    def sample(self) -> str:
        """A value to type."""
        return _FLAG.sub("", self.spelled).strip() or "5"

    @property
    def choices(self) -> tuple[str, ...]:
        """Texts that are offered."""
        return self.value if isinstance(self.value, tuple) else ()

    @property
    def takes_value(self) -> bool:
        """Whether a value follows it."""
        return callable(self.value) or bool(self.choices)

    def read(self, flag: str, text: str) -> object:
        """Return the value of a text that was typed behind one of its flags."""
        if not callable(self.value):
            return text
        example = f"{flag} {self.sample}"
        return checked(text, self.value, typed=f"{flag} {text}", example=example)


def options(default: object, *rows: Option) -> Any:
    """Return a field of a class of options that several options set."""
    return field(default=default, metadata={"options": rows})


def option(default: object, spelled: str, rule: object, help: str, **more: Any) -> Any:
    """Return a field that one option with a value sets; for the arguments see `Option`."""
    return options(default, Option(spelled, rule, help, **more))


def flag(spelled: str, help: str, *, default: bool = False, old: str = "") -> Any:
    """Return a field that an option without a value turns to the contrary of its default."""
    return options(default, Option(spelled, not default, help, old=old))


def options_of(kind: type) -> tuple[Option, ...]:
    """Return the options of a class of options, in the order of its fields.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Asked:
        ...     quiet: bool = flag("-q, --quiet", "show nothing")
        >>> [(each.flags, each.field, each.value) for each in options_of(Asked)]
        [(('-q', '--quiet'), 'quiet', True)]
    """
    return tuple(
        row._replace(field=each.name)
        for each in fields(kind)
        for row in each.metadata.get("options", ())
    )


def check_numbers(chosen: object) -> None:
    """Refuse what is no number that keeps the rule of its option, from Python as from a magic."""
    for row in options_of(type(chosen)):
        value = getattr(chosen, row.field)
        if row.value in NUMBERS and value is not None:
            # A text of digits would pass the rule, and no computation after it.
            text = str(value) if isinstance(value, Real) else repr(value)
            typed, example = f"{row.field}={value!r}", f"{row.field}={row.sample}"
            checked(text, row.value, typed=typed, example=example)
