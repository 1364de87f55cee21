"""What it takes to say where very many arrays live."""

import importlib
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ipyjaxbench.device.locate import locate, survey
from ipyjaxbench.reports import html
from tests.accuracy.section import Column, Row, Section, label, reached

_NAMES, _LEAVES, _IN_LAYER = 10_000, 100_000, 100
_MOST_SECONDS, _MOST_BYTES = 1.0, 100_000


#: By framework, what makes small arrays that differ, and what a person would write to know what one
#: takes; the framework is ``lib``.
_MADE = {
    "numpy": ("lambda i: lib.full(2, i, lib.float32)", "lambda a: a.nbytes"),
    "jax": ("lambda i: lib.numpy.full(2, i, lib.numpy.float32)", "lambda a: a.nbytes"),
    "torch": ("lambda i: lib.full((2,), float(i))", "lambda a: a.nbytes"),
    "tensorflow": ("lambda i: lib.fill((2,), float(i))",
                   "lambda a: int(a.shape.num_elements() * a.dtype.size)"),
}  # fmt: skip


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
    lib: Any = importlib.import_module(group)
    make, bytes_of = (eval(code, {"lib": lib}) for code in _MADE[group])
    leaves = lib.tree.leaves if group == "jax" else _leaves
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
    is_met = slowest["seconds"] < _MOST_SECONDS and is_small
    yield (
        f"At most {slowest['seconds']:.2f} s, {label(slowest)}, and"
        f" {max(row['bytes'] for row in rows) / 1e3:.0f} kB; under {_MOST_SECONDS:.0f} s and"
        f" {_MOST_BYTES / 1e3:.0f} kB wanted: {reached(is_met)}."
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
        Column("taken, s", 9, "to look and to make the page", "{seconds:.3f}"),
        Column("by hand, s", 11, "to add up bytes", "{bare:.3f}"),
        Column("ratio", 7, "of the two", lambda r: f"{r['seconds'] / r['bare']:.1f}"),
        Column("page, kB", 9, "of HTML", lambda r: f"{r['bytes'] / 1e3:.1f}"),
    ),
    summary=_summary,
    measure=measure,
    groups=tuple(_MADE),
)
