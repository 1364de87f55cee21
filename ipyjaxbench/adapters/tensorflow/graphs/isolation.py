"""Python state that a call reaches, put back after TensorFlow traced its code."""

import random
import sys
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf

from ipyjaxbench.adapters.numpy import state as numpy_state
from ipyjaxbench.adapters.shared.undo_log import Named, UndoLog
from ipyjaxbench.adapters.tensorflow import trees
from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import GeneratorState
from ipyjaxbench.usercode import Call, is_exactly, is_of, is_users_class, module_of, package_of

_TRACKER = tf.__internal__.tracking.TrackableDataStructure
_TRACKABLE = tf.__internal__.tracking.AutoTrackable


class TensorFlowUndoLog(UndoLog):
    """What a call reaches by name, unless it is of a copy, and what Keras and generators keep."""

    def __init__(self, call: Call, *, is_copy: bool) -> None:
        of_numpy = GeneratorState(np.random.get_state, np.random.set_state)
        of_python = GeneratorState(random.getstate, random.setstate)
        super().__init__([], [(None, of_python), (None, of_numpy)])
        called: list[Named] = [("self", call.function)]
        self._follow(
            [
                *(self._shared(called) if is_copy else called),
                *call.arguments,
                (None, _keras_names()),
            ]
        )

    def is_tracer(self, value: Any) -> bool:
        """Whether a value is a symbolic tensor, or made of some."""
        try:
            parts = tf.nest.flatten(trees.shield_opaque(value), expand_composites=True)
        except CODE_ERRORS:  # keys that have no order
            return False
        return any(isinstance(each, tf.Operation) or tf.is_symbolic_tensor(each) for each in parts)

    def leaves(self, tree: Any) -> list[Any]:
        """Return what a container holds; the keys of a dictionary may have no order."""
        return [leaf for part in _items_of(tree) for leaf in _items_of(part)]

    def is_entered(self, value: Any) -> bool:
        """Whether the class of an object is the user's, Keras's, or for modules of TensorFlow."""
        if is_of(value, tf.Tensor, tf.TypeSpec) or references.is_variable(value):
            return False
        kind = type(value)
        is_theirs = module_of(kind).partition(".")[0] == "keras"
        return is_theirs or is_of(value, _TRACKABLE) or is_users_class(kind)

    def parts_of(self, name: str | None, value: Any) -> Iterable[Named] | None:
        """Return what TensorFlow's containers and functions hold; hold generators."""
        if is_of(value, _TRACKER):
            wrapped = getattr(value, "__wrapped__", value)
            return [*self.look_into(name, vars(value)), *self.look_into(name, wrapped)]
        owner = value.__self__ if type(value) is MethodType else None
        if package_of(type(owner)) == "tensorflow":
            # A tf.function keeps the object of its method behind a weak reference.
            return [(name, value.__func__), ("self", getattr(owner, "target", owner))]
        if is_of(value, tf.types.experimental.PolymorphicFunction):
            return [(name, value.python_function)]
        states = numpy_state.moving_states(value, self.budget)
        for state in states or ():
            self.hold(None if isinstance(state, GeneratorState) else name, state)
        return None if states is None else [(name, each) for one in states for each in one.parts]

    def _shared(self, called: list[Named]) -> list[Named]:
        """Return what a copy shares with others, functions and classes; the rest may change."""
        ahead, shared = deque(called), []
        while ahead and len(self._seen) < self.most:
            name, value = ahead.popleft()
            if is_of(value, FunctionType, type):
                shared.append((name, value))
            elif self._is_new(value):
                count = len(self._states)
                with suppress(*CODE_ERRORS):  # objects of the user's may refuse to be looked at
                    ahead.extend(self._look(name, value))
                del self._states[count:]
        return shared


def _keras_names() -> Any:
    """Return what Keras keeps for all, as numbers for new names; None where that is hidden."""
    module = sys.modules.get("keras.src.backend.common.global_state")
    return vars(getattr(module, "GLOBAL_STATE_TRACKER", SimpleNamespace()))


def _items_of(value: Any) -> list[Any]:
    if type(value) is dict:
        return [*value.values()]
    return [*value] if is_exactly(value, list, tuple, set, deque) else [value]
