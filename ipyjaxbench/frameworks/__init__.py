"""What an array framework is to this package, and which ones the user has imported.

`Framework` is the contract of an adapter, `Capability` what it may offer beyond; `loaded` gives
the adapters in use, `find_arrays` and `find_reach` the arrays and functions inside of values.
Rooms above may use what is named here; nothing in here knows any framework by more than its name.
"""

from ipyjaxbench.frameworks.compilation import (
    ColdCall,
    Compilation,
    CompilationWatch,
    NothingCompiled,
    Program,
    Work,
)
from ipyjaxbench.frameworks.framework import Capability, Framework, Wait
from ipyjaxbench.frameworks.keras import keras_backend
from ipyjaxbench.frameworks.keras_parts import keras_parts
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.frameworks.registry import loaded
from ipyjaxbench.frameworks.state.positions import is_unreadable
from ipyjaxbench.frameworks.state.protocol import MutableState, Restore
from ipyjaxbench.frameworks.state.reachable import Held, Reachable
from ipyjaxbench.frameworks.state.room import Room
from ipyjaxbench.frameworks.state.undo import Draws, Given, State
from ipyjaxbench.frameworks.synchronous import Synchronous
from ipyjaxbench.frameworks.traversal import (
    Budget,
    Found,
    Reach,
    find_arrays,
    find_reach,
    iterate_arrays,
)

__all__ = [
    "Budget",
    "Capability",
    "ColdCall",
    "Compilation",
    "CompilationWatch",
    "Draws",
    "Found",
    "Framework",
    "Given",
    "Held",
    "MutableState",
    "NothingCompiled",
    "Placement",
    "Program",
    "Reach",
    "Reachable",
    "Restore",
    "Room",
    "State",
    "Synchronous",
    "Wait",
    "Work",
    "find_arrays",
    "find_reach",
    "is_unreadable",
    "iterate_arrays",
    "keras_backend",
    "keras_parts",
    "loaded",
]
