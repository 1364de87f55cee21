"""A real IPython shell for tests."""

import re
from typing import Any

from IPython import version_info
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import RichOutput, capture_output

from ipyjaxbench.jupyter.session import Session

#: In colours a traceback takes six times as long.
NO_COLOURS = "nocolor" if version_info >= (9,) else "NoColor"


class Shell:
    """A shell that keeps what a cell shows and raises what it raises."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.names: dict[str, Any] = shell.user_ns
        self.text = ""
        self.shown: list[RichOutput] = []

    @property
    def session(self) -> Session:
        """What its magics share, while the extension is loaded."""
        session: Session = self.shell.magics_manager.registry["FrameworkMagics"].session
        return session

    def run(self, cell: str, *, counted: bool = False) -> Any:
        """Run a cell; one that is counted has an execution number of its own."""
        with capture_output() as captured:
            done = self.shell.run_cell(cell, store_history=counted)
        self.text = re.sub(r"\x1b\[[\d;]*m", "", captured.stdout + captured.stderr)
        self.shown = captured.outputs
        done.raise_error()
        return done.result


def forget(session: Session) -> None:
    """Forget what a session kept and told; its settings stay."""
    kept = (session.measurements, session.programs, session.interleaved, session.graphs)
    for each in (
        *kept,
        session.warned_renames,
        session.noted_ranks,
        session._advised,
        session._named,
    ):
        each.clear()
    session.known_notes.forget()
    session.last_error.forget()
