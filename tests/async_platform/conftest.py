"""Starts JAX with the plugin before anything else does."""
# ruff: noqa: E402  JAX is imported after the platform is named

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.async_platform import standin

standin.start()

import jax
import jax.numpy as jnp
import numpy as np

from tests.shell import Shell

_SIZE, _TURNS = 400, 60


def long(x: Any) -> Any:
    """Compute for some 50 ms."""
    return jax.lax.fori_loop(0, _TURNS, lambda _, y: jnp.tanh(y @ x), x)


@pytest.fixture(autouse=True)
def real_clock() -> None:
    """Devices here work in the background: only the machine's clock shows what is waited for."""


@pytest.fixture(scope="session")
def names() -> dict[str, Any]:
    """What cells use: devices, an array on each, and work that takes a while."""
    devices, long_call = jax.devices(), jax.jit(long)
    host = np.full((_SIZE, _SIZE), 0.01, np.float32)
    arrays = [jax.device_put(host, device) for device in devices]
    for array in arrays:
        jax.block_until_ready(long_call(array))
    return {
        "jax": jax, "jnp": jnp, "np": np, "d": devices, "host": host, "xs": arrays,
        "x": arrays[0], "long": long_call, "cpu": jax.devices("cpu")[0],
    }  # fmt: skip


@pytest.fixture
def run(shell: Shell, names: dict[str, Any]) -> Shell:
    """A shell with these names."""
    shell.names.update(names)
    return shell


def by_hand(call: Callable[[], Any], times: int = 3) -> float:
    """The least seconds of calls whose results are waited for."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        jax.block_until_ready(call())
        taken.append(time.perf_counter() - start)
    return min(taken)
