"""What a call of a jitted function is of, and trees in it that JAX refuses to walk."""

import contextvars
import functools
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.retracing import cache_key, callee
from ipyjaxbench.adapters.jax.retracing.callee import Called

X = jnp.ones((3, 5))


def plain(x: Any, y: Any = 1.0) -> Any:
    return (x * y).sum()


jitted = jax.jit(plain)


class Model:
    @jax.jit
    def step(self, x: Any) -> Any:
        return x

    def __call__(self, x: Any) -> Any:
        return x


MODEL = Model()


def lowers(x: Any) -> Any:
    return x


lowers.lower = str.lower  # type: ignore[attr-defined]


def test_what_is_jitted_is_watched_wherever_it_stands() -> None:
    transformed = jax.vmap(jax.grad(jitted)), jax.pmap(plain), jitted.lower(X).compile()
    assert all(map(callee.is_watched, (functools.partial(jitted, X), MODEL.step, *transformed)))
    assert not any(map(callee.is_watched, (plain, jax.grad(plain), MODEL, lowers, 3)))


@pytest.mark.parametrize(
    ("function", "args", "shape", "transformation"),
    [
        (jitted, (), (3, 5), ""), (plain, (), (3, 5), ""), (jax.grad(jitted), (), (3, 5), "grad"),
        (functools.partial(jitted, 2.0), (2.0,), (3, 5), ""),
        (jax.vmap(jitted), (), (5,), "vmap over 3"),
        (jax.vmap(jax.grad(jitted)), (), (5,), "vmap over 3 of grad"),
    ],
)  # fmt: skip
def test_a_call_is_of_the_users_function_with_what_that_is_given(
    function: Any, args: tuple[Any, ...], shape: tuple[int, ...], transformation: str
) -> None:
    found = Called.from_call(function, (X,), {"y": X})
    assert (found.function, found.transformation) == (plain, transformation)
    assert [getattr(value, "shape", value) for value in found.args] == [*args, shape]
    assert {name: value.shape for name, value in found.kwargs.items()} == {"y": shape}


def test_methods_have_their_object_and_vmap_its_axes_and_types() -> None:
    found = Called.from_call(jax.vmap(jitted, in_axes=1), (X,), {})
    assert (found.args[0].shape, found.transformation) == ((3,), "vmap over 5")
    assert Called.from_call(MODEL.step, (X,), {}).args == (MODEL, X)
    _, (weak, strong), _ = callee.per_example(0, (jnp.full(3, 2.0), X), {})
    assert (weak.weak_type, strong.weak_type) == (True, False)


def test_arrays_of_one_example_lack_the_axis_that_is_mapped() -> None:
    for axes, args, name, shapes in (
        (0, (X,), "vmap over 3", [(5,)]), (-1, (X,), "vmap over 5", [(3,)]),
        ([1, None], (X, X), "vmap over 5", [(3,), (3, 5)]),
        ((0, None), (X, 2.0), "vmap over 3", [(5,), ()]), (None, (X,), "vmap", [(3, 5)]),
    ):  # fmt: skip
        found, mapped, _ = callee.per_example(axes, args, {})
        assert (found, [getattr(value, "shape", ()) for value in mapped]) == (name, shapes)


def test_transformations_are_told_the_outermost_first_and_the_users_function_by_its_name() -> None:
    wraps = functools.wraps(plain)(lambda x: plain(2 * x))
    for function, names in (
        (jax.vmap(jax.grad(plain)), ["vmap", "grad"]), (jax.jacfwd(plain), ["jacfwd"]),
        (jax.value_and_grad(plain), ["value_and_grad"]), (jitted, []), (len, []), (wraps, []),
    ):  # fmt: skip
        assert [*callee.transformations(function)] == names
    for function, name in (
        (jax.grad(jitted), "plain"), (jax.jit(jax.vmap(plain)), "plain"), (jax.jit(MODEL), "Model"),
        (MODEL.step, "step"), (jax.jit(functools.partial(plain, 2.0)), "plain"),
    ):  # fmt: skip
        assert callee.display_name(callee.plain_of(function)) == name


NAME = contextvars.ContextVar("name", default="none")


def levels_left(level: int = 0) -> int:
    try:
        return levels_left(level + 1)
    except RecursionError:
        return level


def own_namespace() -> dict[str, Any]:
    names: dict[str, Any] = {"x": 1.0}
    names["g"] = names
    return names


@pytest.mark.parametrize("tree", [own_namespace(), [[{1: 1, "a": 2}]]], ids=["cycle", "keys"])
def test_the_recursion_limit_is_as_far_away_as_before(tree: object) -> None:
    before = levels_left()
    assert trees.leaves(tree) == [tree]
    for walk in (trees.flatten, trees.leaves_with_paths, lambda each: trees.map_leaves(id, each)):
        with pytest.raises((ValueError, RecursionError, SystemError)):
            walk(tree)
    assert levels_left() == before


def test_so_it_is_after_a_call_with_such_arguments_was_looked_at() -> None:
    tree = {"x": jnp.ones(3), 1: 2}
    before = levels_left()
    assert [path for path, _ in cache_key.leaves("tree", tree)] == ["tree"]
    assert callee.per_example(0, (tree,), {})[1] == (tree,)
    assert callee.per_example(0, (jnp.ones((2, 3)),), {"tree": tree})[0] == "vmap"
    assert callee.per_example([0, [1]], (jnp.ones(3), 2), {})[0] == "vmap"  # axes that do not fit
    assert levels_left() == before


def test_functions_see_the_context_in_which_a_tree_is_walked() -> None:
    token = NAME.set("mine")
    assert trees.map_leaves(lambda _: NAME.get(), [1, 2]) == ["mine", "mine"]
    NAME.reset(token)
