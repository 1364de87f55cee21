"""What an adapter tells of compilations and of the work in a call."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from ipyjaxbench.timing.first_call import Program


class Watch(AbstractContextManager["Watch"], ABC):
    """Collects what a framework compiles while the context is open."""

    @abstractmethod
    def compilations(self) -> int:
        """How many programs were compiled (or loaded from disk) since the context was entered."""

    @abstractmethod
    def phases(self) -> dict[str, float | None]:
        """Seconds since entry spent in "trace", "lower", "compile" and "cache load".

        Phases do not overlap; None stands for a phase that happened and whose time is not told.
        """

    @abstractmethod
    def programs(self) -> Sequence[Program]:
        """What was compiled, loaded or traced since entry, in order, as far as it is told."""

    def looked_at(self) -> Sequence[str]:
        """Programs that needed no trace because ``%jaxpr`` had left one, since entry."""
        return ()


@dataclass(frozen=True)
class Fresh:
    """How one call is made cold.

    Attributes:
        stand_ins: functions to bind to the user's names for that call.
        told: what had to be emptied and what could not be made fresh, in a few words each.
    """

    stand_ins: Mapping[str, object] = field(default_factory=dict)
    told: Sequence[str] = ()


@dataclass(frozen=True)
class Work:
    """What one call of a compiled function computes, as written and as compiled.

    All counts are floating-point operations and bounds from below; a loop counts once, except
    in ``flops``.

    Attributes:
        flops: as written, with every turn of a loop.
        written: as written.
        unused: those among ``written`` whose result nothing uses.
        constant: those among ``written`` that depend on no argument.
        compiled: in the program that runs.
        constant_bytes: bytes of the arrays that are part of the program, not arguments.
        peak: measures the most that the device of the call can do in a second; None if not told.
    """

    flops: float
    written: float
    unused: float
    constant: float
    compiled: float
    constant_bytes: int
    peak: Callable[[], float | None]
