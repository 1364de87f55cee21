"""The same program in two processes on this machine, that know of each other."""

import socket
import subprocess
import sys


def run_pair(code: str) -> list[str]:
    """What each of them printed.

    Args:
        code: a program; ``sys.argv`` holds its number, and two free ports.
    """
    with socket.socket() as one, socket.socket() as other:
        one.bind(("localhost", 0))
        other.bind(("localhost", 0))
        ports = [str(each.getsockname()[1]) for each in (one, other)]
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, number, *ports],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in ("0", "1")
    ]
    try:
        told = [process.communicate(timeout=120) for process in both]
    finally:
        for process in both:
            process.kill()
    assert [process.returncode for process in both] == [0, 0], told
    return [printed.strip().splitlines()[-1] for printed, _ in told]
