"""What JAX looks at to find a trace for a call, argument by argument."""

import functools
from collections import UserDict
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ipyjaxbench.adapters.jax.retracing import cache_key
from ipyjaxbench.adapters.jax.retracing.callee import Called
from ipyjaxbench.retracing.cache_key import Leaf

X = jnp.ones((3, 4))


class Tagged:
    """An object that says what it is."""

    def __repr__(self) -> str:
        return "Tagged!"


class Silent:
    pass


class Raises:
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise RuntimeError


@jax.tree_util.register_pytree_node_class
@dataclass
class Layer:
    w: Any
    act: str = "relu"
    _hidden: int = 1

    def tree_flatten(self) -> Any:
        return (self.w,), self.act

    @classmethod
    def tree_unflatten(cls, act: Any, children: Any) -> "Layer":
        return cls(*children, act)


def leaf(value: Any) -> Leaf:
    """The only leaf of a value."""
    ((path, found),) = cache_key.leaves("x", value)
    assert path == "x"
    return found


def signature(function: Any, *args: Any, **kwargs: Any) -> Any:
    return cache_key.signature(Called(function, args, kwargs))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (X, Leaf("array", "float32", (3, 4), device="cpu:0")),
        (jnp.asarray(2.0),
         Leaf("array", "float32", (), weak=True, device="cpu:0", abstract="float32 weak")),
        (jax.ShapeDtypeStruct((), "float32", weak_type=True),
         Leaf("array", "float32", (), weak=True, abstract="float32 weak")),
        (np.ones((2, 2)), Leaf("array", "float32", (2, 2), host=True)),
        (np.array(["a"]), Leaf("array", "object", (1,), host=True)),
        (True, Leaf("bool", value="True", abstract="bool")),
        (3, Leaf("int", value="3", abstract="int32 weak")),
        (2.5, Leaf("float", value="2.5", abstract="float32 weak")),
        ("a", Leaf("static", value="'a'", identity=hash("a"))),
    ],
)  # fmt: skip
def test_an_argument_is_told_by_what_jax_looks_at(value: Any, expected: Leaf) -> None:
    assert leaf(value) == expected


def test_arrays_are_told_by_what_holds_them() -> None:
    nnx = pytest.importorskip("flax.nnx")
    assert leaf(nnx.Param(X)) == leaf(X)


def test_equal_static_values_share_a_trace_and_objects_are_told_by_their_class() -> None:
    assert leaf(Tagged()).value == "Tagged!"
    assert leaf(Silent()).value == "Silent object"
    one, other = Silent(), Silent()
    assert leaf(one) == leaf(one) != leaf(other)
    assert (leaf(len).value, leaf(jnp.sin).value) == ("len", "sin")
    assert leaf(value := Raises()).value == "Raises"
    assert leaf(value).identity == id(value)
    assert leaf(value := UserDict()).identity == id(value)  # it cannot be hashed
    assert leaf(functools.partial(len)).value == "partial"


def test_a_tree_is_told_with_the_paths_of_its_leaves() -> None:
    tree = {"b": [X, 2], "a": None, "c": Layer(X, "tanh")}
    assert [(path, found.words()) for path, found in cache_key.leaves("t", tree)] == [
        ("t", "dict"), ("t['a']", "None"), ("t['b']", "list"), ("t['b'][0]", "f32[3,4]"),
        ("t['b'][1]", "int"), ("t['c']", "Layer"), ("t['c'][<flat index 0>]", "f32[3,4]"),
        ("t['c'].act", "'tanh'"),
    ]  # fmt: skip


def test_of_trees_up_to_20000_leaves_are_looked_at_each_once() -> None:
    tree: list[Any] = [1]
    tree.append([tree])
    found = [path for path, _ in cache_key.leaves("t", tree)]
    assert found == ["t", "t[0]", "t[1]", "t[1][0]"]
    # The list itself is the first of them.
    assert len([*cache_key.leaves("t", [0] * 19_999)]) == 20_000
    assert len([*cache_key.leaves("t", [0] * 20_001)]) == 20_000


def captured(function: Any) -> dict[str, Any]:
    return {path: leaf.value for path, leaf in signature(function, X).captured.items()}


SCALE = 3


def test_values_that_are_baked_into_a_trace_are_told() -> None:
    factor, kind, table = 2.5, "relu", np.ones(2)

    def closing(x: Any) -> Any:
        return x * factor * SCALE if kind else x * table

    assert captured(closing) == {
        "factor": "2.5", "kind": "'relu'", "SCALE": "3", "table": "f32[2]",
    }  # fmt: skip
    assert captured(functools.partial(lambda s, x, m: x, 4.0, m="b")) == {"s": "4.0", "m": "'b'"}
    assert captured(functools.partial(closing)) == captured(closing)


def test_of_large_containers_no_more_than_begins_them_is_looked_at() -> None:
    looked: list[str] = []

    class Told:
        def __repr__(self) -> str:
            looked.append("at")
            return "Told()"

    made, within = [0] * 500, [Told()] * 5000
    within.append(within)

    def closing(x: Any) -> Any:
        return x * len(made) * len(within)

    before, found = signature(closing, X).captured, captured(closing)
    assert found["made"].startswith("[0, 0, 0")
    assert found["within"].startswith("[Told(), Told(), ")
    assert len(looked) < 500
    made = [0] * 500
    within = [*within]
    after = signature(closing, X).captured
    assert before["made"] == after["made"]
    assert before["within"] != after["within"]


class Holds:
    def method(self, x: Any) -> Any:
        return x


def test_a_method_bakes_its_object_in_and_form_tells_how_arguments_are_given() -> None:
    one, other = Holds(), Holds()
    first, again, second = (signature(each.method, X) for each in (one, one, other))
    assert first.captured["self"] == again.captured["self"] != second.captured["self"]
    assert first.captured["self"].value == "Holds object"
    assert first.code == second.code
    found = signature(lambda a, b, c: a, X, c=1, b=2)
    assert found.form == ("a", "b=", "c=")
    assert [*found.leaves] == ["a", "c", "b"]


def test_arguments_of_a_method_within_a_decorator_have_their_names() -> None:
    nn = pytest.importorskip("flax.linen")
    dense = nn.Dense(2)
    assert dense.apply.__wrapped__  # Flax's own, whose first parameter is the object
    assert signature(dense.apply, {"w": X}, X).form == ("variables", "args[0]")


def repeat(times: int) -> Any:
    """A decorator; its code is the same for any number."""

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def repeated(x: Any) -> Any:
            for _ in range(times):
                x = function(x)
            return x

        return repeated

    return decorate


def once(function: Any) -> Any:
    """Another decorator."""

    @functools.wraps(function)
    def called(x: Any) -> Any:
        return function(x)

    return called


def test_decorators_are_part_of_the_code() -> None:
    def plain(x: Any) -> Any:
        return x

    def code(*decorators: Any) -> int:
        function = functools.reduce(lambda inner, each: each(inner), decorators, plain)
        found: int = signature(function, X).code
        return found

    codes = [code(), code(once), code(repeat(2)), code(once, repeat(2)), code(repeat(2), once)]
    assert len({*codes}) == len(codes)
    assert code(repeat(2)) == code(repeat(3))


def test_transformations_are_part_of_the_key() -> None:
    assert signature(jnp.sin, X).code != signature(jax.grad(jnp.sin), X).code
    assert cache_key.signature(Called(len, (X,), {}, "grad")).transformation == "grad"
