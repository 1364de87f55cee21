"""Times, compares and explains code in JAX, PyTorch, TensorFlow and NumPy.

In a notebook::

    %load_ext ipyjaxbench
    %fwtime jnp.dot(x, x.T)
"""

from typing import TYPE_CHECKING

from ipyjaxbench.about import About as About
from ipyjaxbench.about import about as about
from ipyjaxbench.api import ceilings as ceilings
from ipyjaxbench.api import compare as compare
from ipyjaxbench.api import devices as devices
from ipyjaxbench.api import graph as graph
from ipyjaxbench.api import history as history
from ipyjaxbench.api import measure as measure
from ipyjaxbench.api import measure_code as measure_code
from ipyjaxbench.api import placement as placement
from ipyjaxbench.ceilings import Ceilings as Ceilings
from ipyjaxbench.comparison import Comparison as Comparison
from ipyjaxbench.diagnosis import Diagnosis as Diagnosis
from ipyjaxbench.diagnosis import UntraceableError as UntraceableError
from ipyjaxbench.errors import IpyJaxBenchError as IpyJaxBenchError
from ipyjaxbench.errors import MissingLibraryError as MissingLibraryError
from ipyjaxbench.errors import OptionError as OptionError
from ipyjaxbench.errors import RecordError as RecordError
from ipyjaxbench.errors import SnippetError as SnippetError
from ipyjaxbench.errors import TooManyTracesError as TooManyTracesError
from ipyjaxbench.frameworks import Framework as Framework
from ipyjaxbench.graph import Graph as Graph
from ipyjaxbench.history import History as History
from ipyjaxbench.inspecting import explain as explain
from ipyjaxbench.located import Whereabouts as Whereabouts
from ipyjaxbench.measurement import Measurement as Measurement
from ipyjaxbench.notebooks import NotebookRecords as NotebookRecords
from ipyjaxbench.notebooks import read_notebook as read_notebook
from ipyjaxbench.notes import Note as Note
from ipyjaxbench.placed import Placement as Placement
from ipyjaxbench.rerun import Rerun as Rerun
from ipyjaxbench.rerunning import compare_notebooks as compare_notebooks
from ipyjaxbench.signatures import Signatures as Signatures
from ipyjaxbench.swept import Sweep as Sweep
from ipyjaxbench.trace_checks import assert_max_traces as assert_max_traces
from ipyjaxbench.trace_checks import trace_cached as trace_cached
from ipyjaxbench.traces import Traces as Traces
from ipyjaxbench.transferred import Transfers as Transfers
from ipyjaxbench.transferring import transfers as transfers

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__version__ = "0.1.0"


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Register the magics; IPython calls this for ``%load_ext ipyjaxbench``."""
    from ipyjaxbench import magics

    magics.load(shell)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """Remove the magics; IPython calls this for ``%unload_ext ipyjaxbench``."""
    from ipyjaxbench import magics

    magics.unload(shell)
