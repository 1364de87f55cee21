"""IPython in a terminal, typed into as a person does."""

import os
import re
import signal
import sys
import warnings

import pexpect

_PROMPT = r"In \[\d+\]: $"
_MORE = r" \.\.\.: $"
_DEBUGGER = r"ipdb> $"
_CODES = re.compile(r"\x1b\[[\d;?]*[a-zA-Z]")


class Terminal:
    """A running IPython.

    Args:
        folder: in which it keeps its own files.
    """

    def __init__(self, folder: object) -> None:
        command = [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner"]
        environment = {**os.environ, "IPYTHONDIR": str(folder), "TERM": "xterm"}
        with warnings.catch_warnings(action="ignore"):  # JAX's of a fork: another program follows
            self._process = pexpect.spawn(
                command[0], command[1:], env=environment, encoding="utf8", timeout=120, echo=False
            )
        self._shown()

    def type(self, cell: str) -> str:
        """Type a cell, and a blank line where IPython waits for more; what it shows."""
        told = ""
        for line in cell.splitlines():
            self._process.sendline(line)
            told = self._shown()
        while self._waits:
            self._process.sendline("")
            told = self._shown()
        return told

    def interrupt(self, cell: str, after: str) -> str:
        """Type a cell, and press Ctrl-C once it has shown something."""
        lines = iter(cell.splitlines())
        self._process.sendline(next(lines))
        while self._process.expect([re.escape(after), _MORE]):
            self._process.sendline(next(lines, ""))
        self._process.sendintr()
        return self._shown()

    def close(self) -> None:
        """End it, and wait for that: `close` alone gives up after a tenth of a second."""
        self._process.kill(signal.SIGKILL)
        self._process.wait()
        self._process.close()

    def _shown(self) -> str:
        self._waits = self._process.expect([_PROMPT, _DEBUGGER, _MORE]) == 2
        return _CODES.sub("", self._process.before).replace("\r", "")
