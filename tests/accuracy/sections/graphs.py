"""What it takes to show the graph of a large program."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ipyjaxbench
from ipyjaxbench.reports import html
from tests.accuracy.looks import spent
from tests.accuracy.section import Column, Row, Section, label, reached

_BAR, _MOST_LINES, _MOST_KB = 1.5, 200, 300
_EQUATIONS = 10_000


def _programs() -> dict[str, tuple[Callable[..., Any], Any]]:
    """Programs of about ten thousand equations, each built in another way."""
    import jax
    import jax.numpy as jnp

    def chain(x: Any) -> Any:
        for _ in range(_EQUATIONS // 2):
            x = jnp.tanh(x) + x
        return x

    def layers(x: Any) -> Any:
        for _ in range(_EQUATIONS // 3):
            x = jax.nn.relu(x @ x)
        return x

    def backwards(x: Any) -> Any:
        def loss(v: Any) -> Any:
            for _ in range(_EQUATIONS // 8):
                v = jnp.sin(v) @ v
            return v.sum()

        return jax.grad(loss)(x)

    x = jnp.ones((8, 8))
    return {"chain": (chain, x), "layers": (layers, x), "backwards": (backwards, x)}


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each program."""
    import jax

    for name, (function, x) in _programs().items():

        def by_jax(function: Any = function, x: Any = x) -> object:
            return str(jax.make_jaxpr(function)(x))

        def by_us(function: Any = function, x: Any = x) -> object:
            return ipyjaxbench.graph(function, x)._repr_mimebundle_()

        plain, ours = [], []
        for _ in range(rounds + 1):
            jax.clear_caches()
            plain.append(spent(by_jax)[1])
            jax.clear_caches()
            ours.append(spent(by_us)[1])
        graph = ipyjaxbench.graph(function, x)
        yield {
            "group": group,
            "name": name,
            "equations": graph.operations,
            "plain": statistics.median(plain[1:]),
            "ours": statistics.median(ours[1:]),
            "ratio": statistics.median(o / p for o, p in zip(ours[1:], plain[1:], strict=True)),
            "lines": len(str(graph).splitlines()),
            "kilobytes": len(html.render(graph.report())) / 1000,
        }


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    slowest = max(rows, key=lambda row: row["ratio"])
    verdict = reached(slowest["ratio"] <= _BAR)
    yield (
        f"At most {slowest['ratio']:.2f} times the time of make_jaxpr and str,"
        f" {label(slowest)}; {_BAR} wanted: {verdict}."
    )
    lines, kilobytes = (max(row[key] for row in rows) for key in ("lines", "kilobytes"))
    verdict = reached(lines < _MOST_LINES and kilobytes < _MOST_KB)
    yield (
        f"At most {lines} lines and {kilobytes:.0f} kB of HTML; under {_MOST_LINES} and"
        f" {_MOST_KB} wanted: {verdict}."
    )


GRAPHS = Section(
    name="graphs",
    title="What does it take to show a large program?",
    method=(
        "Programs of about ten thousand equations. Traced, counted and rendered as text, HTML and"
        " record by us; traced and turned into text by jax.make_jaxpr and str. In turns, with"
        " JAX's caches emptied before each; the first round is left out."
    ),
    columns=(
        Column("equations", 9, "in the program", "{equations:,}"),
        Column("JAX, s", 6, "make_jaxpr and str", "{plain:.2f}"),
        Column("ours, s", 7, "all of %jaxpr", "{ours:.2f}"),
        Column("ratio", 5, "ours by JAX's, the median", "{ratio:.2f}"),
        Column("lines", 5, "of the text", "{lines}"),
        Column("kB", 4, "of HTML", "{kilobytes:.0f}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("jax",),
)
