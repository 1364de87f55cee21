"""Whether peaks are what the same work reaches by hand, again and again, and in what time."""

import operator
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ipyjaxbench
from tests.accuracy.section import Column, Row, Section

_SIDES = (512, 1024, 2048)
_NUMBERS = 2**25  # float32; they fill 128 MiB
_EACH = 0.25  # seconds for each piece of work by hand
_WANTED, _REACHED, _REPEATS = 10.0, 0.9, 0.1
_QUIET = 0.1

Run = Callable[[], Any]
#: What runs a product of matrices of so many rows, or of a whole array.
ByHand = dict[str, Callable[[int], Run]]


def _numpy() -> ByHand:
    import numpy as np

    def product(n: int, dtype: str = "float32") -> Run:
        x = np.ones((n, n), dtype)
        return lambda: x @ x

    def memory(n: int) -> Run:
        x = np.ones(n, np.float32)
        return lambda: np.negative(x, out=x)

    return {"float32": product, "float64": lambda n: product(n, "float64"), "memory": memory}


def _jax() -> ByHand:
    import jax
    import jax.numpy as jnp

    def product(n: int, dtype: str = "float32") -> Run:
        x, f = jnp.ones((n, n), dtype), jax.jit(lambda x: x @ x)
        return lambda: f(x).block_until_ready()

    def memory(n: int) -> Run:
        x, f = [jnp.ones(n)], jax.jit(lambda x: -x, donate_argnums=0)

        def run() -> None:
            x[0] = f(x[0]).block_until_ready()

        return run

    return {"float32": product, "bfloat16": lambda n: product(n, "bfloat16"), "memory": memory}


def _torch() -> ByHand:
    import torch

    def product(n: int, dtype: Any = torch.float32) -> Run:
        x = torch.ones(n, n, dtype=dtype)
        return lambda: x @ x

    def memory(n: int) -> Run:
        x = torch.ones(n)
        return x.neg_

    return {
        "float32": product,
        "float64": lambda n: product(n, torch.float64),
        "bfloat16": lambda n: product(n, torch.bfloat16),
        "memory": memory,
    }


def _tensorflow() -> ByHand:
    import tensorflow as tf

    def product(n: int, dtype: str = "float32") -> Run:
        x = tf.ones((n, n), dtype)
        return lambda: tf.matmul(x, x)

    def memory(n: int) -> Run:
        x = tf.ones(n)
        return lambda: tf.reduce_sum(x)

    return {
        "float32": product,
        "float64": lambda n: product(n, "float64"),
        "bfloat16": lambda n: product(n, "bfloat16"),
        "memory": memory,
    }


_BY_HAND = {"numpy": _numpy, "jax": _jax, "torch": _torch, "tensorflow": _tensorflow}
#: Bytes that the memory's work by hand reads and writes, for each number.
_MOVED = {"numpy": 8, "jax": 8, "torch": 8, "tensorflow": 4}


def _rate(framework: str, figure: str, made: Callable[[int], Run]) -> float:
    """The best that is reached by hand."""
    if figure == "memory":
        return _MOVED[framework] * _NUMBERS / _fastest(made(_NUMBERS))
    return max(2 * n**3 / _fastest(made(n)) for n in _SIDES)


def _fastest(run: Run) -> float:
    run()
    taken: list[float] = []
    end = time.perf_counter() + _EACH
    while len(taken) < 2 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each framework and figure."""
    by_hand = {name: made() for name, made in _BY_HAND.items()}
    for works in by_hand.values():
        works["float32"](8)()  # so that all have started
    ours: dict[tuple[str, str], list[float]] = {}
    theirs: dict[tuple[str, str], list[float]] = {}
    others: dict[str, list[float]] = {}
    spent: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        measured = ipyjaxbench.peaks(remeasure=True).found
        spent.append(time.perf_counter() - start)
        found = {each.framework: each for each in measured}
        for name, works in by_hand.items():
            others.setdefault(name, []).append(found[name].others)
            time.sleep(_EACH)  # threads of another framework let go of the CPUs
            for figure, made in works.items():
                one = found[name].products.get(figure, found[name].bandwidth)
                assert one is not None
                ours.setdefault((name, figure), []).append(one)
                theirs.setdefault((name, figure), []).append(_rate(name, figure, made))
    for (name, figure), rates in ours.items():
        hands = theirs[name, figure]
        yield {
            "group": group,
            "name": f"{name} {figure}",
            "rate": statistics.median(rates),
            "by hand": statistics.median(hands),
            "ratio": statistics.median(map(operator.truediv, rates, hands)),
            "apart": 1 - min(rates) / max(rates),
            "by hand apart": 1 - min(hands) / max(hands),
            "others": max(others[name]),
            "spent": max(spent),
        }


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    spent = max(row["spent"] for row in rows)
    yield f"All of them take {spent:.1f} s. At most {_WANTED:g} s wanted: {_met(spent <= _WANTED)}."
    least = min(rows, key=lambda row: row["ratio"])
    share = least["ratio"]
    yield (
        f"The least is {share:.0%} of what is reached by hand, {least['name']}."
        f" At least {_REACHED:.0%} wanted: {_met(share >= _REACHED)}."
    )
    quiet = [row for row in rows if row["others"] <= _QUIET]
    worst = max(quiet, key=lambda row: row["apart"], default=None)
    if worst is None:
        yield "Other programs took CPUs in all rounds: how well figures repeat cannot be told."
    else:
        yield (
            f"While other programs took at most {_QUIET:.0%} of the CPUs, figures repeat to"
            f" {worst['apart']:.1%}, {worst['name']} ({len(quiet)} of {len(rows)} rows)."
            f" At most {_REPEATS:.0%} wanted: {_met(worst['apart'] <= _REPEATS)}."
        )


def _met(is_met: bool) -> str:
    return "reached" if is_met else "NOT REACHED"


PEAKS = Section(
    name="peaks",
    title="Are peaks what a device can do?",
    method=(
        "`%fwdevices --peak --remeasure` for four frameworks in one process, round after round, and"
        " right after each the same work written by hand: products of 512, 1024 and 2048 rows, and"
        " 128 MiB of memory, the fastest run of each. Figures are medians over rounds."
    ),
    columns=(
        Column("peak", 10, "FLOP or bytes in a second, in billions",
               lambda r: f"{r['rate'] / 1e9:.1f}"),
        Column("by hand", 10, "the same, by hand", lambda r: f"{r['by hand'] / 1e9:.1f}"),
        Column("ratio", 6, "one over the other, in each round", lambda r: f"{r['ratio']:.2f}"),
        Column("apart", 7, "how far rounds are apart, relative to the best one",
               lambda r: f"{r['apart']:.1%}"),
        Column("by hand apart", 13, "the same, by hand", lambda r: f"{r['by hand apart']:.1%}"),
        Column("others", 7, "share of the CPUs that other programs took, in the worst round",
               lambda r: f"{r['others']:.0%}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("tensorflow",),
)  # fmt: skip
