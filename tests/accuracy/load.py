"""Other programs, so that the machine is as busy as a shared one."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def busy(programs: int) -> Iterator[None]:
    """Keep so many processes computing; they end here, each by itself."""
    command = [sys.executable, "-S", "-c", "while True: pass"]
    started = [subprocess.Popen(command) for _ in range(programs)]
    try:
        if started:
            time.sleep(0.5)
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()
