"""Copies of the user's functions, for which names of the session have other values."""

from collections.abc import Mapping
from functools import partial
from types import CellType, FunctionType
from typing import Any, TypeGuard

from ipyjaxbench.usercode import is_users_function


def is_beside(function: FunctionType, value: Any) -> TypeGuard[FunctionType]:
    """Whether it is a function of the user's that reads the same names."""
    return is_users_function(value) and value.__globals__ is function.__globals__


def copy_function(
    function: FunctionType, names: dict[str, Any], closure: tuple[CellType, ...] | None
) -> FunctionType:
    """Return another function of the same code, which finds globals and closed names there."""
    own = function.__code__, names, function.__name__, function.__defaults__, closure
    copied = FunctionType(*own)
    copied.__kwdefaults__ = function.__kwdefaults__
    copied.__dict__.update(function.__dict__)
    return copied


def copy_with(function: Any, values: Mapping[str, Any], users: FunctionType | None = None) -> Any:
    """Return a function, and those that it finds by name or closes over, for other values of names.

    Args:
        function: the user's, a partial, or what a library made of one, as `jax.vmap` does.
        values: what the names stand for.
        users: the user's function in it; it is one itself if this is not given.

    Returns:
        The copy; the same function where none of the user's was found in it.
    """
    return _Copies(users or function, values).copy(function)


class _Copies:
    """Copies of functions that lead to those that read the same names as one of the user's."""

    def __init__(self, users: FunctionType, values: Mapping[str, Any]) -> None:
        self._users, self._made = users, dict[int, Any]()  # by the identity of the original
        self._around = {**users.__globals__}
        for name, value in users.__globals__.items():
            self._around[name] = self.copy(value) if is_beside(users, value) else value
        self._around |= values

    def copy(self, value: Any) -> Any:
        """Return the copy of a function; what leads to none of the user's as it is."""
        if id(value) in self._made or not self._leads(value):
            return self._made.get(id(value), value)
        if type(value) is partial:
            return partial(self.copy(value.func), *value.args, **value.keywords)
        names = self._around if is_beside(self._users, value) else value.__globals__
        old = value.__closure__
        # The others stay shared, as of a name that the function assigns.
        new = old and tuple(CellType() if self._leads(_held(each)) else each for each in old)
        copied = copy_function(value, names, new)
        self._made[id(value)] = copied  # before its own cells: it may close over itself
        for cell, before in zip(new or (), old or (), strict=True):
            if cell is not before:
                cell.cell_contents = self.copy(before.cell_contents)
        return copied

    def _leads(self, value: Any, around: tuple[Any, ...] = ()) -> bool:
        """Whether it is a function that reads these names, or holds one."""
        if is_beside(self._users, value):
            return True
        if type(value) is partial:
            return self._leads(value.func, around)
        if type(value) is not FunctionType or any(each is value for each in around):
            return False
        held = map(_held, value.__closure__ or ())
        return any(self._leads(each, (*around, value)) for each in held)


def _held(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None
