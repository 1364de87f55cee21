"""What PyTorch can still tell of a program that was traced: its stages."""

from collections.abc import Callable, Iterator

import torch

from ipyjaxbench.adapters.torch.graphs import aten, dynamo, export
from ipyjaxbench.adapters.torch.graphs.captured import CapturedGraphs
from ipyjaxbench.adapters.torch.graphs.isolation import keep_settings
from ipyjaxbench.adapters.torch.graphs.workload import workload_of
from ipyjaxbench.errors import SnippetError, by_caller
from ipyjaxbench.graphs import Node, ProgramHandle, Workload
from ipyjaxbench.usercode import Call

VERSION = str(torch.__version__)

#: What finds the program of a plain call, by stage.
STAGES: dict[str, Callable[[Call], CapturedGraphs]] = {
    "aten": aten.trace,
    "dynamo": dynamo.trace,
    "export": export.trace,
}


def trace_without_values(call: Call, stage: str) -> CapturedGraphs:
    """Return the program of a plain call; raise where the call would have to be made."""
    captured = (dynamo.find_single_graph if stage == "dynamo" else STAGES[stage])(call)
    if captured is None:
        runs = by_caller("%fxgraph --dynamo", "stage='dynamo'")
        raise SnippetError(
            f"the call has a graph break, after which Python needs values: {runs} runs the call,"
            " with real tensors"
        )
    return captured


class LiveProgram(ProgramHandle):
    """A program in memory, of which one stage was traced."""

    def __init__(self, call: Call, stage: str, captured: CapturedGraphs) -> None:
        self.program = captured.program
        self._call, self._traced = call, {stage: captured}
        self._stage = stage

    def text(self, stage: str) -> str:
        """Return the whole text of a stage; another one than that of the graph is traced now."""
        if stage not in self._traced:
            with keep_settings():
                self._traced[stage] = trace_without_values(self._call, stage)
        return self._traced[stage].text(whole=True)

    def nodes(self) -> Iterator[Node]:
        """Return inputs, operations and outputs, graph by graph."""
        return self._traced[self._stage].nodes()

    def workload(self, nbytes: int) -> Workload | None:
        """Return what the operations that were traced have to do."""
        return workload_of(self._traced[self._stage], nbytes)
