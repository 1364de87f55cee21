"""Puts ``await`` before magics whose code awaits: IPython then awaits them as any other code."""

import re

from IPython.core.interactiveshell import InteractiveShell

#: No whole words: a line of a cell magic's code begins behind the letter of an escaped line end.
WORD = re.compile(r"await|async")


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
        if not self._shell.autoawait or not any(map(WORD.search, lines)):
            return lines
        from ipyjaxbench.magics._awaited import awaited

        return awaited(self._shell, lines)
