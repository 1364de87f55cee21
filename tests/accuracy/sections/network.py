"""Whether the bandwidth of a job's network is what a loop by hand reaches."""

import operator
import statistics
from collections.abc import Iterator, Sequence

from tests.accuracy.section import Column, Row, Section, label, reached
from tests.accuracy.sections.ranks import run

_RANKS, _WANTED = 2, 0.1


def measure(group: str, rounds: int) -> Iterator[Row]:
    """One row: the largest all-reduce of a job of two processes."""
    found = run(group, rounds, _RANKS, "network_job")
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
        f" At most {_WANTED:.0%} wanted: {reached(off <= _WANTED)}."
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
        Column("ratio", 6, "one over the other, in each round", "{ratio:.2f}"),
        Column("by hand apart", 13, "how far rounds by hand are apart, relative to the best one",
               "{apart:.1%}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("torch", "jax"),
)  # fmt: skip
