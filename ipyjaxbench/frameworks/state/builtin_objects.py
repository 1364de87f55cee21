"""What containers, buffers and random generators of Python's own hold, and images of Pillow."""

import _random
import sys
from array import array
from collections import defaultdict, deque
from typing import Any

from ipyjaxbench.frameworks.state.containers import Entries, Items
from ipyjaxbench.frameworks.state.copies import Buffer
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.images import pixel_states
from ipyjaxbench.frameworks.state.names import MemberNames
from ipyjaxbench.frameworks.state.shared_bytes import shared_states
from ipyjaxbench.frameworks.state.undo import GeneratorState, State

#: Nearly all of what is large is of exactly these: by identity, as a metaclass may define equality.
_CONTAINERS: dict[int, type[Items | Entries]] = {
    **dict.fromkeys(map(id, (list, set, deque)), Items),
    id(dict): Entries,
}


def container_states(value: Any) -> list[State] | None:
    """Return what a container of Python's own class holds; None of all that has more to it."""
    state = _CONTAINERS.get(id(type(value)))
    return None if state is None or value is sys.modules else [state(value)]


def states_of_python(value: Any, budget: CopyBudget) -> list[State] | None:
    """Return what one holds, or the pixels of an image; None of other values."""
    kind = type(value)
    if issubclass(kind, list | set | deque):
        return [Items(value)]
    if issubclass(kind, dict):
        own = [MemberNames(value, defaultdict)] if issubclass(kind, defaultdict) else []
        return [Entries(value), *own]
    if issubclass(kind, bytearray | array):
        return [Buffer(value, budget)]
    if issubclass(kind, _random.Random):
        return [GeneratorState.from_random(value)]
    found = pixel_states(value, budget)
    return shared_states(value, budget) if found is None else found
