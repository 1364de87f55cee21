"""Adapters, found by what the user has imported; none is loaded before that."""

import importlib
import sys
from collections.abc import Callable
from functools import cache

from ipyjaxbench.frameworks.framework import Framework

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


def loaded() -> tuple[list[Framework], dict[str, str]]:
    """Return the adapters of the frameworks that the user has imported.

    With them comes the reason for each framework that is imported but not usable.
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
