"""What can be typed: one table of options for each magic."""

from typing import Any

from ipyjaxbench.commands._command import Command as Command
from ipyjaxbench.commands._command import Option as Option
from ipyjaxbench.commands._completion import Completion as Completion
from ipyjaxbench.commands._completion import completion as completion
from ipyjaxbench.commands.about import ABOUT as ABOUT
from ipyjaxbench.commands.compare import COMPARE as COMPARE
from ipyjaxbench.commands.explain import EXPLAIN as EXPLAIN
from ipyjaxbench.commands.graph import FXGRAPH as FXGRAPH
from ipyjaxbench.commands.graph import GRAPH as GRAPH
from ipyjaxbench.commands.graph import TFGRAPH as TFGRAPH
from ipyjaxbench.commands.history import HISTORY as HISTORY
from ipyjaxbench.commands.place import PLACE as PLACE
from ipyjaxbench.commands.time import TIME as TIME
from ipyjaxbench.commands.trace import TRACE as TRACE

COMMANDS: tuple[Command[Any], ...] = (
    TIME,
    COMPARE,
    GRAPH,
    FXGRAPH,
    TFGRAPH,
    EXPLAIN,
    TRACE,
    PLACE,
    HISTORY,
    ABOUT,
)
#: The same by the names of their magics.
BY_NAME = {command.name: command for command in COMMANDS}
