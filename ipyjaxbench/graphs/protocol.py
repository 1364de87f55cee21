"""What a framework offers to those who look at programs."""

from ipyjaxbench.frameworks import Capability
from ipyjaxbench.graphs.components import Workload
from ipyjaxbench.graphs.diagnosis import Diagnosis
from ipyjaxbench.graphs.graph import Graph
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.usercode import Call


class GraphTracer(Capability):
    """Traces calls to programs, and explains why a call does not trace."""

    def graph(self, call: Call, options: GraphOptions) -> Graph | None:  # noqa: ARG002
        """Trace a call; nothing is computed, and no cache of the user's changes.

        Returns:
            The graph; None where the framework makes none.

        Raises:
            UntraceableError: the call cannot be traced.
        """
        return None

    def load(self) -> None:
        """Import what tracing takes, before the time of a trace is limited."""

    def workload(self, call: Call) -> Workload | None:
        """Count what a call that was made before has to do, without making it; None if unknown."""
        graph = self.graph(call, GraphOptions())
        live = None if graph is None else graph.live
        return None if graph is None or live is None else live.workload(graph.bytes)

    def explain(self, error: BaseException) -> Diagnosis | None:  # noqa: ARG002
        """Explain why code that raised an error would not trace, without running it again."""
        return None
