"""What a timed cell leaves of the session, beside what one plain run of it leaves."""

from typing import Any, NamedTuple

from tests.shell import Shell


class Cell(NamedTuple):
    """A cell that changes something.

    Attributes:
        setup: runs before.
        code: is timed.
        left: an expression that shows what the code changes.
        undo: runs after all.
        told: the name that a report tells as advanced; "" for what is to be as after one run.
    """

    setup: str
    code: str
    left: str
    undo: str = ""
    told: str = ""


def check_left(shell: Shell, cell: Cell) -> None:
    """Fail where timing leaves what one run does not leave, or tells what is not so."""
    once, _ = _left(shell, cell, cell.code)
    timed, notes = _left(shell, cell, f"found = %fwtime -q -n3 -r2 {cell.code}")
    advanced = notes.get("state-advanced", "")
    if cell.told:
        *kind, name = cell.told.rpartition("such as ")
        names, advances, _ = advanced.partition(" advanced by 6 calls")
        assert advances, advanced
        assert f"{''.join(kind)}{name!r}" in names, advanced
    else:
        assert (timed, advanced) == (once, ""), (timed, advanced, once)


def _left(shell: Shell, cell: Cell, line: str) -> tuple[Any, dict[str, str]]:
    shell.names.pop("found", None)
    shell.run(cell.setup)
    try:
        shell.run(line)
        left = eval(cell.left, shell.names)
        found = shell.names.get("found")
        return left, {} if found is None else {note.code: note.text for note in found.notes}
    finally:
        shell.run(cell.undo)
