"""What a stage of PyTorch found: one graph, or several with breaks between them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ipyjaxbench.adapters.torch.graphs.program import Program
from ipyjaxbench.graphs import Break, Node, Value
from ipyjaxbench.reports import Note


@dataclass(frozen=True)
class CapturedGraphs:
    """The program of a call.

    Attributes:
        program: PyTorch's own object.
        programs: its graphs, in the order in which they are met.
        breaks: where a graph ends and Python goes on.
        tries: how often the code was traced.
    """

    program: object
    programs: Sequence[Program]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    breaks: tuple[Break, ...] = ()
    notes: tuple[Note, ...] = ()
    tries: int = 1

    @classmethod
    def single(cls, program: object, only: Program) -> "CapturedGraphs":
        """Return one graph without a break."""
        return cls(program, (only,), only.inputs, only.outputs)

    @property
    def constants(self) -> tuple[Value, ...]:
        """Tensors that are part of it, the largest first."""
        held = [value for program in self.programs for value in program.constants]
        return tuple(sorted(held, key=lambda value: -value.nbytes))

    def text(self, *, whole: bool) -> str:
        """Return one line for each operation, graph by graph; folded where it is long."""
        texts = [program.text(whole=whole) for program in self.programs]
        if len(texts) == 1 and not self.breaks:
            return texts[0]
        headed = (f"# graph {n} of {len(texts)}\n{text}" for n, text in enumerate(texts, 1))
        return "\n".join(headed) or "# no graph: Python runs everything"

    def nodes(self) -> Iterator[Node]:
        """Yield inputs, operations and outputs, graph by graph."""
        several = len(self.programs) > 1
        for number, program in enumerate(self.programs, 1):
            yield from program.nodes(f"g{number}_" if several else "")
