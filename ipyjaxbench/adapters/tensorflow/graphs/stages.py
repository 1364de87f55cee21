"""What TensorFlow can still tell of a graph: its stages, its operations for a drawing."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ipyjaxbench.adapters.tensorflow.graphs import lowering, program
from ipyjaxbench.adapters.tensorflow.graphs.tracing import Traced, trace
from ipyjaxbench.adapters.tensorflow.graphs.workload import workload_of
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.graphs import Node, ProgramHandle, Workload
from ipyjaxbench.usercode import Call


class LiveGraph(ProgramHandle):
    """A graph in memory.

    Args:
        traced: the graph.
        sized: the call, with the sizes that an `input_signature` leaves open.
    """

    program: Any

    def __init__(self, traced: Traced, sized: Call) -> None:
        self.program = traced.concrete
        self._traced = traced
        self._call = sized
        self._texts: dict[str, str] = {}

    def text(self, stage: str) -> str:
        """Return the whole text of a stage; "optimized" compiles it."""
        if stage == "tf":
            return program.text_of(self.program.graph, None)
        if stage not in self._texts:
            self._texts[stage] = lowering.lower(self._sized, stage)
        return self._texts[stage]

    def workload(self, nbytes: int) -> Workload | None:
        """Return what the graph and the functions in it have to do."""
        return workload_of(self._sized.concrete, nbytes)

    @cached_property
    def _sized(self) -> Traced:
        """The graph of arrays of these sizes: XLA compiles one for each."""
        is_sized = all(tensor.shape.is_fully_defined() for tensor in self.program.inputs)
        try:
            return self._traced if is_sized else trace(self._call)
        except CODE_ERRORS:  # the user's code may raise anything
            return self._traced

    def nodes(self) -> Iterator[Node]:
        """Yield inputs, operations and outputs."""
        graph = self.program.graph
        names: dict[str, str] = {}
        placeholders = [op for op in graph.get_operations() if op.type == "Placeholder"]
        variables = program.captured_variables(self.program)
        for number, op in enumerate(placeholders):
            names[op.name] = f"in{number}"
            variable = variables.get(op.name)
            held = op.outputs[0] if variable is None else variable
            name = op.name if variable is None else program.name_of(variable)
            yield Node(f"in{number}", f"{name} {program.kind(held)}")
        for number, op in enumerate(program.operations_of(graph)):
            names[op.name] = f"n{number}"
            shown = " ".join((op.type, *map(program.kind, op.outputs)))
            yield Node(f"n{number}", shown, _sources(names, op.inputs))
        yield Node("out", "result", _sources(names, self.program.outputs))


def _sources(names: dict[str, str], tensors: Any) -> tuple[str, ...]:
    known = (names.get(program.skip_identities(tensor).op.name) for tensor in tensors)
    return tuple(dict.fromkeys(name for name in known if name is not None))
