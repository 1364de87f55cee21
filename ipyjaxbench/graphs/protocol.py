"""What a framework offers to those who look at programs."""

from ipyjaxbench.frameworks import Capability
from ipyjaxbench.graphs.components import Load
from ipyjaxbench.graphs.diagnosis import Diagnosis
from ipyjaxbench.graphs.graph import Graph
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.usercode import Call


class GraphTracer(Capability):
    """Traces calls to programs, and explains why a call does not trace."""

    def graph(self, call: Call, options: GraphOptions) -> Graph | None:  # noqa: ARG002
        """Trace a call; nothing is computed, and no cache of the user's changes.

        Args:
            call: what is called, with what.
            options: which form of it, and how much.

        Returns:
            The graph; None where the framework makes none.

        Raises:
            UntraceableError: the call cannot be traced.
        """
        return None

    def workload(self, call: Call) -> Load | None:
        """Count what a call that was made before has to do; nothing is computed.

        Args:
            call: it is not made.

        Returns:
            The work; None where it is not known.

        Raises:
            Exception: whatever its tracing raises.
        """
        found = self.graph(call, GraphOptions())
        live = None if found is None else found.live
        return None if found is None or live is None else live.load(found.bytes)

    def explain(self, error: BaseException) -> Diagnosis | None:  # noqa: ARG002
        """Explain why code that failed would not trace; None where that is not known.

        Args:
            error: what was raised, with its traceback; the code is not run again.
        """
        return None
