"""The signatures that functions were traced with so far."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ipyjaxbench import units
from ipyjaxbench.errors import OptionError
from ipyjaxbench.reports import Result
from ipyjaxbench.retracing.cache_key import NUMBERS, Change, Leaf
from ipyjaxbench.retracing.named_function import find_named
from ipyjaxbench.retracing.trace_log import Known, TraceLog
from ipyjaxbench.usercode import Namespace

#: Changes with which a call finds the program of another one: nothing was traced.
_FOUND = ("scalar", "host array")


@dataclass(frozen=True)
class Traced:
    """A signature that was traced, and why."""

    name: str
    framework: str
    arguments: str
    why: tuple[Change, ...]


@dataclass(frozen=True, repr=False)
class Signatures(Result):
    """The signatures that functions were traced with since the extension was loaded."""

    kind: ClassVar[str] = "signatures"

    traced: tuple[Traced, ...]  # function by function, the oldest first

    @classmethod
    def from_log(
        cls, log: TraceLog, name: str = "", names: Namespace | None = None
    ) -> "Signatures":
        """Return the signatures of all functions, or those of one, which must have been traced.

        Args:
            log: where they were kept.
            name: of the function, in its definition or among the user's; empty for all.
            names: the user's.
        """
        chosen = [(fw, n) for fw, n in log.functions() if not name or n == name]
        found = find_named(name, names or {}) if name else None
        if found is not None and found.name != name:
            known = log.known(found.framework, found.name)
            own = [each for each in known if each[0].function == found.token]
            if own:
                return cls((*_signatures(found.framework, name, own),))
        if name and not chosen:
            known_names = ", ".join(dict.fromkeys(n for _, n in log.functions())) or "none"
            raise OptionError(
                f"{name!r} has not been traced since ipyjaxbench was loaded;"
                f" traced functions: {known_names}"
            )
        return cls(
            tuple(
                one
                for fw, n in chosen
                for full_name, own in _by_full_name(log.known(fw, n))
                for one in _signatures(fw, full_name or n, own)
            )
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each signature, function by function, the oldest first."""
        return [
            {
                "function": traced.name,
                "framework": traced.framework,
                "arguments": traced.arguments,
                "why": "; ".join(change.words() for change in traced.why),
            }
            for traced in self.traced
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<Signatures: {len(self.traced)}>"


def _by_full_name(known: Sequence[Known]) -> Iterator[tuple[str, list[Known]]]:
    """Yield the signatures of each function of one name; with "" where there is one function."""
    by_name: dict[str, list[Known]] = {}
    for each in known:
        by_name.setdefault(each[0].full_name, []).append(each)
    yield from by_name.items() if len(by_name) > 1 else (("", own) for own in by_name.values())


def _signatures(framework: str, name: str, known: Sequence[Known]) -> Iterator[Traced]:
    for signature, why in known:
        if why and all(change.kind in _FOUND for change in why):
            continue
        items = signature.leaves.items()
        leaves = [(path, leaf) for path, leaf in items if leaf.dtype or leaf.value or leaf.abstract]
        arguments = ", ".join(f"{path} {_words(leaf)}" for path, leaf in leaves)
        yield Traced(name, framework, arguments, why)


def _words(leaf: Leaf) -> str:
    """Return a leaf as reports spell it; of a number also which array a trace takes it for.

    Example:
        >>> _words(Leaf("int", abstract="int32 weak")), _words(Leaf("array", "float32", (3,)))
        ('int i32[] weak', 'f32[3]')
    """
    if leaf.kind not in NUMBERS or not leaf.abstract:
        return leaf.words()
    dtype, _, weak = leaf.abstract.partition(" ")
    return f"{leaf.words()} {units.array(dtype, ())} {weak}".rstrip()
