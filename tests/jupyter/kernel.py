"""A real kernel, run as a notebook's front end runs it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import ipykernel.kernelspec  # noqa: F401  its first import sets an environment variable
from jupyter_client.manager import start_new_kernel


@dataclass
class Shown:
    """What one cell shows."""

    status: str = ""
    error: str = ""
    text: str = ""
    results: list[dict[str, Any]] = field(default_factory=list)


class Kernel:
    """A kernel whose cells can be interrupted, and can ask."""

    def __init__(self) -> None:
        self._manager, self.client = start_new_kernel(kernel_name="python3")

    def run(self, cell: str, *, answers: Sequence[str] = (), interrupt_after: str = "") -> Shown:
        """Run a cell.

        Args:
            cell: the code.
            answers: to what it asks.
            interrupt_after: text; once this is shown the kernel is interrupted.
        """
        shown, left = Shown(), list(answers)

        def hear(message: dict[str, Any]) -> None:
            content = message["content"]
            shown.text += content.get("text", "")
            shown.text += "\n".join(content.get("traceback", ()))
            if "data" in content:
                shown.results.append(content["data"])
            said = content.get("text", "") + content.get("data", {}).get("text/plain", "")
            if interrupt_after and interrupt_after in said:
                self._manager.interrupt_kernel()

        def answer(_: object) -> None:
            self.client.input(left.pop(0))

        # For a moment after a failure a kernel aborts every cell, those it receives then too.
        reply = {"status": "aborted"}
        while reply["status"] == "aborted":
            reply = self.client.execute_interactive(
                cell,
                allow_stdin=bool(answers),
                stop_on_error=False,
                stdin_hook=answer,
                output_hook=hear,
                timeout=60,
            )["content"]
        shown.status, shown.error = reply["status"], reply.get("ename", "")
        shown.text = re.sub(r"\x1b\[[\d;]*m", "", shown.text)
        return shown

    def close(self) -> None:
        """End it."""
        self.client.stop_channels()
        self._manager.shutdown_kernel(now=True)
