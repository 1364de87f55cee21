"""What compilers say of a program: what they made of it, and what they expect of a chip."""

from dataclasses import dataclass
from typing import Literal

from ipyjaxbench.record_types import NonNegativeFloat, NonNegativeInt, PositiveInt


@dataclass(frozen=True)
class Collective:
    """Data that several devices exchange, in so many operations, bytes on each device."""

    name: str
    times: int
    nbytes: int


@dataclass(frozen=True)
class LibraryCalls:
    """Calls of one function of a library in a compiled program.

    Attributes:
        name: such as "cublas matmul".
        times: how often it is called; in a loop of known length in each of its turns.
        flops: floating-point operations of products in all of these calls; 0 where it is none.
    """

    name: str
    times: PositiveInt
    flops: NonNegativeFloat


@dataclass(frozen=True)
class CountDifference:
    """Why a compiler counts other operations than we do.

    Attributes:
        ours: FLOP that we count; None where that is what it counts on all devices together.
        devices: that share the work; the compiler's count is that of one.
        left: FLOP that the compiler counts beside ours.
        reasons: of the difference, each with its FLOP; none where they are not known.
        uncounted: primitives that we do not count.
        rewritten: primitives that the compiler computes in another way.
        libraries: library calls in place of primitives, whose FLOP the compiler does not count.
    """

    ours: float | None
    devices: int = 1
    left: float = 0.0
    reasons: tuple[tuple[Literal["complex", "turns", "unused", "constant"], float], ...] = ()
    uncounted: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Compiled:
    """What a compiler made of a program, by its own account.

    Attributes:
        flops: floating-point operations; None if not reported.
        moved: bytes read and written; None if not reported.
        memory: peak bytes of memory, including inputs and outputs.
        temporary: bytes of temporary buffers.
        collectives: what devices exchange, by name.
        why: why its count of operations differs from ours; empty if it does not. Old records hold
            a sentence.
        libraries: calls of libraries in it.
    """

    flops: float | None
    moved: float | None
    memory: int
    temporary: int
    collectives: tuple[Collective, ...] = ()
    why: CountDifference | str = ""
    libraries: tuple[LibraryCalls, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """One launch on a GPU, with all times that it runs.

    Attributes:
        name: what the compiler calls it.
        does: the operations in it, as the framework names them; the last one first.
        library: the function of a library that it calls; "" for a kernel of the compiler.
        times: how often it runs.
        flops: of its products, all times together.
        nbytes: that it reads and writes, all times together.
        seconds: the least that it takes by the peaks of the chip, all times together.
    """

    name: str
    does: tuple[str, ...]
    library: str
    times: PositiveInt
    flops: NonNegativeFloat
    nbytes: NonNegativeInt
    seconds: NonNegativeFloat


@dataclass(frozen=True)
class Kernels:
    """What a compiled program launches on a GPU.

    Attributes:
        largest: those that take longest by the peaks of the chip.
        launches: how many there are, with those that are not among the largest.
        libraries: how many of these call a library.
        seconds: that all of them take, each by the peaks of the chip.
    """

    largest: tuple[Kernel, ...]
    launches: NonNegativeInt
    libraries: NonNegativeInt
    seconds: NonNegativeFloat


@dataclass(frozen=True)
class Estimate:
    """What the compiler of a chip expects of a program; nothing was run on one.

    Attributes:
        chip: such as "tpu:v5e", or "here" for this machine.
        seconds: estimated time of one run; None without an estimate. With kernels, it is the least
            time that the peaks of the chip allow.
        flops: floating-point operations on each chip; with kernels, those of products.
        moved: bytes read and written on each chip.
        memory: peak bytes of memory on each chip; 0 if unknown.
        limit: memory of the chip in bytes; 0 if unknown.
        error: why it did not compile.
        padding: bytes of inputs and outputs that only fill the chip's tiles.
        collectives: communication between chips, by operation.
        kernels: what runs on a GPU; None for other chips.
    """

    chip: str
    seconds: float | None = None
    flops: float | None = None
    moved: float | None = None
    memory: int = 0
    limit: int = 0
    error: str = ""
    padding: int = 0
    collectives: tuple[Collective, ...] = ()
    kernels: Kernels | None = None
