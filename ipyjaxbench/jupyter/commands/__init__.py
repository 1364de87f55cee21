"""What can be typed: one table of options for each magic."""

from typing import Any

from ipyjaxbench.jupyter.commands.about import ABOUT as ABOUT
from ipyjaxbench.jupyter.commands.command import Command as Command
from ipyjaxbench.jupyter.commands.command import Option as Option
from ipyjaxbench.jupyter.commands.completion import Completion as Completion
from ipyjaxbench.jupyter.commands.completion import completion as completion
from ipyjaxbench.jupyter.commands.explain import EXPLAIN as EXPLAIN
from ipyjaxbench.jupyter.commands.fwcompare import COMPARE as COMPARE
from ipyjaxbench.jupyter.commands.fwdevices import PLACE as PLACE
from ipyjaxbench.jupyter.commands.fwhistory import HISTORY as HISTORY
from ipyjaxbench.jupyter.commands.fwtime import TIME as TIME
from ipyjaxbench.jupyter.commands.jaxpr import FXGRAPH as FXGRAPH
from ipyjaxbench.jupyter.commands.jaxpr import GRAPH as GRAPH
from ipyjaxbench.jupyter.commands.jaxpr import TFGRAPH as TFGRAPH
from ipyjaxbench.jupyter.commands.trace_cached import TRACE as TRACE

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
