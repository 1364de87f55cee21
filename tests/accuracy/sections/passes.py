"""Whether the passes of compiling add up to the time that compiling takes."""

import statistics
from collections.abc import Iterator, Sequence

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from tests.accuracy.section import Column, Row, Section

_WANTED = 0.1
_TURNS = 5  # a round
_SETUP = {
    "jax": """
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    for i in range(20):
        x = jax.nn.softmax(jnp.sin(x) * i) @ x
    return x.sum()
x = jnp.ones((64, 64))
""",
    "torch": """
import torch
@torch.compile(backend="aot_eager")
def f(x):
    for i in range(20):
        x = torch.softmax(torch.sin(x) * i, 0) @ x
    return x.sum()
x = torch.ones(64, 64)
""",
    "tensorflow": """
import tensorflow as tf
@tf.function
def f(x):
    for i in range(20):
        x = tf.nn.softmax(tf.sin(x) * float(i)) @ x
    return tf.reduce_sum(x)
x = tf.ones((64, 64))
""",
}
#: Phases that the passes are of; JAX traces and lowers in Python, before XLA compiles.
_PHASES = {"jax": ("compile",)}


def measure(group: str, rounds: int) -> Iterator[Row]:
    """One row: the sum of passes against the phases that the framework's own events tell.

    TensorFlow tells no phase but tracing: its sum is held against the first call, by the clock,
    less a later call.
    """
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.run_cell(f"%load_ext ipyjaxbench\n{_SETUP[group]}").raise_error()
    ratios, sums, wholes = [], [], []
    for _ in range(_TURNS * rounds):
        cell = "r = %fwtime -q -o -n 1 -r 3 --passes f(x)"
        shell.run_cell(cell, store_history=False).raise_error()
        result = shell.user_ns["r"]
        cold = result.fresh
        (passes,) = cold.passes
        phases = _PHASES.get(group, tuple(cold.phases))
        whole = sum(cold.phases[phase] for phase in phases)
        if group == "tensorflow":
            whole = cold.seconds - result.floor
        ratios.append(passes.seconds / whole)
        sums.append(passes.seconds)
        wholes.append(whole)
    yield {
        "group": group,
        "name": "f(x)",
        "sum": statistics.median(sums) * 1e3,
        "whole": statistics.median(wholes) * 1e3,
        "ratio": statistics.median(ratios),
        "low": min(ratios),
        "high": max(ratios),
    }


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        reached = "reached" if abs(row["ratio"] - 1) <= _WANTED else "NOT REACHED"
        yield (
            f"{row['group']}: a ratio within {_WANTED:.0%} of 1 wanted: {row['ratio']:.3f},"
            f" {reached}."
        )


PASSES = Section(
    name="passes",
    title="Do the passes of compiling add up to the time that compiling takes?",
    method=(
        "`%fwtime --passes` of a function with an unrolled loop; the sum of the self times against"
        " the phases that the framework's own events tell, for TensorFlow against the cold call"
        " less a later one."
    ),
    columns=(
        Column("sum, ms", 9, "the median of the sums of passes", "{sum:.1f}"),
        Column("compiling, ms", 13, "the same of the phases", "{whole:.1f}"),
        Column("ratio", 6, "the median of the ratios", "{ratio:.3f}"),
        Column("range", 14, "of the ratios", "{low:.3f} to {high:.3f}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("jax", "torch", "tensorflow"),
)
