"""What a function reads of the names around it, and what these stand for now, as values.

No object is kept: numbers and texts stand for themselves, code for its fingerprint, arrays and
other objects for what `Imprint` says of them. Looks, never calls.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ipyjaxbench.usercode.classes import class_name
from ipyjaxbench.usercode.code_objects import fingerprint
from ipyjaxbench.usercode.framework_data import FrameworkData
from ipyjaxbench.usercode.imprints import Imprint, imprint_passed
from ipyjaxbench.usercode.members import code_in
from ipyjaxbench.usercode.objects import name_of
from ipyjaxbench.usercode.origin import is_users_function
from ipyjaxbench.usercode.places import Place
from ipyjaxbench.usercode.reader import Reader
from ipyjaxbench.usercode.scopes import module_named


@dataclass(frozen=True)
class Reads:
    """All that a function read when it was looked at.

    Attributes:
        values: what each stood for, by its path as in ``model.w``; names that are no globals too.
        own: tells the code of the function itself from what may be put in its place, as reloading
            a module does.
        is_cut: whether there were more than `MOST_READ`.
        raised: whether objects raised errors when they were looked at: what they hold is missing.
        places: where these stood; they hold the user's values, and are for the moment.
        side_effects: what to run the code once more would use up, and names by which it acts.
        objects: gives those that can change in place, by their paths, as long as others hold them.
        is_hidden: whether code reads names in a text that is not known, as by `eval`.
        module: whose globals have no module before them in paths; "" of the session's own.
    """

    values: Mapping[str, Imprint] = field(default_factory=dict)
    own: int = 0
    is_cut: bool = False
    raised: bool = False
    places: tuple[Place, ...] = field(default=(), compare=False, repr=False)
    side_effects: tuple[str, ...] = ()
    objects: Mapping[str, Callable[[], Any]] = field(
        default_factory=dict, compare=False, repr=False
    )
    module: str = ""
    is_hidden: bool = False

    def found_otherwise(self, other: "Reads") -> dict[str, Imprint]:
        """Return what another function of which this one has code read then, where that differs."""
        if self.codes.isdisjoint(other.codes):
            return {}
        found = ((self._path_of(path, other), each) for path, each in other.values.items())
        return {
            path: each for path, each in found if path is not None and self.values[path] != each
        }

    def _path_of(self, path: str, other: "Reads") -> str | None:
        """Return where it stands for what a path is in what another function reads, if it does."""
        paths = (f"{other.module}.{path}", path, path.removeprefix(f"{self.module}."))
        return next((each for each in paths if each in self.values), None)

    @property
    def paths(self) -> list[str]:
        """The paths of what is there, without constants of libraries, which hardly anyone sets."""
        return [p for p, each in self.values.items() if each.kind not in ("absent", "constant")]

    @cached_property
    def codes(self) -> frozenset[int]:
        """Fingerprints of the function's own code and of that of functions which it reaches."""
        functions = (each.content for each in self.values.values() if each.kind == "function")
        found = (part for each in functions if isinstance(each, tuple) for part in each)
        return frozenset((self.own, *(part for part in found if isinstance(part, int)))) - {0}


def find_reads(
    function: Callable[..., Any],
    arguments: Mapping[str, object],
    imprint: Callable[[Any], Imprint | None],
    wrapped: Callable[[Any], Any] = lambda value: value,
    parts: Callable[[Any], Iterable[tuple[str, Any]]] = code_in,
    around: object = None,
    passed: Collection[str] = (),
) -> Reads:
    """Return what a function, and those of the user's that it reaches, read of names around them.

    Args:
        function: it itself is not among them; of a library's, what it holds of the user's counts.
        arguments: those of its parameters whose values it is compiled with, by name; of a library's
            function those that it may call.
        imprint: of a framework's data and objects; None for all others.
        wrapped: of a framework's container the one of Python's in it; all else as it is.
        parts: of what has an imprint of kind "object", those that count too, by the ends of their
            paths.
        around: the function with the decorators around it.
        passed: names of those arguments that each call passes anew.
    """
    reader = Reader(FrameworkData(imprint, wrapped, parts))
    if is_users_function(function):
        reader.read_code(function, arguments, 0)
    else:
        name = name_of(function) or class_name(type(function))
        reader.read_value(name, function)
        reader.found.pop(name, None)
        for name, value in arguments.items():
            reader.read_value(name, value)
    reader.read_wrappers(around, 0)
    reader.read_rest()
    for path in reader.paths.below(reader.found, passed, id(function)):
        reader.found[path] = imprint_passed(reader.found[path])
    places = tuple(reader.places.values())
    is_users = is_users_function(function)
    own = fingerprint(function.__code__) if is_users else 0
    return Reads(
        reader.found, own, reader.is_cut, reader.raised, places, reader.side_effects,
        reader.objects, module_named(function.__globals__) if is_users else "",
        reader.is_hidden,
    )  # fmt: skip
