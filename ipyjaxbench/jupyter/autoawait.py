"""Puts ``await`` before magics whose code awaits: IPython then awaits them as any other code."""

import re
import sys
from types import FrameType

from IPython.core.interactiveshell import InteractiveShell

#: No whole words: a line of a cell magic's code begins behind the letter of an escaped line end.
WORD = re.compile(r"await|async")
#: What IPython calls for a magic.
ENTRY = ("run_line_magic", "run_cell_magic")


class Awaiter:
    """A step of IPython's that changes what was typed.

    Args:
        shell: whose input it changes.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell

    def enter(self) -> None:
        """Change it from now on."""
        self._shell.input_transformers_post.append(self)

    def leave(self) -> None:
        """Change nothing any longer."""
        self._shell.input_transformers_post.remove(self)

    def __call__(self, lines: list[str]) -> list[str]:
        """The lines of a cell, with our magics awaited where that is needed."""
        if not self._shell.autoawait or not any(map(WORD.search, lines)) or not _may_await():
            return lines
        from ipyjaxbench.jupyter.awaited_code import awaited

        return awaited(self._shell, lines)


def _may_await() -> bool:
    """Whether what is being changed may await: not where a magic of others runs it, as %%time does.

    They compile it as plain code, or give it to a shell whose event loop is at work already.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if frame.f_globals.get("__name__", "").startswith("ipyjaxbench."):
            return True  # a magic of ours runs it
        if code.co_name == "run_cell":
            from ipyjaxbench.usercode.awaiting import loop_runs

            return not loop_runs()
        if code.co_name in ENTRY:
            return False
        frame = frame.f_back
    return True
