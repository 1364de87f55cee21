"""The text of a jaxpr that is folded: its lines, its parameters, and how deep it goes."""

import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from ipyjaxbench.adapters.jax.graphs import tracer
from ipyjaxbench.adapters.jax.graphs.listing import text_of

X = jnp.ones(10)


def lines(function: Any, *args: Any, depth: int = 0) -> list[str]:
    """The equations, without what stands around them."""
    text = text_of(jax.make_jaxpr(function)(*args), depth)
    return [line.strip() for line in text.splitlines() if " = " in line]


def sines(turns: int) -> Any:
    def function(x: Any) -> Any:
        for _ in range(turns):
            x = jnp.sin(x)
        return x

    return function


inner = jax.jit(lax.cos)
middle = jax.jit(lambda x: inner(lax.tan(x)))
outer = jax.jit(lambda x: middle(lax.sin(x)))


@pytest.mark.parametrize(
    ("depth", "names"),
    [(0, {"jit"}), (1, {"jit", "sin"}), (2, {"jit", "sin", "tan"}),
     (3, {"jit", "sin", "tan", "cos"}), (9, {"jit", "sin", "tan", "cos"})],
)  # fmt: skip
def test_so_many_levels_of_inner_programs_are_shown(depth: int, names: set[str]) -> None:
    shown = lines(outer, X, depth=depth)
    called = {line.partition(" = ")[2].partition("[")[0].split()[0] for line in shown}
    assert {name.replace("pjit", "jit") for name in called} == names
    hidden = [line for line in shown if "equation" in line]
    # The calls of the inner functions count as equations of their own.
    counts = [f"(... {count} equations)" for count in (5, 3, 1)][depth : depth + 1]
    assert [line[line.index("(...") :].rpartition(" ")[0] for line in hidden] == counts


def test_inner_programs_are_indented_and_results_that_nothing_uses_have_no_name() -> None:
    text = text_of(jax.make_jaxpr(outer)(X), 2).splitlines()
    pads = {line.split(" = ")[1].split()[0]: len(line) - len(line.lstrip()) for line in text
            if " = " in line and "[" not in line.split(" = ")[1]}  # fmt: skip
    assert pads == {"sin": 8, "tan": 12}
    (line,) = lines(lambda x: lax.top_k(x, 2)[1], X)
    assert line.startswith("_:f32[2] b:i32[2] = top_k[")


def test_names_are_those_that_jax_gives() -> None:
    def function(x: Any) -> Any:
        y, _ = lax.fori_loop(0, 3, lambda i, v: (v[0] + i, v[1] * 2.5), (x, x))
        return y - 1, lax.top_k(y, 2)[0]

    closed = jax.make_jaxpr(function)(X)
    names = re.compile(r"\b([a-z_]+):[a-z]+\d*\[")
    of_jax = [*names.findall(text_of(closed, None))]
    assert [*names.findall(text_of(closed, 9))] == of_jax
    assert of_jax.count("_") == 3


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (lax.cumsum, "b:f32[10] = cumsum[axis=0] a"),
        (lambda x: x * 2, "b:f32[10] = mul a 2.0"),
        (lambda x: lax.integer_pow(x, 3), "b:f32[10] = integer_pow[y=3] a"),
        (jax.jit(sines(1)), "b:f32[10] = jit[function] (... 1 equations) a"),
        (lambda x: x.sum(), "b:f32[] = reduce_sum[axes=(0,)] a"),
        (lambda x: lax.fori_loop(0, 3, lambda _, v: v + 1, x),
         "_:i32[] b:f32[10] = scan (... 2 equations) 0 a"),
    ],
)  # fmt: skip
def test_an_equation_shows_its_name_and_plain_parameters(function: Any, shown: str) -> None:
    assert lines(function, X)[-1].replace("pjit", "jit") == shown


@pytest.mark.parametrize(("n", "is_shown"), [(10, True), (100, False)])
def test_a_parameter_is_shown_up_to_40_characters(n: int, is_shown: bool) -> None:
    shape = (10,) * (2 if n == 100 else 1) + (1,) * (11 if n == 100 else 12)
    assert len(str(shape)) == (40 if is_shown else 41)
    (line,) = lines(lambda x: lax.reshape(x, shape), jnp.ones(n))
    assert (f"new_sizes={shape}" in line) is is_shown


def test_of_many_equations_the_first_40_and_the_last_10_are_shown() -> None:
    assert len(lines(sines(50), X)) == 50
    assert len(lines(sines(51), X)) == 50
    text = text_of(jax.make_jaxpr(sines(51))(X), 0).splitlines()
    assert text[41].strip() == "... 1 more equations (.text() has all) ..."
    assert text[42].strip() == "aq:f32[10] = sin ap"


@pytest.mark.parametrize(("operations", "depth", "is_whole"), [
    (100, 1, True), (101, 1, False), (100, None, True), (101, None, True),
])  # fmt: skip
def test_up_to_100_equations_are_shown_as_jax_prints_them(
    operations: int, depth: int | None, is_whole: bool
) -> None:
    closed = jax.make_jaxpr(sines(operations))(X)
    text = tracer._jaxpr_text(closed, operations, depth)
    assert ("more equations" not in text) is is_whole


@pytest.mark.parametrize(("turns", "is_whole"), [(118, True), (119, False)])
def test_up_to_120_lines_of_few_equations_are_shown_as_jax_prints_them(
    turns: int, is_whole: bool
) -> None:
    closed = jax.make_jaxpr(sines(turns))(X)  # a line before, a line after
    text = tracer._jaxpr_text(closed, 100, 1)
    assert ("more equations" not in text) is is_whole
    assert "more equations" not in tracer._jaxpr_text(closed, 100, None)
