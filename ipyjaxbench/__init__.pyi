"""What `ipyjaxbench` exports, and from where: read when a name is first used."""

import typing

from .api import ceilings as ceilings
from .api import compare as compare
from .api import devices as devices
from .api import graph as graph
from .api import history as history
from .api import measure as measure
from .api import measure_code as measure_code
from .api import placement as placement
from .ceiling import Ceilings as Ceilings
from .comparison import Comparison as Comparison
from .diagnosis import Diagnosis as Diagnosis
from .diagnosis import UntraceableError as UntraceableError
from .errors import ArmFailedError as ArmFailedError
from .errors import IpyJaxBenchError as IpyJaxBenchError
from .errors import MissingLibraryError as MissingLibraryError
from .errors import OptionError as OptionError
from .errors import RecordError as RecordError
from .errors import SnippetError as SnippetError
from .errors import TooManyTracesError as TooManyTracesError
from .frameworks import Framework as Framework
from .graphs import Graph as Graph
from .histories import History as History
from .inspecting import explain as explain
from .located import Whereabouts as Whereabouts
from .measurement import Measurement as Measurement
from .notebooks import NotebookRecords as NotebookRecords
from .notebooks import read_notebook as read_notebook
from .notes import Note as Note
from .overview import About as About
from .overview import about as about
from .placed import Placement as Placement
from .rerun import Rerun as Rerun
from .rerunning import compare_notebooks as compare_notebooks
from .signatures import Signatures as Signatures
from .swept import Sweep as Sweep
from .trace_checks import assert_max_traces as assert_max_traces
from .trace_checks import trace_cached as trace_cached
from .traces import Traces as Traces
from .transferred import Transfers as Transfers
from .transferring import transfers as transfers

__version__: str

def load_ipython_extension(shell: typing.Any) -> None: ...
def unload_ipython_extension(shell: typing.Any) -> None: ...
