"""Which cell of a notebook some code was typed in, and how to have its definition run again."""

import sys
from collections.abc import Mapping
from typing import Any

from ipyjaxbench.usercode.classes import module_of
from ipyjaxbench.usercode.objects import is_of, text_of

#: Maps of shells, from the file names that they give cells to execution numbers, as in ``In [3]``.
CELLS: list[Mapping[str, int]] = []


def cell_of(file: str) -> int:
    """Return the execution number of the cell that a code object's file is; 0 where it is none.

    Example:
        >>> CELLS.append({"<cell>": 3})
        >>> cell_of("<cell>"), cell_of("module.py")
        (3, 0)
        >>> _ = CELLS.pop()
    """
    return next((cells[file] for cells in CELLS if file in cells), 0)


def is_of_module(function: Any) -> bool:
    """Whether a function or a class was defined in a file, and not in a cell."""
    module = module_of(function) if is_of(function, type) else text_of(function, "__module__")
    return module != "__main__" and bool(text_of(sys.modules.get(module), "__file__"))


def how_to_define(function: object, name: str) -> str:
    """Return what to do so that the definition of a function or a class runs again.

    Args:
        function: or the class.
        name: of it, quoted as it is to be shown.

    Example:
        >>> how_to_define(how_to_define, "`f`")
        'reload the module that defines `f` and import `f` again'
    """
    if is_of_module(function):
        return f"reload the module that defines {name} and import {name} again"
    return f"run the cell that defines {name} again"
