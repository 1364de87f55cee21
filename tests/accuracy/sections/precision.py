"""How steady the figure is for the time that it takes, against waiting by hand in `%timeit`."""

import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import combinations

from tests.accuracy import peer_looks
from tests.accuracy.case import Case
from tests.accuracy.looks import ours, truth
from tests.accuracy.section import Column, Row, Section

_TARGETS = (50e-6, 1e-3, 10e-3)
_PER_ROUND, _LEAST = 3, 9
_BAR = 4.0
_SETUP = """
import jax, jax.numpy as jnp
side = 32 if jax.default_backend() == "cpu" else 256
x = jax.random.normal(jax.random.key(0), (side, side)) / side**0.5
@jax.jit
def f(x, turns):
    return jax.lax.fori_loop(0, turns, lambda _, a: jnp.tanh(a @ x), x)
turns = jnp.int32(1)
f(x, turns).block_until_ready()
"""


def spread(figures: Sequence[float]) -> float:
    """The relative spread that one outlier does not change.

    Qn of the logarithms: 2.22 times a low quantile of the distances between all pairs
    (Rousseeuw and Croux 1993).

    >>> round(spread([1.00, 1.01, 1.02, 1.03, 1.04, 9.0]), 3)
    0.044
    """
    distances = sorted(abs(math.log(a / b)) for a, b in combinations(figures, 2))
    half = len(figures) // 2 + 1
    return 2.2219 * distances[math.comb(half, 2) - 1]


def _sized(target: float) -> tuple[Case, dict]:
    """A jitted expression that takes about so many seconds, and its namespace."""
    case = Case("", "f(x, turns)", "f(x, turns).block_until_ready()", _SETUP)
    names = case.names()
    number = names["jnp"].int32
    turns = 1
    while truth(case, names) < target / 2 and turns < 10**7:
        turns *= 4
        names["turns"] = number(turns)
    names["turns"] = number(max(1, round(turns * target / truth(case, names))))
    return case, names


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each size; ours and theirs take turns, so that both see the same machine."""
    peer_looks.start()
    repetitions = max(_PER_ROUND * rounds, _LEAST)
    for target in _TARGETS:
        case, names = _sized(target)
        by_hand = Case("", case.truth)
        looks = {"ours": [], "theirs": []}
        for _ in range(repetitions):
            looks["ours"].append(ours(case, names))
            looks["theirs"].append(peer_looks.look_of("%timeit", by_hand, names))
        row = {"group": group, "name": f"about {target * 1e3:g} ms", "truth": truth(case, names)}
        for who, found in looks.items():
            row[f"{who} spread"] = spread([look.figure for look in found])
            row[f"{who} spent"] = statistics.median(look.spent for look in found)
        yield {**row, "repetitions": repetitions}


def _steadier(row: Row) -> float:
    return row["theirs spread"] / row["ours spread"]


def _sooner(row: Row) -> float:
    return row["theirs spent"] / row["ours spent"]


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    least = min(_steadier(row) * _sooner(row) for row in rows)
    verdict = "reached" if least >= _BAR else "NOT REACHED"
    yield f"The least factor is {least:.1f}; at least {_BAR:g} is wanted: {verdict}."


PRECISION = Section(
    name="precision",
    title="How steady is the figure for the time that it takes?",
    method=(
        "Three jitted JAX expressions. `%fwtime f(x, turns)` and `%timeit f(x,"
        " turns).block_until_ready()` take turns, so that both see the same machine. The spread is"
        " of the figures over all repetitions, in a way that one outlier does not change (Qn of"
        " their logarithms). It is multiplied with the seconds that an answer takes."
    ),
    columns=(
        Column("truth, µs", 10, "microseconds per call", lambda r: f"{r['truth'] * 1e6:.1f}"),
        Column("ours ±", 7, "spread of our figures", "{ours spread:.2%}"),
        Column("ours, s", 8, "seconds that one takes", "{ours spent:.2f}"),
        Column("%timeit ±", 9, "spread of its figures", "{theirs spread:.2%}"),
        Column("%timeit, s", 10, "seconds that one takes", "{theirs spent:.2f}"),
        Column("steadier", 8, "its spread divided by ours", lambda r: f"{_steadier(r):.1f}x"),
        Column("sooner", 7, "its seconds divided by ours", lambda r: f"{_sooner(r):.1f}x"),
        Column("both", 7, "the product of the two", lambda r: f"{_steadier(r) * _sooner(r):.1f}x"),
        Column("repetitions", 11, "of each", "{repetitions}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("jax",),
)
