"""The program of a call in JAX: found without computing, with static arguments found by trying."""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench import Graph, SnippetError, UntraceableError
from ipyjaxbench.adapters.jax.graphs.arguments import holds_itself, is_leaf, unbind_method
from ipyjaxbench.graphs.counts import Uncounted
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.call import Call
from ipyjaxbench.usercode.snippet import Source

X = jnp.ones((3, 4))


def flagged(x: Any, neg: Any) -> Any:
    return -x if neg else x


def first(x: Any, n: Any) -> Any:
    return x[:n]


def several(p: Any, *xs: Any, mode: str = "a", n: Any = 2) -> Any:
    return sum(xs) * p["w"] if n > 1 else xs[0]


@jax.tree_util.register_pytree_node_class
class Layer:
    """A tree with an array, and what may be none."""

    def __init__(self, w: Any, kind: Any = None) -> None:
        self.w, self.kind = w, kind

    def __call__(self, x: Any) -> Any:
        return x @ self.w

    def scaled(self, x: Any, by: Any = 2) -> Any:
        return x @ self.w * by

    def tree_flatten(self) -> Any:
        return (self.w, self.kind), None

    @classmethod
    def tree_unflatten(cls, _: Any, children: Any) -> "Layer":
        return cls(*children)


NAMES = {
    "jax": jax, "jnp": jnp, "np": np, "functools": functools, "x": X, "flagged": flagged,
    "first": first, "several": several, "layer": Layer(jnp.ones((4, 2))), "h": np.ones((3, 4)),
    "loss": lambda w, x: jnp.tanh(x @ w).sum(), "w": jnp.ones((4, 4)),
    "jitted": jax.jit(flagged, static_argnames="neg"),
}  # fmt: skip


def graph(code: str, **options: Any) -> Graph:
    return trace_program(Source.plain(code), dict(NAMES), GraphOptions(**options))


@pytest.mark.parametrize(
    ("code", "static"),
    [("flagged(x, neg=True)", ("neg",)), ("first(x, 2)", ("n",)),
     ("several({'w': 1.0}, 1.0, 2.0, n=3)", ("n",)), ("jnp.sum(x, axis=0)", ("axis",)),
     ("jnp.reshape(x, (4, 3))", ("shape",)), ("jnp.linspace(0, 1, 5)", ("num",)),
     ("layer.scaled(x, 2.0)", ()), ("jax.vmap(layer)(x)", ()),
     ("functools.partial(flagged, neg=False)(x)", ()), ("jnp.einsum('ij,kj->ik', x, x)", ()),
     ("jax.nn.relu(jax.ShapeDtypeStruct((2, 3), 'float32'))", ())],
)  # fmt: skip
def test_static_arguments_are_found_and_verified(code: str, static: tuple[str, ...]) -> None:
    assert graph(code).static_argnames == static


@pytest.mark.parametrize(
    ("code", "flops"),
    [
        ("x @ w", 2 * 3 * 4 * 4),
        ("(lambda a: jax.lax.fori_loop(0, 10, lambda i, c: c @ c, a))(x @ x.T)", 10 * (54 + 1)),
    ],
)
def test_operations_are_counted_with_every_turn_of_a_loop(code: str, flops: int) -> None:
    found = graph(code)
    assert found.flops == flops
    assert math.fsum(c.flops for c in found.stats) == found.flops
    # A loop's own counter is on no line of the user's.
    assert 0 <= found.flops - math.fsum(c.flops for c in found.lines) <= 10


def test_what_a_function_has_static_already_is_not_told_again() -> None:
    for code in ("jitted(x, neg=True)", "jitted(x, True)"):
        found = graph(code)
        assert (found.static_argnames, found.fixed) == ((), ("neg",))
        assert "static_argnames" not in str(found)


def test_what_cannot_be_counted_is_told() -> None:
    for code, what in (
        ("jax.lax.while_loop(lambda c: c < 3, lambda c: c + 1, 0)", Uncounted("turns")),
        ("jnp.sort(x)", Uncounted("operation", "sort")),
        ("jax.lax.cond(x.sum() > 0, lambda: x @ w, lambda: x)", Uncounted("branch", "a cond")),
    ):
        assert graph(code).uncounted == (what,)


def test_inputs_have_the_names_of_arguments_and_paths() -> None:
    found = graph("several({'w': x}, x, 2.0, n=3)")
    assert [(v.name, v.dtype, v.shape) for v in found.inputs] == [
        ("p['w']", "float32", (3, 4)), ("xs[0]", "float32", (3, 4)), ("xs[1]", "float32", ()),
    ]  # fmt: skip
    assert {v.name: v.shape for v in graph("loss(x=x, w=w)").inputs} == {"x": (3, 4), "w": (4, 4)}
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


def test_every_stage_has_its_text_also_for_another_platform() -> None:
    for stage, platform, words in (
        ("stablehlo", None, "stablehlo.tanh"), ("stablehlo", "tpu", "stablehlo.tanh"),
        ("hlo", None, "HloModule"), ("optimized", None, "HloModule"),
    ):  # fmt: skip
        found = graph("jnp.tanh(x) @ w", stage=stage, platform=platform)
        assert found.form == stage
        assert words in found.program
        assert "metadata=" not in found.program
        assert __file__ not in found.program


def test_the_gradient_and_rows_of_a_call_are_shown() -> None:
    for code in ("loss(w, x)", "(lambda function, v: function(v).sum())(jnp.sin, w)"):
        found = graph(code, grad=True)
        assert [(v.dtype, v.shape) for v in found.outputs] == [("float32", (4, 4))]
    for code in ("(lambda a, by: a.sum() * by)(x, 2.0)", "(lambda a, b: a @ b)(x, 2 * x)"):
        assert [v.shape for v in graph(code, vmap=True).outputs] == [(3,)]
    of_rows = graph("(lambda a, by: (a**2).sum() * by)(x, 2.0)", vmap=True, grad=True)
    assert [v.shape for v in of_rows.outputs] == [v.shape for v in of_rows.inputs[:1]]


@pytest.mark.parametrize("key", ["jax.random.key(0)", "jax.random.PRNGKey(0)", "3", "{'n': 3}"])
def test_a_random_key_or_an_integer_is_not_what_the_gradient_is_of(key: str) -> None:
    found = graph(f"(lambda key, a, b: (a**2).sum() * b)({key}, x, 2.0)", grad=True)
    assert [v.shape for v in found.outputs] == [v.shape for v in found.inputs if v.name == "a"]
    with pytest.raises(UntraceableError, match="real- or complex-valued"):
        graph(f"(lambda key: 2)({key})", grad=True)


def test_a_number_that_makes_another_program_of_a_function_of_jax_is_fixed() -> None:
    loop = "jax.lax.fori_loop(0, 10, lambda i, c: c * 2, x)"
    for code, primitives, fixed in (
        (loop, {"scan", "mul", "add"}, ("lower", "upper", "body_fun")),
        ("jnp.power(x, 2)", {"integer_pow"}, ("x2",)),
        ("(lambda a, n: a**n)(x, 2)", {"convert_element_type", "pow"}, ()),
    ):
        found = graph(code)
        assert ({each.name for each in found.stats}, found.fixed) == (primitives, fixed)


def test_a_folded_program_shows_what_it_captures_as_jax_does() -> None:
    def long(x: Any) -> Any:
        for _ in range(200):
            x = x + X
        return x

    found = ipyjaxbench.graph(long, X + 1)
    assert found.program.splitlines()[0] == "{ lambda a:f32[3,4]; b:f32[3,4]. let"
    assert found.program.splitlines()[1].strip() == "c:f32[3,4] = add b a"
    assert ipyjaxbench.graph(long, X[0]).text().startswith("{ lambda a:f32[3,4]; b:f32[4]. let")


def test_a_static_argument_that_equals_nothing_is_told() -> None:
    for code in ("flagged(x, float('nan'))", "jitted(x, neg=float('nan'))"):
        (note,) = graph(code).notes
        assert note.code == "static-nan"
        assert graph(code.replace("nan", "1")).notes == ()


# What of the arguments is data, and what is fixed


class Plain:
    def method(self, x: Any) -> Any:
        return x


class Converts:
    def __jax_array__(self) -> Any:
        return X


def test_data_is_what_jax_computes_with() -> None:
    of_numpy, shape = (np.ones(2), np.float32(1), np.array([True])), jax.ShapeDtypeStruct((2,), int)
    assert all(map(is_leaf, (True, 2, 2.0, 1j, X, shape, Converts(), *of_numpy)))
    dtypes = np.array(["a"]), np.array([b"a"]), np.array([None]), np.array(["2020"], "M8[D]")
    assert not any(map(is_leaf, (*dtypes, np.array([1], "m8[s]"), "a", None, Plain())))


def test_a_method_of_a_tree_of_arrays_takes_that_tree() -> None:
    layer = Layer(X.T, "relu")
    call = unbind_method(Call.from_function(layer.scaled, X))
    assert (call.function, call.args, call.labels) == (Layer.scaled, (layer, X), ("self", "x"))
    call = unbind_method(Call.from_function(layer, X))
    assert (call.function, call.args, call.labels) == (Layer.__call__, (layer, X), ("self", "x"))
    for function in (jnp.sin, Plain().method, jax.jit(layer.scaled)):
        call = Call.from_function(function, X)
        assert unbind_method(call) is call  # any other stays as it is


def test_what_contains_itself_or_is_nested_too_deeply_is_refused() -> None:
    inside: dict[str, Any] = {}
    inside["a"] = [1, (inside,)]
    twice = [1]
    assert holds_itself(inside)
    assert not holds_itself([twice, twice])
    deep: Any = 1
    for _ in range(201):
        deep = [deep]
    assert ipyjaxbench.graph(lambda x, y: x, X, deep).operations == 0
    for depth in (1, 3000):
        for _ in range(depth):
            deep = [deep]
        with pytest.raises(SnippetError, match="y contains itself, or is nested too deeply"):
            ipyjaxbench.graph(lambda x, y: x, X, deep)


def test_parts_that_are_no_data_are_fixed_and_up_to_three_are_named() -> None:
    def first(x: Any, parts: Any) -> Any:
        return x * parts[0]

    assert ipyjaxbench.graph(first, X, [2.0, *"abc"]).fixed == ("parts[1]", "parts[2]", "parts[3]")
    assert ipyjaxbench.graph(first, X, [2.0, *"abcd"]).fixed == ("4 parts of parts",)
    assert ipyjaxbench.graph(lambda x, rest: x, X, ("a",)).fixed == ("rest",)


def test_that_jit_refuses_a_tree_is_said_of_functions_and_not_of_methods() -> None:
    def applied(layer: Any, x: Any) -> Any:
        return layer(x)

    layer = Layer(X.T, "relu")
    (note,) = ipyjaxbench.graph(applied, layer, X).notes
    assert note.code == "mixed-tree"
    for found in (ipyjaxbench.graph(Layer.scaled, layer, X), ipyjaxbench.graph(layer, X)):
        assert found.notes == ()
        assert found.fixed == ("self[<flat index 1>]",)
