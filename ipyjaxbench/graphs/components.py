"""What a graph is made of: arrays, operations, where it breaks, and the program behind it."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ipyjaxbench.graphs.compiled import Compiled
from ipyjaxbench.reports import Note


@dataclass(frozen=True)
class Value:
    """An array that goes in or comes out, or that is part of the program.

    Attributes:
        name: its name; empty if it has none.
        dtype: such as "float32".
        shape: such as (3, 4). -1 is an axis whose size is known only when the program runs; None
            is a shape that is known only then.
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
class Node:
    """An operation in a drawing: its name, its label, and names of those that it takes from."""

    name: str
    label: str
    takes: tuple[str, ...] = ()


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
