"""What it costs to say in a file what is measured now."""

import statistics
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from unittest import mock

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from ipyjaxbench.jupyter.session import Session
from tests.accuracy.section import Column, Row, Section

_PAIRS = 7  # a round
_WANTED = 0.02
#: A call of about a millisecond that reads memory, as a file that is written beside it would.
_SETUP = """
%load_ext ipyjaxbench
import numpy
x = numpy.random.default_rng(0).random((2500, 1000))
"""
# So many samples that it is written several times.
_CALL = "%fwtime -q -o -r 1000 x.sum(axis=0)"


def _median(shell: InteractiveShell) -> float:
    done = shell.run_cell(f"r = {_CALL}", store_history=False)
    done.raise_error()
    return float(shell.user_ns["r"].median)


def _without(shell: InteractiveShell) -> float:
    with mock.patch.object(Session, "heartbeat", return_value=nullcontext()):
        return _median(shell)


def measure(group: str, rounds: int) -> Iterator[Row]:
    """One row: both ways in turns, each first as often as the other."""
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.run_cell(_SETUP).raise_error()
    _median(shell)
    ways, pairs = (_median, _without), []
    for number in range(_PAIRS * rounds):
        first = number % 2
        both = {way: way(shell) for way in (ways[first], ways[1 - first])}
        pairs.append((both[_median], both[_without]))
    ratios = [seen / unseen for seen, unseen in pairs]
    yield {
        "group": group,
        "name": "x.sum(axis=0)",
        "without": statistics.median(unseen for _, unseen in pairs) * 1e3,
        "with": statistics.median(seen for seen, _ in pairs) * 1e3,
        "ratio": statistics.median(ratios),
        "low": min(ratios),
        "high": max(ratios),
    }


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        reached = "reached" if abs(row["ratio"] - 1) <= _WANTED else "NOT REACHED"
        yield f"A ratio within {_WANTED:.0%} of 1 wanted: {row['ratio']:.3f}, {reached}."


LIVE = Section(
    name="live",
    title="What does the file cost that says what is measured now?",
    method="`%fwtime` of a call of about a millisecond with and without that file, in turns.",
    columns=(
        Column("without, ms", 11, "the median of the figures", "{without:.4f}"),
        Column("with, ms", 9, "the same with the file", "{with:.4f}"),
        Column("ratio", 6, "the median of the ratios of pairs", "{ratio:.3f}"),
        Column("range", 14, "of the ratios", "{low:.3f} to {high:.3f}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("numpy",),
)
