"""What calls change of TensorFlow's: values of variables."""

import zlib
from typing import Any

import tensorflow as tf

from ipyjaxbench.frameworks.state.undo import Room, State
from ipyjaxbench.host.system import host_memory
from ipyjaxbench.usercode import objects


class Variable(State):
    """The value of a variable.

    Args:
        variable: it.
        room: for a copy.
    """

    def __init__(self, variable: Any, room: Room) -> None:
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


def states(value: Any, room: Room) -> list[State] | None:
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
    is_theirs = objects.module_of(kind).partition(".")[0] == "tensorflow"
    return [] if is_theirs or issubclass(kind, tf.Tensor) else None


def _digest(value: Any) -> int:
    return zlib.crc32(value.numpy().tobytes())
