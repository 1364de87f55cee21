"""What the extension costs a server: ``python -m tests.server.benchmark``."""

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

RECORDS, FILES, REPEATS = 10_000, 100, 9
PANEL_PAIRS, PANEL_SECONDS = 12, 4
_START = """
import time, psutil, jupyter_server.serverapp
process = psutil.Process()
before = process.memory_info().rss
start = time.perf_counter()
from ipyjaxbench.server import _load_jupyter_server_extension as load
app = jupyter_server.serverapp.ServerApp()
app.initialize(argv=[], find_extensions=False, new_httpserver=False)
start = time.perf_counter(); before = process.memory_info().rss
load(app)
print((time.perf_counter() - start) * 1e3, (process.memory_info().rss - before) / 1e6)
"""


def main() -> None:
    """Print a line for each target."""
    starts = [_start() for _ in range(REPEATS)]
    milliseconds, megabytes = (statistics.median(each) for each in zip(*starts, strict=True))
    print(f"server start: {milliseconds:.1f} ms, {megabytes:.1f} MB (targets: 30 ms, 15 MB)")
    with tempfile.TemporaryDirectory() as data:
        os.environ["JUPYTER_DATA_DIR"] = data
        folder = Path(data, "ipyjaxbench", "history")
        folder.mkdir(parents=True)
        last = _write_history(folder)
        _history(last)
    _notebook()
    _panel()


def _start() -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", _START], capture_output=True, text=True,
                          check=True)  # fmt: skip
    first, second = done.stdout.split()[-2:]
    return float(first), float(second)


def _write_history(folder: Path) -> Path:
    from ipyjaxbench.records import Location, make_entries
    from tests.results import measured

    now, path = time.time(), folder
    for number in range(FILES):
        lines = []
        for i in range(RECORDS // FILES):
            m = measured([1000 + (i * 7 + j) % 90 for j in range(120)], code=f"step_{i % 40}(x)")
            where = Location("/p", "/p/train.ipynb", f"cell-{i % 40}", i + 1)
            when = now - (FILES - number) * 3600 + i
            lines += make_entries(m, "", when=when, where=where, revision="a" * 40)
        path = folder / f"2026-11-01-{1000 + number}-{number:08x}.jsonl"
        path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    return path


def _history(last: Path) -> None:
    from ipyjaxbench.server.answers import Answers
    from ipyjaxbench.server.query import HistoryQuery

    answers, query = Answers(), HistoryQuery.read({"newest": "1", "sort": "regressions"})

    def ask() -> None:
        answers.refresh()
        msgspec.json.encode(answers.history(query))

    print(f"history of {RECORDS:,}, first of all: {_time(ask, 1):.0f} ms")

    def change() -> None:
        line = last.read_bytes().splitlines(keepends=True)[-1]
        with last.open("ab") as file:
            file.write(line)

    changed = statistics.median(_time(ask, 1) for _ in range(REPEATS) if change() is None)
    print(f"after a change: {changed:.1f} ms (target: 50 ms)")
    print(f"unchanged (304): {_time(answers.refresh, REPEATS):.2f} ms (target: 5 ms)")


def _notebook() -> None:
    """How long the event loop stands still while 20 MB are read."""
    from ipyjaxbench.reports import MIME
    from ipyjaxbench.server.answers import Answers
    from tests.results import measured

    record = measured([1000] * 120)._repr_mimebundle_()[MIME]
    image: dict[str, Any] = {"output_type": "display_data", "data": {"image/png": "A" * 190_000}}
    ours = {"output_type": "display_data", "data": {MIME: record}}
    cell = {"cell_type": "code", "source": "%fwtime f(x)", "outputs": [image, ours]}
    cells = [{**cell, "id": f"c{i}"} for i in range(100)]
    text = json.dumps({"nbformat": 4, "cells": cells})
    answers = Answers()

    async def watch() -> float:
        work = asyncio.create_task(
            asyncio.to_thread(answers.notebook, "a.ipynb", text, ("a.ipynb",), "", 5000)
        )
        longest = 0.0
        while not work.done():
            start = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - start)
        await work
        return longest * 1e3

    longest = statistics.median(asyncio.run(watch()) for _ in range(REPEATS))
    print(f"reading a notebook of {len(text) / 1e6:.0f} MB blocks {longest:.0f} ms (target: 50 ms)")


def _panel() -> None:
    """Time calls of about 1 ms in JupyterLab, in turns with the panel shown and hidden."""
    from playwright.sync_api import sync_playwright

    from tests.pages import server, timings
    from tests.pages.opened import Opened

    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        place = Path(name)
        server.configure(place, "Light")
        timings.configure(place, panel=True, status="nothing")
        timings.write(place / "a.ipynb", {
            "load": "%load_ext ipyjaxbench",
            "timed": f"%fwtime -b {PANEL_SECONDS} sum(range(80_000))",
        })  # fmt: skip
        running = server.Server(place, timings.options(place))
        try:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"),
                                             args=["--no-sandbox"])  # fmt: skip
            opened = Opened(browser.new_page(), running.url("lab/tree/a.ipynb"))
            panel = timings.Timings(opened)
            asked = []
            for _ in range(PANEL_PAIRS):
                for turn in (panel.show, panel.hide):
                    turn()
                    panel.requests.clear()
                    opened.run_all()
                    asked.append(len(panel.requests))
            browser.close()
        finally:
            running.stop()
        files = (place / ".jupyter/data/ipyjaxbench/history").glob("*.jsonl")
        lines = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    medians = [line["figure"]["median"] for line in lines]
    pairs = list(zip(medians[::2], medians[1::2], strict=True))
    ratio = statistics.median(shown / hidden for shown, hidden in pairs)
    calls = f"calls of {1e3 * statistics.median(medians):.2f} ms"
    panels = f"panel shown ({sum(asked[::2])} requests) against hidden ({sum(asked[1::2])})"
    print(f"{calls}, {panels}: {ratio:.3f} in {len(pairs)} pairs (target: 0.98–1.02)")


def _time(act: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        act()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


if __name__ == "__main__":
    main()
