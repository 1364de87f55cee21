"""Keeps the signatures with which functions are traced when nobody looks at the calls."""

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ipyjaxbench.frameworks.tensorflow import keys, reach
from ipyjaxbench.frameworks.tensorflow.events import listen, tracings
from ipyjaxbench.signature import Signature

#: name of the function, its signature, whether nothing was traced.
Learn = Callable[[str, Signature, bool], None]


class Learner:
    """Listens to traces for as long as the process lives; calls that find theirs are free.

    Args:
        learn: gets what was found.

    Attributes:
        listens: whether this version of TensorFlow tells of traces.
    """

    def __init__(self, learn: Learn) -> None:
        self._learn = learn
        self.listens = listen(self._hear)

    def _hear(self, _: Any) -> None:
        with suppress(Exception):  # the user's call goes on whatever becomes of ours
            going_on = [*tracings(sys._getframe(1))]
            if len(going_on) != 1:  # an inner one belongs to the outermost
                return
            function, args, kwargs = going_on[0]
            if reach.is_users(keys.file_of(function)):
                signature = keys.signature(function, args, kwargs)
                self._learn(keys.name(function), signature, False)  # noqa: FBT003
