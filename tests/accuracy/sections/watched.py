"""What a cached call costs more while each call is looked at."""

import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

from ipyjaxbench.retracing.observe import keep_learning, observe_code
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.retracing.stale_calls import StaleCalls
from ipyjaxbench.usercode.snippet import Source
from tests.accuracy.case import Names
from tests.accuracy.section import Column, Row, Section, label

_CALLS = 10_000
_BAR, _LOOKING_BAR = 20.0, 5.0
_MOST_SECONDS, _MOST_LINES = 2.0, 60
_CELL = f"""
start = clock()
for _ in range({_CALLS}):
    f(x)
spent = clock() - start
"""


#: Of JAX, what a function reads of the names around it.
_READS = {
    "reads a number": ("scale = 2.0", "x * scale"),
    "reads an attribute": (
        "class Model:\n    def __init__(self):\n        self.rate = 2.0\nmodel = Model()",
        "x * model.rate",
    ),
    "calls a function": ("def loss(x):\n    return x * 2.0", "loss(x)"),
    "reads 100 arrays": ("layers = [jax.numpy.ones(3) for _ in range(100)]", "x + sum(layers)"),
    "reads another number each time": ("scale = 2.0", "x * scale"),
}
_CHANGES = "reads another number each time"


def _namespaces(group: str) -> Iterator[tuple[str, Names]]:
    """Compiled functions of one small array that were called before, and what waits for them."""
    if group == "jax":
        import jax

        keep_learning()
        x, wait = jax.numpy.ones(3), jax.block_until_ready
        yield "cached", {"f": jax.jit(lambda x: x + 1), "x": x, "wait": wait}
        for name, (setup, expression) in _READS.items():
            names: Names = {"__name__": "__main__", "jax": jax, "x": x, "wait": wait}
            exec(compile(f"{setup}\nf = jax.jit(lambda x: {expression})", "<cell>", "exec"), names)
            yield name, names
    elif group == "torch":
        import torch

        f = torch.compile(lambda x: x + 1, backend="eager")
        yield "cached", {"f": f, "x": torch.ones(3), "wait": _nothing}
    else:
        import tensorflow as tf

        f = tf.function(lambda x: x + 1)
        yield "cached", {"f": f, "x": tf.ones(3), "wait": _nothing}


def _nothing(value: object) -> object:
    """The work is done when the call returns."""
    return value


def measure(group: str, rounds: int) -> Iterator[Row]:
    """One row for each function."""
    for name, names in _namespaces(group):
        names["clock"] = time.perf_counter
        for _ in range(5):
            names["wait"](names["f"](names["x"]))
        change = "scale = float(_); f(x)" if name == _CHANGES else "f(x)"
        yield {"group": group, "name": name, **_row(names, _CELL.replace("f(x)", change), rounds)}


def _row(names: Names, cell: str, rounds: int) -> Row:
    bare, watched, looking, lines = [], [], [], 0
    for _ in range(rounds + 1):
        exec(cell.replace("f(x)", "wait(f(x))"), names)
        bare.append(names["spent"])
        spent, lines = _watched(names, cell)
        watched.append(spent)
        looking.append(_looking(names, cell))
    added = [(w - b) for w, b in zip(watched[1:], bare[1:], strict=True)]
    return {
        "bare": statistics.median(bare[1:]) / _CALLS * 1e6,
        "watched": statistics.median(watched[1:]) / _CALLS * 1e6,
        "added": statistics.median(added) / _CALLS * 1e6,
        "looking": statistics.median(looking[1:]) / _CALLS * 1e6,
        "seconds": statistics.median(added),
        "lines": lines,
    }


def _looking(names: Names, cell: str) -> float:
    """Seconds in which it is asked whether programs are stale, over all calls."""
    find, spent = StaleCalls.find, [0.0]

    def timed(*args: Any, **named: Any) -> Any:
        start = time.perf_counter()
        found = find(*args, **named)
        spent[0] += time.perf_counter() - start
        return found

    with mock.patch.object(StaleCalls, "find", timed):
        _watched(names, cell)
    return spent[0]


def _watched(names: Names, cell: str) -> tuple[float, int]:
    found, error = observe_code(Source.plain(cell), names, TraceOptions())
    if error is not None or found.count != _CALLS:
        raise AssertionError(f"{found.count} calls were seen, {error}")
    return names["spent"], len(str(found).splitlines())


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    for key, bar, what in (("added", _BAR, ""), ("looking", _LOOKING_BAR, " for stale programs")):
        most = max(rows, key=lambda row: row[key])
        verdict = "reached" if most[key] <= bar else "NOT REACHED"
        yield (
            f"At most {most[key]:.1f} µs a call{what}, {label(most)}; {bar:.0f} wanted: {verdict}."
        )
    most = max(rows, key=lambda row: row["seconds"])
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
        " hand, and in a cell that is looked at. In turns; the first round is left out. How long"
        " it takes to see whether the program is stale is added up in a cell of its own."
    ),
    columns=(
        Column("bare, µs", 9, "microseconds per call", "{bare:.2f}"),
        Column("watched, µs", 11, "in the cell", "{watched:.2f}"),
        Column("added, µs", 9, "the median of the differences", "{added:.2f}"),
        Column("looking, µs", 11, "of that, to see whether the program is stale", "{looking:.2f}"),
        Column("lines", 5, "of the report", "{lines}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("jax", "torch", "tensorflow"),
)  # fmt: skip
