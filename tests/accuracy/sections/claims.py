"""Whether what reports say about a framework's speed is so: were it not, they must not say it."""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence

import ipyjaxbench
from tests.accuracy.section import Column, Row, Section, counted

#: For each group: the claim, and between what its figure has to be.
_CLAIMS = {
    "numpy": ("whole over half a product", 1.15, math.inf),
    "jax": ("share of the peak, a product", 0.5, 1.15),
}


def _whole_over_half() -> float:
    """The note that half of a product is computed."""
    import numpy as np

    x = np.random.default_rng(0).random((600, 600), np.float32)
    copy = x.T.copy()
    arms = {"half": lambda: x @ x.T, "whole": lambda: x @ copy}
    ratio = ipyjaxbench.compare(arms, budget=2).ratio("whole")
    return math.nan if ratio is None else ratio.value


def _share_of_peak() -> float:
    """The line that tells how near a call comes to its device's peaks; NaN where there is none.

    A peak is not kept that was measured while other programs had the CPUs.
    """
    import jax
    import jax.numpy as jnp

    names = {"f": jax.jit(lambda x: x @ x), "x": jnp.ones((2000, 2000))}
    names["f"](names["x"]).block_until_ready()
    ipyjaxbench.peaks(remeasure=True)
    reached = ipyjaxbench.measure_code("f(x)", names).roof
    return reached.share if reached is not None and reached.of == "matmul peak" else math.nan


_FIGURES: dict[str, Callable[[], float]] = {"numpy": _whole_over_half, "jax": _share_of_peak}


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for the claim."""
    name, least, most = _CLAIMS[group]
    figure = statistics.median(_FIGURES[group]() for _ in range(rounds))
    row: Row = {"group": group, "name": name, "figure": figure, "least": least, "most": most}
    yield {**row, "left_out": "no figure; on a busy machine?"} if math.isnan(figure) else row


def is_right(row: Row) -> bool:
    """Whether the figure is where the claim puts it."""
    return bool(row["least"] <= row["figure"] <= row["most"])


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    yield counted(rows, is_right, "claims are right")


CLAIMS = Section(
    name="claims",
    title="Is it so what reports say about a framework's speed?",
    method=(
        "NumPy computes half of `x @ x.T`, as a note says: the same product with a copy of `x.T`"
        " takes longer. A jitted product of 2,000 rows comes near to the peak that"
        " `%fwdevices --peak` measures, and not beyond it. Figures are medians over rounds."
    ),
    columns=(
        Column("figure", 7, "of the claim", "{figure:.2f}"),
        Column("least", 6, "that it has to be", "{least:.2f}"),
        Column("most", 6, "that it may be", "{most:.2f}"),
        Column("verdict", 8, "whether it is", lambda r: "ok" if is_right(r) else "WRONG"),
    ),
    summary=_summary,
    measure=measure,
    groups=tuple(_CLAIMS),
)
