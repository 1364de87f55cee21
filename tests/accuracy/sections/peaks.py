"""Whether peaks are what the same work reaches by hand, again and again, and in what time."""

import importlib
import operator
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ipyjaxbench
from tests.accuracy.looks import spent as timed
from tests.accuracy.section import Column, Row, Section, reached

_SIDES = (512, 1024, 2048)
_NUMBERS = 2**25  # float32; they fill 128 MiB
_EACH = 0.25  # seconds for each piece of work by hand
_WANTED, _REACHED, _REPEATS = 10.0, 0.9, 0.1
_QUIET = 0.1

#: By framework, of code that sees ``n``, ``dtype`` and the framework as ``lib``: a product of two
#: matrices, work on a whole array, dtypes of products, and bytes that the work moves for a number.
_BY_HAND: dict[str, tuple[str, str, tuple[str, ...], int]] = {
    "numpy": (
        "x = lib.ones((n, n), dtype)\nrun = lambda: x @ x",
        "x = lib.ones(n, dtype)\nrun = lambda: lib.negative(x, out=x)",
        ("float32", "float64"), 8,
    ),
    "jax": (
        ("x, f = lib.numpy.ones((n, n), dtype), lib.jit(lambda x: x @ x)\n"
         "run = lambda: f(x).block_until_ready()"),
        ("x, f = [lib.numpy.ones(n, dtype)], lib.jit(lambda x: -x, donate_argnums=0)\n"
         "def run(): x[0] = f(x[0]).block_until_ready()"),
        ("float32", "bfloat16"), 8,
    ),
    "torch": (
        "x = lib.ones(n, n, dtype=getattr(lib, dtype))\nrun = lambda: x @ x",
        "run = lib.ones(n).neg_",
        ("float32", "float64", "bfloat16"), 8,
    ),
    "tensorflow": (
        "x = lib.ones((n, n), dtype)\nrun = lambda: lib.matmul(x, x)",
        "x = lib.ones(n)\nrun = lambda: lib.reduce_sum(x)",
        ("float32", "float64", "bfloat16"), 4,
    ),
}  # fmt: skip


def _made(framework: str, figure: str, n: int) -> Callable[[], Any]:
    """What runs a product of matrices of so many rows, or of a whole array."""
    product, memory, *_ = _BY_HAND[framework]
    code, dtype = (memory, "float32") if figure == "memory" else (product, figure)
    names: dict[str, Any] = {"lib": importlib.import_module(framework), "n": n, "dtype": dtype}
    exec(code, names)
    run: Callable[[], Any] = names["run"]
    return run


def _rate(framework: str, figure: str) -> float:
    """The best that is reached by hand."""
    if figure == "memory":
        return _BY_HAND[framework][3] * _NUMBERS / _fastest(_made(framework, figure, _NUMBERS))
    return max(2 * n**3 / _fastest(_made(framework, figure, n)) for n in _SIDES)


def _fastest(run: Callable[[], Any]) -> float:
    run()
    taken: list[float] = []
    end = time.perf_counter() + _EACH
    while len(taken) < 2 or time.perf_counter() < end:
        taken.append(timed(run)[1])
    return min(taken)


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each framework and figure."""
    for name in _BY_HAND:
        _made(name, "float32", 8)()  # so that all have started
    ours: dict[tuple[str, str], list[float]] = {}
    theirs: dict[tuple[str, str], list[float]] = {}
    others: dict[str, list[float]] = {}
    spent: list[float] = []
    for _ in range(rounds):
        measured, seconds = timed(lambda: ipyjaxbench.peaks(remeasure=True).found)
        spent.append(seconds)
        found = {each.framework: each for each in measured}
        for name, (*_, dtypes, _moved) in _BY_HAND.items():
            others.setdefault(name, []).append(found[name].others)
            time.sleep(_EACH)  # threads of another framework let go of the CPUs
            for figure in (*dtypes, "memory"):
                one = found[name].products.get(figure, found[name].bandwidth)
                assert one is not None
                ours.setdefault((name, figure), []).append(one)
                theirs.setdefault((name, figure), []).append(_rate(name, figure))
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
    met = reached(spent <= _WANTED)
    yield f"All of them take {spent:.1f} s. At most {_WANTED:g} s wanted: {met}."
    least = min(rows, key=lambda row: row["ratio"])
    share = least["ratio"]
    yield (
        f"The least is {share:.0%} of what is reached by hand, {least['name']}."
        f" At least {_REACHED:.0%} wanted: {reached(share >= _REACHED)}."
    )
    quiet = [row for row in rows if row["others"] <= _QUIET]
    worst = max(quiet, key=lambda row: row["apart"], default=None)
    if worst is None:
        yield "Other programs took CPUs in all rounds: how well figures repeat cannot be told."
    else:
        yield (
            f"While other programs took at most {_QUIET:.0%} of the CPUs, figures repeat to"
            f" {worst['apart']:.1%}, {worst['name']} ({len(quiet)} of {len(rows)} rows)."
            f" At most {_REPEATS:.0%} wanted: {reached(worst['apart'] <= _REPEATS)}."
        )


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
        Column("ratio", 6, "one over the other, in each round", "{ratio:.2f}"),
        Column("apart", 7, "how far rounds are apart, relative to the best one", "{apart:.1%}"),
        Column("by hand apart", 13, "the same, by hand", "{by hand apart:.1%}"),
        Column("others", 7, "share of the CPUs that other programs took, in the worst round",
               "{others:.0%}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("tensorflow",),
)  # fmt: skip
