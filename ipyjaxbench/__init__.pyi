"""What `ipyjaxbench` exports, and from where: read when a name is first used."""

import typing

from .api import (
    ceilings as ceilings,
    compare as compare,
    devices as devices,
    graph as graph,
    history as history,
    measure as measure,
    peaks as peaks,
    placement as placement,
)
from .comparison.comparison import Comparison as Comparison
from .comparison.sweep import Sweep as Sweep
from .device.about import About as About, about as about
from .device.peaks import Peaks as Peaks
from .device.transfers import Transfers as Transfers
from .device.watch_transfers import transfers as transfers
from .device.whereabouts import Whereabouts as Whereabouts
from .errors import (
    ArmFailedError as ArmFailedError,
    IpyJaxBenchError as IpyJaxBenchError,
    MissingLibraryError as MissingLibraryError,
    OptionError as OptionError,
    RecordError as RecordError,
    SnippetError as SnippetError,
    StaleProgramError as StaleProgramError,
    TooManyTracesError as TooManyTracesError,
)
from .frameworks import Framework as Framework
from .frameworks.placement import Placement as Placement
from .graphs.diagnosis import Diagnosis as Diagnosis, UntraceableError as UntraceableError
from .graphs.explain import explain as explain
from .graphs.graph import Graph as Graph
from .records.diff_notebooks import compare_notebooks as compare_notebooks
from .records.history import History as History
from .records.notebook_diff import Rerun as Rerun
from .records.notebooks import NotebookRecords as NotebookRecords, read_notebook as read_notebook
from .reports.note import Note as Note
from .retracing.max_traces import (
    assert_max_traces as assert_max_traces,
    trace_cached as trace_cached,
)
from .retracing.signatures import Signatures as Signatures
from .retracing.traces import Traces as Traces
from .steps.loop_times import LoopTimes as LoopTimes
from .timing.functions import (
    Options as Options,
    measure_code as measure_code,
)
from .timing.measurement import Measurement as Measurement

__version__: str

def load_ipython_extension(shell: typing.Any) -> None: ...
def unload_ipython_extension(shell: typing.Any) -> None: ...
