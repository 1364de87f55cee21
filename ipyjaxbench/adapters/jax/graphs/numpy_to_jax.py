"""A copy of a user's function in which NumPy's names stand for jax.numpy's."""

from types import CellType, FunctionType, MethodType
from typing import Any

import jax.numpy as jnp
import numpy as np

from ipyjaxbench.usercode import is_of, name_of, package_of


def use_jax_numpy(function: Any) -> Any:
    """Copy a function and those that it uses, with `jax.numpy` in place of NumPy.

    What was imported from NumPy by name becomes the function of that name, where there is one. What
    is neither a Python function nor a method is returned as it is.
    """
    return _Copies().copy(function)


class _Copies:
    """Copies each function once, so that those that call each other still do."""

    def __init__(self) -> None:
        self._made: dict[int, Any] = {}
        self._names: dict[int, dict[str, Any]] = {}

    def copy(self, value: Any) -> Any:
        if value is np:
            return jnp
        if is_of(value, MethodType):
            return MethodType(self.copy(value.__func__), value.__self__)
        if is_of(value, FunctionType) and package_of(value) not in ("numpy", "jax"):
            return self._copy_function(value)
        if callable(value) and package_of(value) == "numpy":
            return getattr(jnp, name_of(value), value)
        return value

    def _copy_function(self, function: FunctionType) -> Any:
        if id(function) in self._made:
            return self._made[id(function)]
        known = self._names.get(id(function.__globals__))
        names = self._names[id(function.__globals__)] = {} if known is None else known
        cells = tuple(CellType() for _ in function.__closure__ or ())
        made = FunctionType(
            function.__code__, names, function.__name__, function.__defaults__, cells or None
        )
        made.__kwdefaults__ = function.__kwdefaults__
        self._made[id(function)] = made
        if known is None:
            names |= {name: self.copy(value) for name, value in function.__globals__.items()}
        for cell, old in zip(cells, function.__closure__ or (), strict=True):
            cell.cell_contents = self.copy(old.cell_contents)
        return made
