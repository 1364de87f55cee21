"""What a framework compiles: programs, how long that takes, and what they compute."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Literal

from ipyjaxbench import units
from ipyjaxbench.frameworks.disk_cache.cache_use import CacheUse
from ipyjaxbench.frameworks.disk_cache.miss import DiskMiss
from ipyjaxbench.frameworks.framework import Capability, Framework
from ipyjaxbench.record_types import NonNegativeFloat, PositiveInt
from ipyjaxbench.usercode import ask

UNNAMED = "?"


@dataclass(frozen=True)
class Program:
    """One program that a framework made."""

    name: str  # of the function or operation; "?" where it is not known
    seconds: NonNegativeFloat | None  # that compiling (or loading) it took; None if not known
    origin: Literal["compiled", "disk cache", "traced"]  # traced: to a graph alone
    framework: str
    disk_miss: DiskMiss | None = None  # of a cache on disk that was searched for it in vain


@dataclass(frozen=True)
class Autotuned:
    """Operations or kernels for which a compiler ran several candidates, to choose the fastest.

    Attributes:
        framework: the framework whose compiler it is.
        number: number of operations or kernels that it chose by running candidates.
        kernels: how many of each kind; empty if only operations are counted. It is an upper bound:
            of identical kernels the compiler may have run only one, or that of an earlier program.
    """

    framework: str
    number: PositiveInt
    kernels: dict[str, PositiveInt] = field(default_factory=dict)

    def words(self) -> str:
        """Return the row of a report.

        Example:
            >>> Autotuned("torch", 2).words()
            'of 2 operations, part of compile'
            >>> Autotuned("jax", 3, {"cublas matmul": 2, "triton gemm": 1}).words()
            'of up to 3 kernels, part of compile (2 cublas matmul, 1 triton gemm)'
        """
        if not self.kernels:
            return f"of {units.count(self.number, 'operation')}, part of compile"
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.kernels.items())
        return f"of up to {units.count(self.number, 'kernel')}, part of compile ({kinds})"


class CompilationWatch(AbstractContextManager["CompilationWatch"]):
    """Collects what a framework compiles while the context is open; as it stands, nothing."""

    def __exit__(self, *_: object) -> None:
        """End what was begun on entry."""

    def compilations(self) -> int:
        """Return how many programs were compiled (or loaded from disk) since entry."""
        return 0

    def phases(self) -> dict[str, float | None]:
        """Return the seconds since entry in "trace", "lower", "compile" and "cache load".

        Phases do not overlap; None stands for a phase that happened and whose time is not known.
        """
        return {}

    def programs(self) -> Sequence[Program]:
        """Return what was compiled, loaded or traced since entry, in order, as far as known."""
        return ()

    def cache_uses(self) -> Sequence[CacheUse]:
        """Return what the cache on disk makes of what was compiled since entry, where known."""
        return ()

    def autotuned(self) -> Sequence[Autotuned]:
        """Return what candidates were run of since entry, as far as the framework counts that."""
        return ()

    def inspected(self) -> Sequence[str]:
        """Return programs that needed no trace because ``%jaxpr`` had left one, since entry."""
        return ()


@dataclass(frozen=True)
class ColdCall:
    """How one call is made cold: with other functions bound to the user's names, for the call."""

    stand_ins: Mapping[str, object] = field(default_factory=dict)
    caveats: Sequence[str] = ()  # what had to be emptied, and what could not be made fresh
    #: Has later calls use what was compiled, beside the functions that stand in for the user's.
    resume: Callable[[], AbstractContextManager[object]] = nullcontext


@dataclass(frozen=True)
class Work:
    """What one call of a compiled function computes, as written and as compiled.

    All counts are floating-point operations and bounds from below; a loop counts once, except
    in ``flops``.
    """

    flops: float  # as written, with every turn of a loop
    written: float
    unused: float  # of those that are written: their result is not used
    constant: float  # of those that are written: they depend on no argument
    compiled: float  # in the program that runs
    constant_bytes: int  # of the arrays that are part of the program, not arguments
    #: Measures the most that the device of the call can do in a second; None if not known.
    peak: Callable[[], float | None]


class Compilation(Capability):
    """What a framework compiles of the user's functions.

    Attributes:
        builders: its functions that make a function of a function, such as `jax.jit`, each with
            the name of the one that compiles the result, or "" where it does so itself.
        reads_code: it looks at the code of the functions that it compiles, and of those that they
            call: these are then left as they are.
    """

    builders: tuple[tuple[object, str], ...] = ()
    reads_code: bool = False

    def compiles(self, value: object) -> bool:  # noqa: ARG002
        """Whether ``value`` is a function that it compiles, such as the result of `jax.jit`."""
        return False

    def is_off(self) -> bool:
        """Whether a setting has all functions run as they are written."""
        return False

    def original(self, function: object) -> object | None:  # noqa: ARG002
        """Return the function that was given to be compiled; None where it is not known."""
        return None

    def donates(self, function: object) -> bool:  # noqa: ARG002
        """Whether calls of ``function`` may delete their arguments (donation)."""
        return False

    def watch(self, functions: Sequence[object]) -> CompilationWatch:  # noqa: ARG002
        """Watch compilations; ``functions`` are those in play that it compiles."""
        return CompilationWatch()

    def cold_call(
        self,
        named: Mapping[str, object],  # noqa: ARG002
        unnamed: Sequence[object],  # noqa: ARG002
    ) -> AbstractContextManager[ColdCall] | None:
        """Return a context in which one call compiles all that it uses, the user's caches apart.

        Args:
            named: functions that it compiles, by the names that the code reads.
            unnamed: other such functions that the code can reach.
        """
        return None

    def work(
        self,
        function: object,  # noqa: ARG002
        args: Sequence[object],  # noqa: ARG002
        kwargs: Mapping[str, object],  # noqa: ARG002
    ) -> Work | None:
        """Count what a call computes, if that is known, of a function that it compiles.

        It was called with arguments like these before, so that asking compiles nothing.
        """
        return None

    def autotuned(
        self,
        function: object,  # noqa: ARG002
        args: Sequence[object],  # noqa: ARG002
        kwargs: Mapping[str, object],  # noqa: ARG002
    ) -> Mapping[str, int]:
        """Count the kernels of a call's program, by kind, that were chosen by running candidates.

        As with `work`, asking compiles nothing; empty where it is not known.
        """
        return {}

    def compiled_text(
        self,
        function: object,  # noqa: ARG002
        args: Sequence[object],  # noqa: ARG002
        kwargs: Mapping[str, object],  # noqa: ARG002
    ) -> str | None:
        """Return the text of the optimized program of a call, as HLO; None where it is not known.

        As with `work`, asking compiles nothing.
        """
        return None


def find_compiler(value: object, frameworks: Iterable[Framework]) -> Compilation | None:
    """Return what the framework that compiles a value knows of it; None where none compiles it."""
    compilers = (framework.capability(Compilation) for framework in frameworks)
    return next((each for each in compilers if ask(each.compiles, value)), None)
