"""What user code changes outside of itself while JAX traces it: a look changes nothing."""

import random
from collections.abc import Iterable
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.graphs import settings
from ipyjaxbench.adapters.jax.graphs.arguments import is_leaf
from ipyjaxbench.adapters.jax.jit import is_jitted
from ipyjaxbench.adapters.numpy import state as numpy_state
from ipyjaxbench.adapters.shared.undo_log import Named, UndoLog
from ipyjaxbench.frameworks import CopyBudget, GeneratorState, position_states
from ipyjaxbench.usercode import Call, is_a, is_of, is_users_class, unwrap

_LARGEST_ARRAY_BYTES = 2**20  # of an array of NumPy that is copied


class JaxUndoLog(UndoLog):
    """What a call's function reaches, but for data among its arguments, and the process's state."""

    most = 500  # a search for static arguments traces, and so looks, many times

    def __init__(self, call: Call) -> None:
        self._room = CopyBudget()
        # The trees that arguments are, and their arrays, are copies when the code runs.
        fixed = [
            (n, leaf) for n, v in call.arguments for leaf in trees.leaves(v) if not is_leaf(leaf)
        ]
        super().__init__([("self", call.function), *fixed], settings.states())

    def is_tracer(self, value: Any) -> bool:
        """Whether a value is a tracer."""
        return is_a(value, jax.core.Tracer)

    def leaves(self, tree: Any) -> list[Any]:
        """Return the leaves of a tree as JAX walks it."""
        return trees.leaves(tree)

    def is_entered(self, value: Any) -> bool:
        """Whether the user wrote the class of an object."""
        return is_users_class(type(value))

    def parts_of(self, name: str | None, value: Any) -> Iterable[Named] | None:
        """Return what a jitted function wraps, or hold numbers, iterators, files, generators."""
        if is_a(value, jax.Array):
            return ()
        if is_jitted(value):
            return [(name, unwrap(value))]
        if is_of(value, np.ndarray) and value.nbytes > _LARGEST_ARRAY_BYTES:
            return ()
        found = position_states(value, self._room)
        if found is None:
            found = numpy_state.states(value, self._room)
        if found is None and is_of(value, random.Random):
            found = [GeneratorState.of_python(value)]
        for state in found or ():
            self.hold(name, state)
        return None if found is None else [(name, each) for one in found for each in one.parts]
