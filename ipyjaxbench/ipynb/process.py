"""Decodes a large notebook in a process of its own, which is ended when it takes too long.

What decodes JSON lets no other thread run meanwhile: a server would answer nobody else.
"""

import ast
import gc
import io
import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any

from ipyjaxbench.errors import RecordError
from ipyjaxbench.ipynb.decode import Limits, NotebookFile, TooLargeError, decode_notebook

_LARGE = 1 << 20  # bytes; fewer are decoded in a few milliseconds
_SECONDS = 2  # of CPU: on a busy machine a notebook takes no longer by that
_PATIENCE = 10.0  # of the clock, for each of these; alone where CPU time cannot be limited
_AT_ONCE = 200  # cells that are handed over: what unpacks them lets nobody run either


def decode_apart(name: str, file: IO[bytes], mime: str, limits: Limits) -> NotebookFile:
    """Return what of a notebook is needed, as `decode_notebook` does.

    Args:
        name: of the notebook, for messages.
        file: the notebook, at its begin.
        mime: the MIME type of the records in its outputs.
        limits: how much of it is read.

    Raises:
        RecordError: it is not a notebook of Jupyter's format 4, or takes more memory than there is.
        TooLargeError: it has too many cells, or takes too long.
    """
    if os.fstat(file.fileno()).st_size < _LARGE or not sys.executable:
        return decode_notebook(name, file.read(), mime, limits)
    # Not the working directory's modules: it is the user's (-P).
    code = f"from {__name__} import main; main()"
    command = [sys.executable, "-P", "-c", code, ascii((_SECONDS, name, mime, *limits))]
    try:
        ended = subprocess.run(
            command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=_PATIENCE * _SECONDS, check=False,
        )  # fmt: skip
        is_ended = ended.returncode == -getattr(signal, "SIGXCPU", 0) != 0
    except subprocess.TimeoutExpired:
        is_ended = True
    if is_ended:
        raise TooLargeError(f"{name} is not read: that takes more than {_SECONDS} s")
    cells: list[Any] = []
    written = io.BytesIO(ended.stdout)
    try:
        while isinstance(found := pickle.load(written), tuple):
            cells += found
    except (EOFError, pickle.UnpicklingError):
        reason = "what reads it was ended, as where memory is short"
        raise RecordError(f"{name} cannot be read: {reason}") from None
    if isinstance(found, RecordError):
        raise found
    rest: NotebookFile = found
    return replace(rest, cells=tuple(cells))


def main() -> None:
    """Decode the notebook in the standard input; write its cells and the rest, or the error."""
    gc.disable()  # it would look at each cell, and this process ends soon
    seconds, name, mime, *most = ast.literal_eval(sys.argv[1])
    with suppress(ImportError):  # on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
    try:
        found = decode_notebook(name, sys.stdin.buffer.read(), mime, Limits(*most))
    except RecordError as error:
        pickle.dump(error, sys.stdout.buffer)
        return
    for begin in range(0, len(found.cells), _AT_ONCE):
        pickle.dump(found.cells[begin : begin + _AT_ONCE], sys.stdout.buffer)
    pickle.dump(replace(found, cells=()), sys.stdout.buffer)
