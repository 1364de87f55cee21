"""How long large notebooks keep a server from other work: ``python -m tests.server.benchmark``.

A server of its own answers for each notebook, while a small request is made again and again. The
table shows how long the notebook took, and the longest and the usual time of the small request. No
test: what it finds depends on the machine and on what else runs there.
"""

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from ipyjaxbench.reports import Result
from tests.notebook_files import cell, notebook
from tests.results import measured
from tests.waiting import wait_until

_MB = 1_000_000
_ALONE = 1000  # small requests beside which nothing is asked: what the machine makes of them
_LINE = "x = f(1, 2, 3)  # ÄÖÜ and more\n"
_TOKEN = "token"


def _long(megabytes: int) -> str:
    """Code of so many bytes."""
    return "%fwtime f(x)\n" + _LINE * (megabytes * _MB // len(_LINE.encode()))


def _small(number: int, *results: Result) -> list[dict[str, Any]]:
    """So many cells, of which the first one holds results."""
    cells = [cell("%fwtime f(x)", *results, cell_id="c0")]
    return cells + [cell(f"y = g({i})", cell_id=f"c{i}") for i in range(1, number)]


def _many_lines(megabytes: int, *results: Result) -> dict[str, Any]:
    """A cell whose source is a list of lines, as Jupyter writes it."""
    return {**cell("", *results, cell_id="c0"), "source": _long(megabytes).splitlines(True)}


#: Notebooks by what they are: their cells.
NOTEBOOKS: dict[str, Callable[[Result], list[Any]]] = {
    "10 cells": lambda m: _small(10, m),
    "a cell of 35 MB": lambda m: [cell(_long(35), m, cell_id="c0")],
    "a cell of 35 MB in lines": lambda m: [_many_lines(35, m)],
    "a cell of 60 MB in lines": lambda m: [_many_lines(60, m)],
    "200,000 cells": lambda m: _small(200_000, m),
    "20,000 cells": lambda m: _small(20_000, m),
    "20,000 cells, 5,000 results": lambda m: [*_small(15_000), *(5000 * _small(1, m))],
    "200,000 cells, 5,000 results": lambda m: [*_small(195_000), *(5000 * _small(1, m))],
    "a result of 35 MB": lambda m: [cell("%fwtime f(x)", m, {"text": _long(35)}, cell_id="c0")],
    "empty lists": lambda m: [
        {**cell("%fwtime f(x)", m, cell_id="c0"), "metadata": {"x": 5 * _MB * [[]]}}
    ],
    "35 MB of numbers": lambda m: [cell("%fwtime f(x)", m, [1.5] * 7 * _MB, cell_id="c0")],
}  # fmt: skip


@contextmanager
def _server(root: Path) -> Iterator[int]:
    """Start a server whose files are in a folder; give its port."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    own = {
        f"JUPYTER_{name}_DIR": str(root / name.lower()) for name in ("DATA", "RUNTIME", "CONFIG")
    }
    options = {"ServerApp.root_dir": root, "ServerApp.port": port, "ServerApp.port_retries": 0,
               "IdentityProvider.token": _TOKEN, "ServerApp.allow_root": True,
               "ServerApp.jpserver_extensions": {"ipyjaxbench.server": True}}  # fmt: skip
    command = [sys.executable, "-m", "jupyter_server", "--no-browser",
               *(f"--{name}={value}" for name, value in options.items())]  # fmt: skip
    process = subprocess.Popen(command, env=os.environ | own, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: process.poll() is None and _answers(port))
        yield port
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    try:
        _ask(port, "api")
    except OSError:
        return False
    return True


def _ask(port: int, path: str) -> tuple[int, float]:
    """Return the status of an answer, and the seconds until it was there."""
    start = time.perf_counter()
    with closing(HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("GET", f"/{path}", headers={"Authorization": f"token {_TOKEN}"})
        answer = connection.getresponse()
        answer.read()
    return answer.status, time.perf_counter() - start


def _ask_beside(port: int, path: str) -> tuple[int, float, list[float]]:
    """Ask for a path, and meanwhile for what costs nothing; return the seconds of all answers."""
    found: list[tuple[int, float]] = []
    thread = threading.Thread(target=lambda: found.append(_ask(port, path)))
    thread.start()
    others = [_ask(port, "api")[1]]
    while thread.is_alive():
        others.append(_ask(port, "api")[1])
    (status, seconds), *_ = found
    return status, seconds, others


def _in_words(seconds: list[float]) -> str:
    """The longest and the usual time."""
    return f"{max(seconds) * 1e3:.0f} ms {statistics.median(seconds) * 1e3:6.0f} ms"


def main() -> None:
    """Print a row for each notebook."""
    head = f"{'notebook':30} {'file':>7} {'status':>6} {'answer':>8} {'others: longest':>15}"
    print(f"{head} {'usual':>9}")
    with tempfile.TemporaryDirectory() as folder, _server(Path(folder)) as port:
        _ask(port, "ipyjaxbench/api/live")  # what answers is imported with the first request
        alone = [_ask(port, "api")[1] for _ in range(_ALONE)]
        print(f"{'none':30} {_in_words(alone):>48}", flush=True)
        for number, (name, make) in enumerate(NOTEBOOKS.items()):
            path = notebook(
                Path(folder) / f"{number}.ipynb", *make(measured([1000] * 100)), indent=1
            )
            for each in (f"notebook/{path.name}", f"compare?before={path.name}&after={path.name}"):
                status, seconds, others = _ask_beside(port, f"ipyjaxbench/api/{each}")
                size = f"{path.stat().st_size / _MB:.0f} MB"
                shown = name if each.startswith("notebook") else "  with itself"
                row = f"{shown:30} {size:>7} {status:>6} {seconds:>6.2f} s"
                print(f"{row} {_in_words(others):>23}", flush=True)


if __name__ == "__main__":
    main()
