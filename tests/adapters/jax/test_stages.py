"""What a graph can still tell after it was shown: stages, memory, what XLA counts and why."""

import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench import Graph, OptionError, SnippetError
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_call
from ipyjaxbench.reports.blocks import Facts
from ipyjaxbench.usercode.call import Call

X = jnp.ones((64, 64))


def graph(function: Any, *args: Any, **options: Any) -> Graph:
    return trace_call(Call.from_function(function, *args), GraphOptions(**options))


def reason_of(found: Graph) -> str:
    """Why XLA counts something else, as the report says it."""
    (rows,) = (block.rows for block in found.report().blocks if isinstance(block, Facts))
    return dict(rows)["compiled"].partition(". ")[2]


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: x @ x, ""),
        (lambda x: jax.lax.scan(lambda c, _: (c @ x, None), x, None, length=1000)[0],
         ("The program has 524 MFLOP: 524 MFLOP in later iterations (XLA counts a"
         " loop's body once).")),
        (lambda x: (x @ x, x + 1)[1],
         "The program has 528 kFLOP: 524 kFLOP in unused results, which XLA removes."),
        (jnp.sort, "The program has 0 FLOP, not counting sort."),
        (lambda x: jax.lax.fori_loop(0, 10, lambda _, c: c * 2, x[0, 0]), ""),
    ],
)  # fmt: skip
def test_where_xla_counts_otherwise_the_reason_is_told(function: Any, why: str) -> None:
    found = graph(function, X, stats=True)
    assert reason_of(found) == why
    assert Graph.from_dict(found.to_dict()).compiled == found.compiled


def test_every_stage_can_be_had_afterwards_and_whole() -> None:
    def deep(x: Any) -> Any:
        for _ in range(300):
            x = jnp.tanh(x)
        return x

    found = graph(deep, X)
    assert found.program.count("tanh") < 100
    assert found.text().count("tanh") == 300
    assert found.text("stablehlo").count("stablehlo.tanh") == 300
    assert "HloModule" in found.text("optimized")
    with pytest.raises(OptionError, match="stage 'aten': JAX has jaxpr, stablehlo"):
        found.text("aten")


def halved(x: Any) -> Any:
    return jnp.where(x > 0, x, x / 2)


def quartered(x: Any) -> Any:
    return jnp.where(x > 0, x, x / 4)


def test_lines_are_those_of_the_users_code_that_call_also_into_libraries() -> None:
    for function in (halved, quartered):
        (line,) = graph(function, X).lines
        assert line.line == function.__code__.co_firstlineno + 1
        assert {"select_n", "jit", "div", "gt"} >= {*line.parts} >= {"select_n", "div"}
    assert graph(jnp.sort, X).lines == ()


def test_differences_of_complex_numbers_have_a_reason_and_others_none() -> None:
    found = graph(lambda key: jax.random.normal(key, (64, 64)), jax.random.key(0), stats=True)
    words = r"The program has 24.6 kFLOP; XLA adds \S+ kFLOP, for unknown reasons\."
    assert re.fullmatch(words, reason_of(found))
    found = graph(lambda x: x @ x, X.astype(complex), stats=True)
    assert found.flops == 8 * 64**3
    assert reason_of(found).endswith(
        "in complex arithmetic (XLA counts a complex operation as one)."
    )


def test_what_is_captured_is_no_value_in_between() -> None:
    found = graph(lambda x: x * jax.eval_shape(lambda v: v @ v, x).shape[0], X)
    assert found.constants == ()
    with pytest.raises(SnippetError, match="is only the shape of an array and computes nothing"):
        graph(lambda x: jax.eval_shape(lambda v: v @ v, x), X)
