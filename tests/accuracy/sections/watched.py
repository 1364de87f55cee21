"""What a cached call costs more while each call is looked at."""

import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any

from ipyjaxbench.retracing.observe import observe_code
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.usercode.snippet import Source
from tests.accuracy.section import Column, Row, Section, label

_CALLS = 10_000
_BAR, _MOST_SECONDS, _MOST_LINES = 20.0, 2.0, 60
_CELL = f"""
start = clock()
for _ in range({_CALLS}):
    f(x)
spent = clock() - start
"""
_WAITED = _CELL.replace("f(x)", "wait(f(x))")


def _names(group: str) -> dict[str, Any]:
    """A compiled function of one small array that was called before, and what waits for it."""
    if group == "jax":
        import jax

        f, x, wait = jax.jit(lambda x: x + 1), jax.numpy.ones(3), jax.block_until_ready
    elif group == "torch":
        import torch

        f, x = torch.compile(lambda x: x + 1, backend="eager"), torch.ones(3)
        wait = _nothing
    else:
        import tensorflow as tf

        f, x, wait = tf.function(lambda x: x + 1), tf.ones(3), _nothing
    for _ in range(5):
        wait(f(x))
    return {"f": f, "x": x, "wait": wait, "clock": time.perf_counter}


def _nothing(value: object) -> object:
    """The work is done when the call returns."""
    return value


def measure(group: str, rounds: int) -> Iterator[Row]:
    """One row for each framework."""
    names, bare, watched, lines = _names(group), [], [], 0
    for _ in range(rounds + 1):
        exec(_WAITED, names)
        bare.append(names["spent"])
        found, error = observe_code(Source.plain(_CELL), names, TraceOptions())
        if error is not None or found.count != _CALLS:
            raise AssertionError(f"{found.count} calls were seen, {error}")
        watched.append(names["spent"])
        lines = len(str(found).splitlines())
    added = [(w - b) for w, b in zip(watched[1:], bare[1:], strict=True)]
    yield {
        "group": group,
        "name": "cached",
        "bare": statistics.median(bare[1:]) / _CALLS * 1e6,
        "watched": statistics.median(watched[1:]) / _CALLS * 1e6,
        "added": statistics.median(added) / _CALLS * 1e6,
        "seconds": statistics.median(added),
        "lines": lines,
    }


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    most = max(rows, key=lambda row: row["added"])
    verdict = "reached" if most["added"] <= _BAR else "NOT REACHED"
    yield f"At most {most['added']:.1f} µs a call, {label(most)}; {_BAR:.0f} wanted: {verdict}."
    lines = max(row["lines"] for row in rows)
    right = most["seconds"] < _MOST_SECONDS and lines < _MOST_LINES
    yield (
        f"{_CALLS:,} calls take at most {most['seconds']:.2f} s more, and {lines} lines; under"
        f" {_MOST_SECONDS:.0f} s and {_MOST_LINES} wanted: {'reached' if right else 'NOT REACHED'}."
    )


WATCHED = Section(
    name="watched",
    title="What does %%trace_cached add to a cached call?",
    method=(
        f"{_CALLS:,} calls of a compiled function of three numbers, bare with the wait written by"
        " hand, and in a cell that is looked at. In turns; the first round is left out."
    ),
    columns=(
        Column("bare, µs", 9, "microseconds per call", lambda r: f"{r['bare']:.2f}"),
        Column("watched, µs", 11, "in the cell", lambda r: f"{r['watched']:.2f}"),
        Column("added, µs", 9, "the median of the differences", lambda r: f"{r['added']:.2f}"),
        Column("lines", 5, "of the report", lambda r: f"{r['lines']}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("jax", "torch", "tensorflow"),
)
