"""An option, said once: a field of a class of options, with its flags, the rule and the help."""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from numbers import Real
from typing import Any, NamedTuple, get_args

from ipyjaxbench.errors import OptionError, by_caller, caller
from ipyjaxbench.validation import NUMBERS, age, axes, checked, seconds, shapes, words

_FLAG = re.compile(r"(?:^|, )(--?[\w-]+)")
_WIDTH, _FLAGS = 80, 26  # columns of the help, and of the flags in it
_CONVERTING = (axes, shapes)  # rules whose values are no texts any more


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
        bare: what the field is set to where no number is typed behind it; None where one must be.
    """

    spelled: str
    value: object
    help: str
    several: bool = False
    names: str = ""
    field: str = ""
    old: str = ""
    bare: object = None

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

    @property
    def placeholder(self) -> str:
        """What stands for its value in the help, in brackets if it may be left out.

        Example:
            >>> Option("-b, --budget", seconds, "time to spend").placeholder
            'SECONDS'
        """
        if self.value is seconds:
            name = "SECONDS"
        elif self.value in NUMBERS:
            name = "N"
        else:
            name = self.flags[-1].strip("-").upper().replace("-", "_")
        return name if self.bare is None else f"[{name}]"

    def help_lines(self, untyped: Mapping[str, object]) -> Iterator[str]:
        """Yield the lines of the help on it, from the values of fields where nothing is typed."""
        value = f" {self.placeholder}" if self.takes_value else ""
        flags = f"  {', '.join(self.flags)}{value}"
        first, *more = textwrap.wrap(self.help.format_map(untyped), _WIDTH - _FLAGS)
        if len(flags) > _FLAGS - 2:
            yield flags
            flags = ""
        yield f"{flags:{_FLAGS}}{first}"
        yield from (f"{'':{_FLAGS}}{line}" for line in more)

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


def unlisted(default: object, rule: object, sample: object) -> Any:
    """Return a field that no option sets, and the rule that it keeps."""
    return field(default=default, metadata={"rule": Option(str(sample), rule, "")})


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


def spell(kind: type, **values: object) -> str:
    """Return options with values as the caller types them, in a magic or in Python.

    Example:
        >>> from ipyjaxbench.errors import called_from
        >>> from ipyjaxbench.timing import TimeOptions
        >>> with called_from("%fwtime"):
        ...     spell(TimeOptions, number=5, repeat=3)
        '-n 5 -r 3'
        >>> with called_from("measure"):
        ...     spell(TimeOptions, number=5, repeat=3)
        'timer=Options(number=5, repeat=3)'
    """
    keywords = ", ".join(f"{name}={value!r}" for name, value in values.items())
    flags = " ".join(_typed(kind, name, value) for name, value in values.items())
    timer = caller() == "measure"
    return by_caller(flags, f"timer=Options({keywords})" if timer else keywords)


def _typed(kind: type, name: str, value: object) -> str:
    """Return an option of a magic with its value."""
    rows = (row for row in options_of(kind) if row.field == name)
    row = next(row for row in rows if row.takes_value or row.value == value)
    alone = not row.takes_value or value == row.bare
    return row.flags[0] if alone else f"{row.flags[0]} {value}"


def refuse_together(chosen: object, *groups: tuple[str, ...]) -> None:
    """Refuse options of two groups of fields, which contradict each other."""
    given = [name for group in groups for name in group if _is_given(chosen, name)]
    owner = {name: number for number, group in enumerate(groups) for name in group}
    other = next((name for name in given if owner[name] != owner[given[0]]), None)
    if other is not None:
        first, second = (
            by_caller(_flag(chosen, name), f"{name}={getattr(chosen, name)!r}")
            for name in (given[0], other)
        )
        raise OptionError(f"{first} and {second} cannot be combined: leave out one of them")


def _is_given(chosen: object, name: str) -> bool:
    value: object = getattr(chosen, name)
    return value != next(each.default for each in fields(chosen) if each.name == name)  # type: ignore[arg-type]


def _flag(chosen: object, name: str) -> str:
    return _typed(type(chosen), name, getattr(chosen, name)).partition(" ")[0]


def check_fields(chosen: object) -> None:
    """Refuse values that break the rule of their field, from Python as from a magic."""
    for each in fields(chosen):  # type: ignore[arg-type]
        unlisted = each.metadata.get("rule")
        rows = (unlisted,) if unlisted else each.metadata.get("options", ())
        value = getattr(chosen, each.name)
        if rows and not (value is None and type(None) in get_args(each.type)):
            _check_value(each.name, rows, each.default, value)


def _check_value(name: str, rows: Sequence[Option], default: object, value: object) -> None:
    fixed = [default, *(row.value for row in rows if not row.takes_value)]
    if any(type(value) is type(each) and value == each for each in fixed):
        return
    typed, (row, *_) = f"{name}={value!r}", rows
    if not row.takes_value:
        *more, last = map(repr, fixed)
        raise OptionError(f"{typed}: must be {', '.join(more)} or {last}")
    if row.value in NUMBERS or row.value is age:
        # A text of digits would pass the rule, and no computation after it.
        text = str(value) if isinstance(value, Real) else repr(value)
        number = seconds if row.value is age else row.value
        checked(text, number, typed=typed, example=f"{name}={row.sample}")
    elif not row.several and row.value not in _CONVERTING:
        text = value if isinstance(value, str) else ""
        rule = row.value if callable(row.value) and row.value is not str else words
        checked(text, rule, typed=typed, example=f"{name}={row.sample!r}")
