"""Has programs compiled by compilers of chips that are not there, in a process of their own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import jax

_WORKER = (sys.executable, "-P", "-m", "ipyjaxbench.adapters.jax.chips.worker")
_SETTINGS = {
    "JAX_PLATFORMS": "cpu",  # a GPU would be taken from the user
    "JAX_ENABLE_COMPILATION_CACHE": "false",  # it is the user's
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # no lock on chips that are not there
    "TPU_SKIP_MDS_QUERY": "1",  # no question to a server that only Google's machines have
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_LOG_DIR": "disabled",
    "TPU_STDERR_LOG_LEVEL": "3",
    "TPU_MIN_LOG_LEVEL": "3",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}
_ERROR_CHARACTERS = 120  # characters of what a compiler said last


def answers(requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what compilers say, in order; one that ends its process costs its answer alone."""
    received: list[dict[str, Any]] = []
    while len(received) < len(requests):
        code, written, logged = _run(json.dumps(requests[len(received) :]))
        received += [json.loads(line) for line in written.splitlines() if line.startswith("{")]
        if len(received) < len(requests):
            received.append({"error": _why(code, logged)})
    return received


def error_line(error: Exception | str) -> str:
    """Return what went wrong, for a report."""
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:_ERROR_CHARACTERS]


def _run(requests: str) -> tuple[int, str, str]:
    """Return how the worker ended, and what it wrote; an interrupt ends it too."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        _WORKER, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=_environment()
    ) as worker:
        try:
            written, logged = worker.communicate(requests)
        finally:
            worker.kill()
            worker.wait()
    return worker.returncode, written, logged


def _environment() -> dict[str, str]:
    """Return the user's, without what would have the worker write files or read differently."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("JAX_") and name != "XLA_FLAGS"
    }
    path = os.pathsep.join(each or os.getcwd() for each in sys.path)
    precision = {"JAX_ENABLE_X64": str(bool(jax.config.jax_enable_x64)), "PYTHONPATH": path}
    return inherited | _SETTINGS | precision


def _why(code: int, written: str) -> str:
    if code == -signal.SIGALRM:
        return "the compiler took longer than 10 minutes"
    last = next((line for line in reversed(written.splitlines()) if line.strip()), "")
    ended = signal.Signals(-code).name if code < 0 else str(code)
    return f"the compiler exited with {ended}{f': {error_line(last)}' if last else ''}"
