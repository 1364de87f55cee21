"""Runs a program as all ranks of a real job on this machine."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
from typing import Any

import pytest

_SECONDS = 120


def run_job(
    program: str, framework: str, *arguments: str, size: int = 2, **environment: str
) -> Any:
    """Return what rank 0 printed after "found ", as JSON.

    Args:
        program: a module of this folder; it is given the framework, ``arguments``, its rank, the
            number of ranks and a free port.
        framework: which must be installed; else the test is skipped.
        arguments: in front of the numbers.
        size: how many ranks.
        environment: variables of theirs.
    """
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", f"tests.cluster.{program}", framework, *arguments]
    ranks = [
        subprocess.Popen(
            [*command, *map(str, (rank, size, port))],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **environment},
        )
        for rank in range(size)
    ]  # fmt: skip
    try:
        output, errors = ranks[0].communicate(timeout=_SECONDS)
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
            rank.stdout.close()
            rank.stderr.close()
    lines = [line for line in output.splitlines() if line.startswith("found ")]
    assert lines, errors[-3000:]
    return json.loads(lines[-1].removeprefix("found "))
