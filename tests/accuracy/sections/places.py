"""What it takes to say where very many arrays live."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ipyjaxbench.device.locate import locate, survey
from ipyjaxbench.reports import html
from tests.accuracy.section import Column, Row, Section, label

_NAMES, _LEAVES, _IN_LAYER = 10_000, 100_000, 100
_MOST_SECONDS, _MOST_BYTES = 1.0, 100_000


def _maker(group: str) -> Callable[[int], Any]:
    """Makes small arrays that differ."""
    if group == "jax":
        import jax

        return lambda i: jax.numpy.full(2, i, jax.numpy.float32)
    if group == "torch":
        import torch

        return lambda i: torch.full((2,), float(i))
    if group == "tensorflow":
        import tensorflow as tf

        return lambda i: tf.fill((2,), float(i))
    import numpy as np

    return lambda i: np.full(2, i, np.float32)


def _bytes_of(group: str) -> Callable[[Any], int]:
    """What a person would write to know what one array takes."""
    if group == "tensorflow":
        return lambda array: int(array.shape.num_elements() * array.dtype.size)
    return lambda array: int(array.nbytes)


def _leaves(node: Any) -> list[Any]:
    """By hand, where there is no `jax.tree.leaves`."""
    if isinstance(node, dict):
        return [leaf for part in node.values() for leaf in _leaves(part)]
    return [node]


def _tree(make: Callable[[int], Any]) -> dict[str, Any]:
    layers = range(_LEAVES // _IN_LAYER)
    return {f"layer{i}": {f"w{j}": make(i + j) for j in range(_IN_LAYER)} for i in layers}


def _namespace(make: Callable[[int], Any]) -> dict[str, Any]:
    return {f"x{i}": make(i) for i in range(_NAMES)}


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for a tree and one for a namespace, one after the other."""
    make, bytes_of, leaves = _maker(group), _bytes_of(group), _leaves
    if group == "jax":
        import jax

        leaves = jax.tree.leaves
    for name, build, look in (
        (f"tree of {_LEAVES:,}", _tree, lambda tree: locate({"tree": tree})),
        (f"namespace of {_NAMES:,}", _namespace, survey),
    ):
        value = build(make)
        taken, by_hand, size = [], [], 0
        for _ in range(rounds + 1):
            start = time.perf_counter()
            sum(map(bytes_of, leaves(value)))
            between = time.perf_counter()
            size = len(html.render(look(value).report()).encode())
            taken.append(time.perf_counter() - between)
            by_hand.append(between - start)
        seconds, bare = statistics.median(taken), statistics.median(by_hand)
        yield {"group": group, "name": name, "seconds": seconds, "bare": bare, "bytes": size}


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    slowest = max(rows, key=lambda row: row["seconds"])
    is_small = all(row["bytes"] < _MOST_BYTES for row in rows)
    reached = slowest["seconds"] < _MOST_SECONDS and is_small
    yield (
        f"At most {slowest['seconds']:.2f} s, {label(slowest)}, and"
        f" {max(row['bytes'] for row in rows) / 1e3:.0f} kB; under {_MOST_SECONDS:.0f} s and"
        f" {_MOST_BYTES / 1e3:.0f} kB wanted: {'reached' if reached else 'NOT REACHED'}."
    )


PLACES = Section(
    name="places",
    title="What does it take to say where arrays live?",
    method=(
        f"`%fwdevices` of one tree with {_LEAVES:,} small arrays, and of a namespace with"
        f" {_NAMES:,}: looking, and making the page. By hand stands for the sum of the bytes of all"
        " arrays, found by `jax.tree.leaves`, or by walking through the dictionaries. Medians."
    ),
    columns=(
        Column("taken, s", 9, "to look and to make the page", lambda r: f"{r['seconds']:.3f}"),
        Column("by hand, s", 11, "to add up bytes", lambda r: f"{r['bare']:.3f}"),
        Column("ratio", 7, "of the two", lambda r: f"{r['seconds'] / r['bare']:.1f}"),
        Column("page, kB", 9, "of HTML", lambda r: f"{r['bytes'] / 1e3:.1f}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("numpy", "jax", "torch", "tensorflow"),
)
