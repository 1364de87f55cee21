"""Adapters, found by what the user has imported; none is loaded before that."""

import importlib
import sys
from collections.abc import Callable
from functools import cache

from ipyjaxbench.device.memory_environment import MEMORY_VARIABLES
from ipyjaxbench.device.microbenchmark_protocol import Probe
from ipyjaxbench.device.protocol import HOST, Crossing, CrossingWatch
from ipyjaxbench.frameworks.compilation import Fresh, Watch, Work
from ipyjaxbench.frameworks.framework import Framework, Restore, Wait
from ipyjaxbench.frameworks.keras import backend_of, refuse
from ipyjaxbench.frameworks.keras_parts import keras_parts
from ipyjaxbench.frameworks.state.positions import is_unreadable
from ipyjaxbench.frameworks.state.reachable import Held, Reachable
from ipyjaxbench.frameworks.state.undo import Draws, Given, Room, State
from ipyjaxbench.frameworks.synchronous import NothingCompiled, Synchronous
from ipyjaxbench.frameworks.traversal import (
    Budget,
    Found,
    Reach,
    find_arrays,
    find_reach,
    is_the_users,
    is_the_users_file,
    iterate_arrays,
)
from ipyjaxbench.host.system import usable_cpus
from ipyjaxbench.retracing.protocol import CallWatch, Outcome
from ipyjaxbench.timing.validity.code_facts import Seen
from ipyjaxbench.usercode.call import Call
from ipyjaxbench.usercode.deadline import OutOfTimeError, within

__all__ = [
    "HOST",
    "MEMORY_VARIABLES",
    "Budget",
    "CallWatch",
    "Crossing",
    "CrossingWatch",
    "Draws",
    "Found",
    "Framework",
    "Fresh",
    "Given",
    "Held",
    "NothingCompiled",
    "OutOfTimeError",
    "Outcome",
    "Probe",
    "Reach",
    "Reachable",
    "Restore",
    "Room",
    "Seen",
    "State",
    "Synchronous",
    "Wait",
    "Watch",
    "Work",
    "find_arrays",
    "find_reach",
    "is_the_users",
    "is_the_users_file",
    "is_unreadable",
    "iterate_arrays",
    "keras_backend",
    "keras_parts",
    "loaded",
    "usable_cpus",
    "within",
]

#: Key of `sys.modules` -> the class that adapts it.
_TABLE = {
    "builtins": "ipyjaxbench.adapters.python:Python",
    "numpy": "ipyjaxbench.adapters.numpy.framework:NumPy",
    "jax": "ipyjaxbench.adapters.jax:Jax",
    "torch": "ipyjaxbench.adapters.torch:Torch",
    "tensorflow": "ipyjaxbench.adapters.tensorflow:TensorFlow",
}
_made: dict[str, Framework] = {}


@cache
def _entry_points() -> dict[str, Callable[[], type[Framework]]]:
    # At first use: reading the metadata of all installed packages takes tens of milliseconds.
    from importlib.metadata import entry_points

    return {point.name: point.load for point in entry_points(group="ipyjaxbench.frameworks")}


def _class(key: str) -> type[Framework]:
    if key in _entry_points():
        return _entry_points()[key]()
    module, name = _TABLE[key].split(":")
    found: type[Framework] = getattr(importlib.import_module(module), name)
    return found


def keras_backend(call: Call) -> str | None:
    """The module of the framework with which a call computes through Keras.

    Args:
        call: it is not made.

    Returns:
        Such as "torch"; None where nothing of Keras's is called.

    Raises:
        SnippetError: it is no program, or looking would build what is the user's.
    """
    frameworks, _ = loaded()
    found = backend_of(call, frameworks)
    if found not in (None, "tensorflow"):  # whose adapter looks at copies
        refuse(call)
    return found


def loaded() -> tuple[list[Framework], dict[str, str]]:
    """The adapters of the frameworks that the user has imported.

    Returns:
        The adapters, and for each framework that is imported but not usable the reason why.
    """
    usable, broken = [], {}
    for key in (*_TABLE, *(k for k in _entry_points() if k not in _TABLE)):
        if sys.modules.get(key) is None:
            continue
        try:
            if key not in _made:
                _made[key] = _class(key)()
            usable.append(_made[key])
        # Whatever a half-imported framework raises, the others must go on.
        except Exception as error:  # noqa: BLE001
            broken[key] = f"{type(error).__name__}: {error}".splitlines()[0][:100]
    return usable, broken
