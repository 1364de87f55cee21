"""What of a call's arguments is data, and what is fixed while it is traced."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench import SnippetError
from ipyjaxbench.adapters.jax.graphs.arguments import holds_itself, is_leaf, unbind_method
from ipyjaxbench.usercode.call import Call

X = jnp.ones((3, 4))


class Converts:
    def __jax_array__(self) -> Any:
        return X


@jax.tree_util.register_pytree_node_class
class Layer:
    """A tree with an array, and what is none."""

    def __init__(self, w: Any, kind: Any = "relu") -> None:
        self.w, self.kind = w, kind

    def __call__(self, x: Any) -> Any:
        return x @ self.w

    def scaled(self, x: Any) -> Any:
        return 2 * (x @ self.w)

    def tree_flatten(self) -> Any:
        return (self.w, self.kind), None

    @classmethod
    def tree_unflatten(cls, _: Any, children: Any) -> "Layer":
        return cls(*children)


class Plain:
    def method(self, x: Any) -> Any:
        return x


@pytest.mark.parametrize(
    ("value", "is_data"),
    [
        (True, True), (2, True), (2.0, True), (1j, True), (X, True),
        (jax.ShapeDtypeStruct((2,), "float32"), True), (np.ones(2), True), (np.float32(1), True),
        (np.array([True]), True), (np.array(["a"]), False), (np.array([b"a"]), False),
        (np.array([None]), False), (np.array(["2020"], "M8[D]"), False),
        (np.array([1], "m8[s]"), False), ("a", False), (None, False), (Plain(), False),
        (Converts(), True),
    ],
)  # fmt: skip
def test_data_is_what_jax_computes_with(value: Any, *, is_data: bool) -> None:
    assert is_leaf(value) is is_data


def test_a_method_of_a_tree_of_arrays_takes_that_tree() -> None:
    layer = Layer(X.T)
    call = unbind_method(Call.from_function(layer.scaled, X))
    assert (call.function, call.args, call.labels) == (Layer.scaled, (layer, X), ("self", "x"))
    call = unbind_method(Call.from_function(layer, X))
    assert (call.function, call.args, call.labels) == (Layer.__call__, (layer, X), ("self", "x"))


@pytest.mark.parametrize(
    "function", [jnp.sin, lambda x: x, Plain().method, jax.jit(Layer(X.T).scaled), jax.jit(jnp.sin)]
)
def test_any_other_call_stays_as_it_is(function: Any) -> None:
    call = Call.from_function(function, X)
    assert unbind_method(call) is call


def test_what_contains_itself_or_is_nested_too_deeply_is_refused() -> None:
    inside: dict[str, Any] = {}
    inside["a"] = [1, (inside,)]
    twice = [1]
    assert holds_itself(inside)
    assert not holds_itself([twice, twice])
    assert not holds_itself({"a": [1, (2, {})]})
    assert not holds_itself(X)
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
    assert ipyjaxbench.graph(lambda x, rest: x, X, ()).fixed == ()
    assert ipyjaxbench.graph(lambda x, rest: x, X, ("a",)).fixed == ("rest",)


def test_that_jit_refuses_a_tree_is_said_of_functions_and_not_of_methods() -> None:
    def applied(layer: Any, x: Any) -> Any:
        return layer(x)

    layer = Layer(X.T)
    (note,) = ipyjaxbench.graph(applied, layer, X).notes
    assert note.code == "mixed-tree"
    for found in (ipyjaxbench.graph(Layer.scaled, layer, X), ipyjaxbench.graph(layer, X)):
        assert found.notes == ()
        assert found.fixed == ("self[<flat index 1>]",)
