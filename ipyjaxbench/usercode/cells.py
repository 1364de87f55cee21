"""Which cell of a notebook some code was typed in."""

from collections.abc import Mapping

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
