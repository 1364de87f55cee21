"""The program of a call in JAX: found without computing, with static arguments found by trying."""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench import Graph
from ipyjaxbench.graphs.components import Uncounted
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.reports import html
from ipyjaxbench.usercode.snippet import Source
from tests.sanitiser import Page, assert_survives

X = jnp.ones((3, 4))


def flagged(x: Any, neg: Any) -> Any:
    return -x if neg else x


def first(x: Any, n: Any) -> Any:
    return x[:n]


def several(p: Any, *xs: Any, mode: str = "a", n: Any = 2) -> Any:
    return sum(xs) * p["w"] if n > 1 else xs[0]


@jax.tree_util.register_pytree_node_class
class Layer:
    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self, x: Any) -> Any:
        return x @ self.w

    def scaled(self, x: Any, by: Any) -> Any:
        return x @ self.w * by

    def tree_flatten(self) -> Any:
        return (self.w,), None

    @classmethod
    def tree_unflatten(cls, _: Any, children: Any) -> "Layer":
        return cls(*children)


NAMES = {
    "jax": jax, "jnp": jnp, "np": np, "functools": functools, "x": X, "flagged": flagged,
    "first": first, "several": several, "layer": Layer(jnp.ones((4, 2))), "h": np.ones((3, 4)),
    "loss": lambda w, x: jnp.tanh(x @ w).sum(), "w": jnp.ones((4, 2)),
    "jitted": jax.jit(flagged, static_argnames="neg"),
}  # fmt: skip


def graph(code: str, **options: Any) -> Graph:
    return trace_program(Source.plain(code), dict(NAMES), GraphOptions(**options))


@pytest.mark.parametrize(
    ("code", "static"),
    [("flagged(x, neg=True)", ("neg",)), ("jitted(x, neg=True)", ()), ("first(x, 2)", ("n",)),
     ("several({'w': 1.0}, 1.0, 2.0, n=3)", ("n",)), ("jnp.sum(x, axis=0)", ("axis",)),
     ("jnp.reshape(x, (4, 3))", ("shape",)), ("jnp.linspace(0, 1, 5)", ("num",)),
     ("x.sum(axis=0)", ()), ("layer.scaled(x, 2.0)", ()), ("jax.vmap(layer)(x)", ()),
     ("jax.value_and_grad(loss, argnums=1)(w, x)", ()),
     ("functools.partial(flagged, neg=False)(x)", ()), ("jnp.einsum('ij,kj->ik', x, x)", ()),
     ("jax.nn.relu(jax.ShapeDtypeStruct((2, 3), 'float32'))", ()),
     ("(lambda a: {'y': a, 'z': [a + 1]})(x)", ())],
)  # fmt: skip
def test_static_arguments_are_found_and_verified(code: str, static: tuple[str, ...]) -> None:
    assert graph(code).static_argnames == static


@pytest.mark.parametrize(
    ("code", "flops"),
    [
        ("x @ w", 2 * 3 * 4 * 2),
        ("jax.lax.scan(lambda c, _: (c @ c, None), x @ x.T, None, length=10)", 540),
        ("(lambda a: jax.lax.fori_loop(0, 10, lambda i, c: c @ c, a))(x @ x.T)", 10 * (54 + 1)),
        ("x.T", 0),
    ],
)
def test_operations_are_counted_with_every_turn_of_a_loop(code: str, flops: int) -> None:
    found = graph(code)
    assert found.flops == flops
    assert math.fsum(c.flops for c in found.stats) == found.flops
    # A loop's own counter is on no line of the user's.
    assert 0 <= found.flops - math.fsum(c.flops for c in found.lines) <= 10


def test_what_cannot_be_counted_is_told() -> None:
    found = graph("jax.lax.while_loop(lambda c: c < 3, lambda c: c + 1, 0)")
    assert found.uncounted == (Uncounted("turns"),)
    found = graph("jnp.sort(x)")
    assert found.uncounted == (Uncounted("operation", "sort"),)
    assert "  excludes sort\n" in str(found)
    found = graph("jax.lax.cond(x.sum() > 0, lambda: x @ w, lambda: x @ w + 1)")
    assert found.uncounted == (Uncounted("branch", "a cond"),)
    assert "  only the costliest branch of a cond\n" in str(found)


def test_inputs_have_the_names_of_arguments_and_paths() -> None:
    found = graph("several({'w': x}, x, 2.0, n=3)")
    assert [(v.name, v.dtype, v.shape) for v in found.inputs] == [
        ("p['w']", "float32", (3, 4)), ("xs[0]", "float32", (3, 4)), ("xs[1]", "float32", ()),
    ]  # fmt: skip
    assert {v.name: v.shape for v in graph("loss(x=x, w=w)").inputs} == {"x": (3, 4), "w": (4, 2)}
    assert [v.name for v in graph("layer(x)").inputs] == ["self[<flat index 0>]", "x"]
    assert [(v.dtype, v.shape, v.nbytes) for v in found.outputs] == [("float32", (3, 4), 48)]


def test_nothing_is_computed_and_captured_arrays_are_told() -> None:
    big = jnp.ones((600, 600))
    found = ipyjaxbench.graph(lambda x: x @ big, jnp.ones((2, 600)))
    assert [(v.shape, v.nbytes) for v in found.constants] == [((600, 600), 1_440_000)]
    assert "1 array, 1.37 MiB, f32[600,600]; part of" in str(found)
    traced: list[int] = []

    def body(x: Any) -> Any:
        traced.append(1)
        return x + 1

    compiled = jax.jit(body)
    compiled(X)
    assert (len(traced), compiled._cache_size()) == (1, 1)
    ipyjaxbench.graph(compiled, X)
    ipyjaxbench.graph(compiled, jnp.ones(7))
    assert compiled._cache_size() == 1
    with jax.no_tracing(True):
        compiled.trace(X)


@pytest.mark.parametrize(
    ("stage", "words"),
    [("jaxpr", "dot_general["), ("stablehlo", "stablehlo.dot_general"), ("hlo", "HloModule"),
     ("optimized", "HloModule")],
)  # fmt: skip
def test_every_stage_has_its_text(stage: str, words: str) -> None:
    found = graph("x @ w", stage=stage)
    assert words in found.program
    assert found.form == stage
    assert "metadata=" not in found.program
    assert __file__ not in found.program


def test_lines_can_be_searched_for_in_a_program_for_another_platform() -> None:
    found = graph("jnp.tanh(x @ w) + jnp.sin(x) @ w", find="tanh")
    (line,) = found.program.splitlines()
    assert "tanh" in line
    assert graph("x + 1", find="sin").program == "no line contains 'sin'"
    found = graph("jnp.tanh(x) @ w", stage="stablehlo", platform="tpu")
    assert "stablehlo.tanh" in found.program


def test_the_gradient_and_rows_of_a_call_are_shown() -> None:
    found = graph("loss(w, x)", grad=True)
    assert [(v.dtype, v.shape) for v in found.outputs] == [("float32", (4, 2))]
    found = graph("(lambda a, by: a.sum() * by)(x, 2.0)", vmap=True)
    assert [v.shape for v in found.outputs] == [(3,)]
    found = graph("(lambda a, b: a @ b)(x, 2 * x)", vmap=True)
    assert [v.shape for v in found.outputs] == [(3,)]


def test_the_record_reads_back_and_html_survives() -> None:
    found = graph("jax.grad(loss)(w, x)")
    assert Graph.from_dict(found.to_dict()) == found
    assert_survives(Page(html.render(found.report())))


@pytest.mark.parametrize(
    ("code", "primitives", "fixed"),
    [
        ("jax.lax.fori_loop(0, 10, lambda i, c: c * 2, x)", {"scan", "mul", "add"},
         ("lower", "upper", "body_fun")),
        ("jnp.power(x, 2)", {"integer_pow"}, ("x2",)),
        ("(lambda a, n: a**n)(x, 2)", {"convert_element_type", "pow"}, ()),
        ("jnp.sin(2)", {"convert_element_type", "sin"}, ()),
        ("jnp.clip(x, 0, 1)", {"convert_element_type", "jit", "max", "min"}, ()),
    ],
)  # fmt: skip
def test_a_number_that_makes_another_program_of_a_function_of_jax_is_fixed(
    code: str, primitives: set[str], fixed: tuple[str, ...]
) -> None:
    found = graph(code)
    assert {each.name.replace("pjit", "jit") for each in found.stats} == primitives  # before 0.7
    assert found.fixed == fixed


def test_a_folded_program_shows_what_it_captures_as_jax_does() -> None:
    def long(x: Any) -> Any:
        for _ in range(200):
            x = x + X
        return x

    found = ipyjaxbench.graph(long, X + 1)
    assert found.program.splitlines()[0] == "{ lambda a:f32[3,4]; b:f32[3,4]. let"
    assert found.program.splitlines()[1].strip() == "c:f32[3,4] = add b a"
    assert ipyjaxbench.graph(long, X[0]).text().startswith("{ lambda a:f32[3,4]; b:f32[4]. let")


@pytest.mark.parametrize(
    "code", ["flagged(x, float('nan'))", "jitted(x, neg=float('nan'))"]
)  # fmt: skip
def test_a_static_argument_that_equals_nothing_is_told(code: str) -> None:
    (note,) = graph(code).notes
    assert note.code == "static-nan"
    assert graph(code.replace("nan", "1")).notes == ()
