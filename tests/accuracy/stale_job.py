"""The cells of one notebook with each call looked at: ``python -m tests.accuracy.stale_job FILE``.

Prints as JSON how many calls of compiled functions were cached, and what is said to be stale.
"""

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

_MAGIC = re.compile(r"^\s*[%!]|^\s*\w+ = %", re.MULTILINE)
_SEEN = "_stale_seen"
_WORDS = "stale: "


class Told:
    """What was seen and said of cells in one session.

    Attributes:
        cells: that ran to their end.
        cached: calls of compiled functions that found their program.
        stale: what was said to be stale, a line each.
    """

    def __init__(self) -> None:
        self.cells = self.cached = 0
        self.stale: list[str] = []
        self._shell = InteractiveShell.instance()
        self.run("%load_ext ipyjaxbench")
        self.run("%trace_cached --watch on")

    def look_at(self, cell: str) -> None:
        """Run a cell, its calls looked at unless it has a magic of its own."""
        plain = not _MAGIC.search(cell)
        if self.run(f"%%trace_cached -q -v {_SEEN}\n{cell}" if plain else cell):
            self.cells += 1
        seen: Any = self._shell.user_ns.pop(_SEEN, None)
        for call in seen.calls if seen is not None else ():
            self.cached += call.times if call.state == "CACHED" else 0
            if call.state == "STALE":
                self.stale += [f"{call.text}: {change.words()}" for change in call.why]

    def run(self, cell: str) -> bool:
        """Run a cell, and keep what is said below it; return whether it ran to its end."""
        with capture_output() as shown:
            done = self._shell.run_cell(cell, store_history=True)
        texts = [str(each.data.get("text/plain", "")) for each in shown.outputs]
        self.stale += [text for text in texts if text.startswith(_WORDS)]
        return bool(done.success)

    def row(self) -> dict[str, Any]:
        """All of that."""
        return {"cells": self.cells, "cached": self.cached, "stale": self.stale}


def cells_of(notebook: Path) -> Iterable[str]:
    """The code of a notebook, cell by cell."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    return ["".join(each["source"]) for each in cells if each["cell_type"] == "code"]


def main(path: str) -> None:
    """Print what was told of one notebook."""
    told = Told()
    for cell in cells_of(Path(path)):
        told.look_at(cell)
    print("told", json.dumps(told.row()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
