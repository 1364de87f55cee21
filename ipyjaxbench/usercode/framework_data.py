"""What a framework knows of values; nothing that an object of the user's raises ends the asking."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode.classes import class_name
from ipyjaxbench.usercode.imprints import Imprint
from ipyjaxbench.usercode.members import MISSING, part_of
from ipyjaxbench.usercode.standard_values import imprint_standard, unwrapped


class AnyData:
    """Stands for data in what a function is given: what it computes is no part of a program."""


class FrameworkData(NamedTuple):
    """The questions that a framework answers.

    Attributes:
        ask: the imprint of its data and objects; None for all others.
        unwrap: of its container the one of Python's in it; all else as it is.
        parts: of what has an imprint of kind "object", those that count too.
    """

    ask: Callable[[Any], Imprint | None]
    unwrap: Callable[[Any], Any]
    parts: Callable[[Any], Iterable[tuple[str, Any]]]

    def imprint(self, value: Any) -> Imprint | None:
        """Return that of data, of its objects, and of Python's values; None for all others."""
        try:
            found = self.ask(value)
            return imprint_standard(value) if found is None else found
        except CODE_ERRORS:  # the object raises where its class is asked for
            return Imprint(class_name(type(value)), "unknown")

    def wrapped(self, value: Any) -> Any:
        """Return the container in another one, of the framework's or of Python's own library."""
        return unwrapped(self.unwrap(value))

    def part_of(self, owner: Any, key: Any, *, item: bool) -> Any:
        """Return a part of a value; `MISSING` of data: what is asked of it depends on all of it."""
        data = self.imprint(owner)
        if data is not None and data.kind != "object":
            return MISSING
        try:
            return part_of(owner, key, item=item)
        except CODE_ERRORS:  # no such part
            return MISSING
