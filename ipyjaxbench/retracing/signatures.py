"""The signatures with which functions were traced so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ipyjaxbench.errors import OptionError
from ipyjaxbench.reports import Result
from ipyjaxbench.retracing.cache_key import Change, Signature, closest
from ipyjaxbench.retracing.trace_log import TraceLog


@dataclass(frozen=True)
class Traced:
    """A signature that was traced.

    Attributes:
        name: of the function.
        framework: that traced it.
        arguments: the leaves of its arguments, in words.
        why: in what it differs from the nearest one before it.
    """

    name: str
    framework: str
    arguments: str
    why: tuple[Change, ...]


@dataclass(frozen=True, repr=False)
class Signatures(Result):
    """What functions were traced with, as far as it was seen since the extension was loaded.

    Attributes:
        traced: function by function, the oldest first.
    """

    kind: ClassVar[str] = "signatures"

    traced: tuple[Traced, ...]

    @classmethod
    def of(cls, log: TraceLog, name: str = "") -> "Signatures":
        """Return all that is known, or that of one function.

        Raises:
            OptionError: no function of that name was traced.
        """
        names = [(fw, n) for fw, n in log.functions() if not name or n == name]
        if name and not names:
            known = ", ".join(dict.fromkeys(n for _, n in log.functions())) or "none yet"
            raise OptionError(f"{name!r} was not traced since loading; traced were: {known}")
        return cls(tuple(one for fw, n in names for one in _traced(fw, n, log.signatures(fw, n))))

    def __repr__(self) -> str:
        """One line."""
        return f"<Signatures {len(self.traced)}>"


def _traced(framework: str, name: str, known: Sequence[Signature]) -> list[Traced]:
    traced = []
    for number, signature in enumerate(known):
        alike = [each for each in known[:number] if each.code == signature.code]
        before = [each for each in alike if each.function == signature.function] or alike
        why = closest(signature, before) if before else [Change("first", new="first call")]
        leaves = (
            (path, leaf) for path, leaf in signature.leaves.items() if leaf.dtype or leaf.value
        )
        arguments = ", ".join(f"{path} {leaf.words()}" for path, leaf in leaves)
        traced.append(Traced(name, framework, arguments, tuple(why)))
    return traced
