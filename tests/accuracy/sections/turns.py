"""Whether arms of several frameworks take as long in turns as each takes alone."""

import statistics
from collections.abc import Iterator, Sequence

import ipyjaxbench
from tests.accuracy.section import Column, Row, Section

_SIZES = (128, 512, 1024)  # sides of the matrices; with 512 a product takes about 1 ms
_OFF = 1.10
_WANTED = 10.0  # seconds for four arms


def _products(size: int) -> dict[str, object]:
    import jax.numpy as jnp
    import numpy as np
    import tensorflow as tf
    import torch

    x = np.random.default_rng(0).random((size, size), np.float32)
    a, b, c = jnp.asarray(x), torch.from_numpy(x), tf.constant(x)
    return {
        "numpy": lambda: x @ x,
        "jax": lambda: a @ a,
        "torch": lambda: b @ b,
        "tensorflow": lambda: c @ c,
    }


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each arm at each size."""
    for size in _SIZES:
        arms = _products(size)
        looks = []
        for _ in range(rounds):
            alone = {label: ipyjaxbench.measure(arm).median for label, arm in arms.items()}
            found = ipyjaxbench.compare(arms)
            looks.append((alone, found))
        for label in arms:
            yield {
                "group": group,
                "name": f"{label} {size}",
                "size": size,
                "alone": statistics.median(alone[label] for alone, _ in looks),
                "off": statistics.median(f[label].median / alone[label] for alone, f in looks),
                "spent": max(found.elapsed for _, found in looks),
            }


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    near = [row for row in rows if 1 / _OFF <= row["off"] <= _OFF]
    worst = max(rows, key=lambda row: abs(row["off"] - 1))
    yield (
        f"In turns {len(near)} of {len(rows)} arms take what they take alone, to {_OFF - 1:.0%};"
        f" furthest off is {worst['name']}, {worst['off']:.2f} times as long."
    )
    spent = max(row["spent"] for row in rows if row["size"] == _SIZES[1])
    reached = "reached" if spent <= _WANTED else "NOT REACHED"
    yield f"Four arms of about 1 ms: {spent:.1f} s. At most {_WANTED:g} s wanted: {reached}."


TURNS = Section(
    name="turns",
    title="Do arms disturb each other?",
    method=(
        "One matrix product in four frameworks, each timed alone and then compared in one"
        " `%%fwcompare`: their threads share the CPUs, and an arm should take as long in turns"
        " with the others as without them."
    ),
    columns=(
        Column("alone", 10, "a call by itself, as `%fwtime` tells it",
               lambda r: f"{r['alone'] * 1e3:.3f} ms"),
        Column("in turns", 10, "how many times as long it takes in turns with the others",
               "{off:.2f}"),
        Column("spent", 8, "seconds that the comparison took", "{spent:.1f} s"),
    ),
    summary=_summary,
    measure=measure,
    groups=("tensorflow",),
)  # fmt: skip
