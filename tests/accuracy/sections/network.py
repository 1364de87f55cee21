"""Whether the bandwidth of a job's network is what a loop by hand reaches."""

import json
import operator
import socket
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence

from tests.accuracy.section import Column, Row, Section, label

_RANKS, _WANTED = 2, 0.1
_SECONDS = 60  # for each round, and for the start


def measure(group: str, rounds: int) -> Iterator[Row]:
    """One row: the largest all-reduce of a job of two processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.accuracy.network_job", group, str(rounds)]
    jobs = [
        subprocess.Popen([*command, *map(str, (rank, _RANKS, port))], stdout=subprocess.PIPE,
                         text=True)
        for rank in range(_RANKS)
    ]  # fmt: skip
    try:
        output, _ = jobs[0].communicate(timeout=_SECONDS * (rounds + 1))
    finally:
        for job in jobs:
            job.kill()
            job.communicate()
    (line,) = (each for each in output.splitlines() if each.startswith("found "))
    found = json.loads(line.removeprefix("found "))
    ours, hands = found["ours"], found["by hand"]
    yield {
        "group": group,
        "name": "all-reduce of 64 MiB, gloo",
        "ours": statistics.median(ours),
        "by hand": statistics.median(hands),
        "ratio": statistics.median(map(operator.truediv, ours, hands)),
        "apart": 1 - min(hands) / max(hands),
    }


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    worst = max(rows, key=lambda row: abs(row["ratio"] - 1))
    off = abs(worst["ratio"] - 1)
    yield (
        f"The furthest from a loop by hand is {off:.1%} off, {label(worst)}."
        f" At most {_WANTED:.0%} wanted: {'reached' if off <= _WANTED else 'NOT REACHED'}."
    )


NETWORK = Section(
    name="network",
    title="Is the bandwidth of a job's network what a loop by hand reaches?",
    method=(
        "Two processes on this machine, over gloo. The network's peaks are measured, then an"
        " all-reduce of 64 MiB in loops by hand that begin at the framework's own barrier; round"
        " after round. Both are busbw of the slower process; figures are medians over rounds."
    ),
    columns=(
        Column("busbw", 8, "bytes in a second, in billions", lambda r: f"{r['ours'] / 1e9:.2f}"),
        Column("by hand", 8, "the same, by hand", lambda r: f"{r['by hand'] / 1e9:.2f}"),
        Column("ratio", 6, "one over the other, in each round", lambda r: f"{r['ratio']:.2f}"),
        Column("by hand apart", 13, "how far rounds by hand are apart, relative to the best one",
               lambda r: f"{r['apart']:.1%}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("torch", "jax"),
)  # fmt: skip
