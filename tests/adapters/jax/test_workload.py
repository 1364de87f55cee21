"""What a call in JAX has to do: products by dtype, bytes where all are moved; its peaks."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import ipyjaxbench
from ipyjaxbench.adapters.jax.compilation import INSPECTED
from ipyjaxbench.device.protocol import DeviceInventory
from tests.loads import BYTES, PRODUCT, N, in_float32, load, named


@pytest.fixture
def x() -> Any:
    return jnp.ones((N, N))


@pytest.mark.parametrize(("code", "arrays"), [("f(x)", 2), ("jnp.dot(x, x)", 3)])
def test_a_product_in_jax_moves_its_arrays(x: Any, code: str, arrays: int) -> None:
    f = jax.jit(lambda x: x @ x)
    assert load("jax", code, jnp=jnp, x=x, f=f) == in_float32(arrays * BYTES)


def test_turns_of_a_scan_count_and_those_of_a_while_loop_are_not_known(x: Any) -> None:
    def scanned(x: Any) -> Any:
        return jax.lax.scan(lambda c, _: (c @ c, None), x, None, length=10)[0]

    def looped(x: Any) -> Any:
        return jax.lax.while_loop(lambda c: c.sum() < 9, lambda c: c @ c, x)

    assert load("jax", "f(x)", f=scanned, x=x) == in_float32(None, flops=10 * PRODUCT)
    assert load("jax", "f(x)", f=looped, x=x) is None


def layers(policy: Any = None, *, kept: bool = False) -> Any:
    """The gradient of three layers, whose values in between are recomputed."""
    inner = jax.jit(lambda c, w: jnp.tanh(c @ w))  # a function in it is recomputed with it

    def layer(c: Any, w: Any) -> Any:
        return inner(c, w), None

    body = layer if kept else jax.checkpoint(layer, policy=policy)
    return jax.grad(lambda ws, x: jax.lax.scan(body, x, ws)[0].sum())


@pytest.mark.parametrize(
    ("function", "each", "again"),
    [  # each layer: forward, the derivatives of both factors, and what is done a second time
        (layers(), 4, 1),
        (layers(kept=True), 3, 0),
        (layers(jax.checkpoint_policies.dots_saveable), 3, 0),
    ],
)
def test_products_that_checkpoint_recomputes_are_told_apart(
    x: Any, function: Any, each: int, again: int
) -> None:
    found = load("jax", "f(ws, x)", f=function, ws=jnp.stack([x, x, x]), x=x)
    assert found is not None
    assert found.products == {"float32": 3 * each * PRODUCT}
    assert found.recomputed == ({"float32": 3 * again * PRODUCT} if again else {})


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x.at[0].set(1) + y,
        lambda x, y: (x, y + 1),
        lambda x, y: x + 1,  # y is not read
        lambda x, y: (x @ x, y + 1)[1],
    ],
)
def test_where_not_all_of_every_array_is_moved_in_jax_bytes_are_not_told(
    x: Any, function: Any
) -> None:
    found = load("jax", "f(x, x)", f=function, x=x)
    assert found is not None
    assert found.nbytes is None


def test_convolutions_in_jax_may_be_computed_by_shortcuts() -> None:
    image, kernel = jnp.ones((1, 3, 8, 8)), jnp.ones((4, 3, 3, 3))
    found = load("jax", "f(a, b, (1, 1), 'SAME')", f=jax.lax.conv, a=image, b=kernel)
    assert found is not None
    assert found.shortcuts


def test_peaks_are_measured_whatever_the_users_settings_are() -> None:
    probe = named("jax").capability(DeviceInventory).probe("cpu:0")
    assert probe is not None
    with jax.disable_jit(), jax.transfer_guard("disallow"), probe.default_settings():
        product = probe.product("float32", 8)()
    assert jnp.all(product == 8)


def test_a_version_without_the_means_to_see_what_is_used_tells_no_bytes(
    x: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("jax.interpreters.partial_eval.dce_jaxpr")
    assert load("jax", "x @ x", x=x) == in_float32(None)


def test_what_a_call_has_to_do_is_counted_without_a_trace_that_would_be_told(x: Any) -> None:
    before = {*INSPECTED}
    assert load("jax", "f(x)", f=jax.jit(lambda x: x @ x), x=x) is not None
    assert before == INSPECTED

    @jax.jit
    def looked_at(x: Any) -> Any:
        return x @ x

    ipyjaxbench.graph(looked_at, x)
    try:
        assert {*INSPECTED} == before | {"looked_at"}
    finally:
        INSPECTED.discard("looked_at")
