"""Whether the file of ``--trace`` shows what the report says, by a reader of its own."""

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import ipyjaxbench
from tests.accuracy.section import Column, Row, Section, label
from tests.chrome_trace import Slice, read

_BAR = 0.01  # by which a figure may be off
_JAX = """
import jax, jax.numpy as jnp
x = jnp.ones((500, 500))
@jax.jit
def jitted(x):
    return jnp.sin(x @ x).sum()
def eager(x):
    return jnp.sin(x @ x).sum()
"""
_TORCH = """
import torch
x = torch.ones(500, 500)
w = torch.ones(500, 500, requires_grad=True)
def eager(x):
    return torch.sin(x @ x).sum()
def backward(x):
    (x @ w).relu().sum().backward()
"""
_TENSORFLOW = """
import tensorflow as tf
x = tf.ones((500, 500))
def eager(x):
    return tf.reduce_sum(tf.sin(x @ x))
graph = tf.function(eager)
xla = tf.function(eager, jit_compile=True)
"""
_SETUPS = {"jax": _JAX, "torch": _TORCH, "tensorflow": _TENSORFLOW}
_CODES = {
    "jax": ("jitted(x)", "eager(x)"),
    "torch": ("eager(x)", "backward(x)"),
    "tensorflow": ("eager(x)", "graph(x)", "xla(x)"),
}


def _busy(slices: Sequence[Slice]) -> int:
    """Nanoseconds in which anything runs: edges are counted up and down."""
    edges: dict[int, int] = defaultdict(int)
    for each in slices:
        edges[each.begun] += 1
        edges[each.ended] -= 1
    busy = running = last = 0
    for moment in sorted(edges):
        busy += (moment - last) if running else 0
        running, last = running + edges[moment], moment
    return busy


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each code: the pass of the file that is furthest off."""
    names: dict[str, object] = {"__name__": "__main__"}
    exec(_SETUPS[group], names)
    for code in _CODES[group]:
        rows = [_one(code, names) for _ in range(max(rounds, 3))]
        yield {"group": group, "name": code} | max(rows, key=lambda r: max(_errors(r)))


def _one(code: str, names: dict[str, object]) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.json.gz"
        m = ipyjaxbench.measure_code(code, names, budget=0.3, trace=str(path))
        slices = read(path)
    assert m.device is not None
    (seen,) = m.device.passes
    phases = [s for s in slices if s.track.startswith("phases")]
    operations = [s for s in slices if s.process != "your code" and s.track != "lines"]
    first, last = min(s.begun for s in phases), max(s.ended for s in phases)
    inside = sum(first <= s.begun and s.ended <= last for s in operations)
    return {
        "busy": _busy(operations) * 1e-9 / seen.busy,
        "wall": sum(s.ns for s in phases) * 1e-9 / seen.elapsed,
        "operations": len(operations) / seen.launches,
        "inside": inside / len(operations),
        "calls": seen.calls,
    }


def _errors(row: Row) -> list[float]:
    return [abs(row[name] - 1) for name in ("busy", "wall", "operations", "inside")]


def is_right(row: Row) -> bool:
    """Whether all figures are those of the report."""
    return max(_errors(row)) <= _BAR


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    worst = max(rows, key=lambda row: max(_errors(row)))
    wrong = [label(row) for row in rows if not is_right(row)]
    verdict = "NOT REACHED by " + ", ".join(wrong) if wrong else "reached"
    yield (
        f"The figure that is furthest off is {max(_errors(worst)):.2%} off; at most {_BAR:.0%} is"
        f" wanted: {verdict}."
    )


TRACE_FILES = Section(
    name="traces",
    title="Does the file of `--trace` show what the report says?",
    method=(
        "Each code is timed with `--trace`, and a reader of its own, which refuses what the format"
        " does not allow, reads the file. It counts in how much time any operation runs, adds up"
        " the phases, and looks whether operations lie between the first call and the last. The"
        " report's own figures are 1. Of all rounds that which is furthest off is shown."
    ),
    columns=(
        Column("busy", 7, "time with any operation in the file", "{busy:.4f}"),
        Column("phases", 7, "all phases together, of the wall", "{wall:.4f}"),
        Column("operations", 10, "of those launched", "{operations:.4f}"),
        Column("inside", 7, "of them, between the calls' ends", "{inside:.4f}"),
        Column("calls", 5, "in the pass", "{calls}"),
        Column("verdict", 8, "within 1 %", lambda r: "ok" if is_right(r) else "WRONG"),
    ),
    summary=_summary,
    measure=measure,
    groups=tuple(_SETUPS),
)
