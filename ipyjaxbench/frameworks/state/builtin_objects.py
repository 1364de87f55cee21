"""What containers, buffers and random generators of Python's own hold, and images of Pillow."""

import _random
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
