"""What a graph is made of: arrays, counts, what compilers say of it, where it breaks."""

import linecache
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from ipyjaxbench.record_types import NonNegativeFloat, NonNegativeInt, PositiveInt
from ipyjaxbench.reports import Note


@dataclass(frozen=True)
class Value:
    """An array that goes in or comes out, or that is part of the program.

    Attributes:
        name: its name; empty if it has none.
        dtype: such as "float32".
        shape: such as (3, 4); -1 stands for an axis that is known when it runs, and None for a
            shape of which nothing is known before.
        nbytes: its bytes; 0 if unknown.
        weak: whether its dtype is a weak type, as that of a Python number.
        sized: whether its size is known.
    """

    name: str
    dtype: str
    shape: tuple[int, ...] | None
    nbytes: int
    weak: bool = False
    sized: bool = True


@dataclass(frozen=True)
class Count:
    """How often something is computed.

    Attributes:
        name: a primitive, or the text of a line of code.
        times: number of operations.
        flops: floating-point operations in all of them.
        line: line number; 0 if unknown, and for primitives.
        parts: the primitives of a line.
        nbytes: bytes of the arrays that the operations of a line read and write, before fusion; 0
            if not counted.
    """

    name: str
    times: int
    flops: float
    line: int = 0
    parts: tuple[str, ...] = ()
    nbytes: float = 0.0


class Step(NamedTuple):
    """An operation of a program, where it is known on which line; 0 stands for an unknown one."""

    file: str
    line: int
    name: str
    flops: float
    nbytes: float = 0.0


def count_by_line(steps: Iterable[Step]) -> tuple[Count, ...]:
    """Return how much each line of code whose text is known computes, file by file."""
    places: dict[tuple[str, int], list[Step]] = {}
    for step in steps:
        if step.line:
            places.setdefault((step.file, step.line), []).append(step)
    return tuple(
        count_line(line_of(*place), computed, place[1])
        for place, computed in sorted(places.items())
        if line_of(*place)
    )


def count_line(text: str, steps: Sequence[Step], line: int = 0) -> Count:
    """Return how much the operations of a line compute."""
    parts = tuple(dict.fromkeys(step.name for step in steps))
    flops, nbytes = (
        sum(costs) for costs in zip(*((s.flops, s.nbytes) for s in steps), strict=True)
    )
    return Count(text, len(steps), flops, line, parts, nbytes)


def count_by_name(steps: Iterable[tuple[str, float]]) -> tuple[Count, ...]:
    """Return how often each operation is computed, the costliest first, from name and FLOP."""
    times: Counter[str] = Counter()
    total: defaultdict[str, float] = defaultdict(float)
    for name, flops in steps:
        times[name] += 1
        total[name] += flops
    ranked = sorted(times, key=lambda name: (-total[name], -times[name], name))
    return tuple(Count(name, times[name], total[name]) for name in ranked)


def line_of(file: str, number: int) -> str:
    """Return the text of a line of the user's code."""
    return linecache.getline(file, number).strip()


@dataclass(frozen=True)
class Uncounted:
    """What the floating-point operations of a program leave out, or only estimate.

    Attributes:
        reason: kind of what was not counted; "others" is all but products.
        name: name of the operation or branch, such as "sort".
        turns: loop iterations that were counted.
    """

    reason: Literal[
        "operation", "shape", "function", "products", "others", "turns", "most turns", "branch"
    ]
    name: str = ""
    turns: int = 1


@dataclass(frozen=True)
class Node:
    """An operation in a drawing: its name, its label, and names of those that it takes from."""

    name: str
    label: str
    takes: tuple[str, ...] = ()


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
        why: why it counts other operations than we do; empty where it does not. Old records hold
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
        seconds: estimated time of one run; None without an estimate. With kernels it is the least
            that the peaks of the chip allow.
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


@dataclass(frozen=True)
class Break:
    """A place where a program ends and Python goes on; line 0 where it is not known."""

    line: int
    source: str
    because: str


@dataclass(frozen=True)
class Workload:
    """What a program has to do, whichever way it is computed.

    Attributes:
        products: FLOP of matrix products and convolutions, by the dtype of what they multiply.
        shortcuts: whether convolutions are among them, for which there are ways to compute less.
        nbytes: that it has to read and write; None where not all of every array need be.
        recomputed: FLOP among ``products`` that were done before, and whose results were not kept.
    """

    products: Mapping[str, float]
    shortcuts: bool
    nbytes: int | None
    recomputed: Mapping[str, float] = field(default_factory=dict)

    def share(self, devices: int) -> "Workload":
        """Return what each of so many devices has to do, if they divide it evenly."""
        nbytes = None if self.nbytes is None else self.nbytes // devices
        products, recomputed = (
            {dtype: flops / devices for dtype, flops in each.items()}
            for each in (self.products, self.recomputed)
        )
        return replace(self, products=products, nbytes=nbytes, recomputed=recomputed)


class ProgramHandle(ABC):
    """What a framework can still tell of a program, as long as it is in memory.

    Attributes:
        program: the framework's own object.
    """

    program: object

    @abstractmethod
    def text(self, stage: str) -> str:
        """Return the whole text of a stage."""

    @abstractmethod
    def nodes(self) -> Iterator[Node]:
        """Yield inputs, operations and outputs; those of branches and loops are left out."""

    def compiled(self) -> Compiled | None:
        """Return what the framework's compiler makes of it; None where it does not tell."""
        return None

    @abstractmethod
    def workload(self, nbytes: int) -> Workload | None:
        """Return what it has to do; None where it is not known, as with loops of unknown turns.

        The bytes are those of what goes in, comes out, and is part of it.
        """

    def checks(self) -> tuple[Note, ...]:
        """Return what it holds that may not be expected; nothing where nothing is looked for."""
        return ()
