"""What calls change of TensorFlow's: values of variables."""

import random
import zlib
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context as tf_context
from tensorflow.python.ops import stateful_random_ops

from ipyjaxbench.frameworks import CopyBudget, MutableState, Restore, State
from ipyjaxbench.host import filter_by_type, host_memory
from ipyjaxbench.usercode import module_of


class Variable(State):
    """The value of a variable.

    Args:
        variable: it.
        room: for a copy.
    """

    def __init__(self, variable: Any, room: CopyBudget) -> None:
        self._variable, self._room = variable, room
        value = variable.read_value()
        self.nbytes = abs(variable.shape.num_elements() or 0) * variable.dtype.size
        # TensorFlow tells of no device how much is free: the host's stands for all.
        self.can_restore = room.take("host", self.nbytes, host_memory)
        self._before: Any = tf.identity(value) if self.can_restore else _digest(value)

    def changed(self) -> bool:
        """Whether a bit differs."""
        now = self._variable.read_value()
        if not self.can_restore:
            return bool(_digest(now) != self._before)
        before = self._before
        if now.shape != before.shape:
            return True
        return bool(now.numpy().tobytes() != before.numpy().tobytes())

    def restore(self) -> None:
        """Assign the old one."""
        self._variable.assign(self._before)

    def again(self) -> "Variable":
        """Its value now."""
        return Variable(self._variable, self._room)


def states(value: Any, room: CopyBudget) -> list[State] | None:
    """What calls can change of a variable.

    Args:
        value: anything.
        room: for copies.

    Returns:
        Nothing for what never changes; None for what is none of TensorFlow's, or is a module.
    """
    kind = type(value)
    if issubclass(kind, tf.Variable):
        ready = tf.executing_eagerly() and value.is_initialized()
        return [Variable(value, room)] if ready else []
    if issubclass(kind, tf.__internal__.tracking.AutoTrackable):
        return None
    is_theirs = module_of(kind).partition(".")[0] == "tensorflow"
    return [] if is_theirs or issubclass(kind, tf.Tensor) else None


def _digest(value: Any) -> int:
    return zlib.crc32(value.numpy().tobytes())


class TensorFlowState(MutableState):
    """Values of variables, and the seeds that eager operations draw."""

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore | None:
        """The seeds that eager operations draw, and the state of generators.

        A kernel is cached with its seed and holds a state of its own. So that later calls do not
        advance kernels that the user's next operation will use, they draw other seeds.
        """
        if not self.framework.started():
            return None
        context = tf_context.context()
        drawn = vars(context).get("_rng")  # set by tf.random.set_seed
        state = drawn.getstate() if drawn is not None else None
        shared = stateful_random_ops.global_generator
        own = filter_by_type(values, tf.random.Generator)
        generators = own if shared is None else [shared, *own]
        states = [tf.identity(generator.state) for generator in generators]
        if drawn is not None and later:
            drawn.seed(random.Random(repr(state)).getrandbits(64))

        def restore() -> None:
            if drawn is not None:
                drawn.setstate(state)
            for generator, before in zip(generators, states, strict=True):
                generator.state.assign(before)

        return restore

    def states(self, value: object, room: CopyBudget) -> Sequence[State] | None:
        """Values of variables."""
        return states(value, room) if self.framework.started() else None

    def changes_in_place(self, method: str) -> bool:
        """Those of variables."""
        return method in ("assign", "assign_add", "assign_sub")
