"""The program that a call is, and why code does not trace.

`trace_program` shows it as a `Graph` without making the call, and `explain` diagnoses an error of
tracing as a `Diagnosis`. `components` are parts of graphs and what a framework can still tell of
one; notes say what its author may not expect. Adapters make what is shown here. The magics, the
Python API and the room `retracing` call this room.
"""

from ipyjaxbench.graphs import notes
from ipyjaxbench.graphs.change_tables import change_tables
from ipyjaxbench.graphs.compiled import (
    Collective,
    Compiled,
    CountDifference,
    Estimate,
    Kernel,
    Kernels,
    LibraryCalls,
)
from ipyjaxbench.graphs.components import Break, Node, ProgramHandle, Value, Workload
from ipyjaxbench.graphs.counts import (
    Count,
    Step,
    Uncounted,
    count_by_line,
    count_by_name,
    count_line,
    line_of,
)
from ipyjaxbench.graphs.diagnosis import Diagnosis, Fix, Pitfall, UntraceableError
from ipyjaxbench.graphs.explain import explain
from ipyjaxbench.graphs.graph import Graph, difference
from ipyjaxbench.graphs.hlo_collectives import collectives_in, exchanges_in
from ipyjaxbench.graphs.hlo_text import instructions
from ipyjaxbench.graphs.mermaid import MERMAID_MIME, draw_mermaid
from ipyjaxbench.graphs.options import STAGES, GraphOptions
from ipyjaxbench.graphs.program_changes import ProgramChange, ProgramComparison, compare_programs
from ipyjaxbench.graphs.protocol import GraphTracer
from ipyjaxbench.graphs.rollback import keep_random_state, rolled_back, roots_of
from ipyjaxbench.graphs.text import fold_lines, line_of_hidden, select_lines
from ipyjaxbench.graphs.trace_program import trace_call, trace_program
