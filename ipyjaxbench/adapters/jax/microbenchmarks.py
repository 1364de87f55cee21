"""The work with which the peaks of JAX's devices are measured."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import SingleDeviceSharding

from ipyjaxbench.adapters.jax.own_work import own_settings
from ipyjaxbench.adapters.jax.placement import device_name, is_host
from ipyjaxbench.adapters.shared.varied_numbers import varied_numbers
from ipyjaxbench.device import Probe, Run


class JaxProbe(Probe):
    """JAX on one device; programs are compiled ahead of time, so that no cache of jit's grows."""

    def __init__(self, device: Any) -> None:
        self.device = device_name(device)
        self.on_host = is_host(device)
        narrow = ("float32", "bfloat16", "float16")
        self.dtypes = (*narrow, *(("float64",) if jax.config.jax_enable_x64 else ()), "int8")
        self._device = device

    @contextmanager
    def default_settings(self) -> Iterator[None]:
        """Turn jit on, allow copies, and leave JAX's log and disk cache alone."""
        with own_settings():
            yield

    def product(self, dtype: str, n: int) -> Run:
        """Multiply at the precision that is fastest here, which is JAX's default."""
        exact = {"preferred_element_type": np.int32} if dtype == "int8" else {}

        def product(x: Any, y: Any) -> Any:
            return lax.dot(x, y, precision=lax.Precision.DEFAULT, **exact)

        x = self._numbers((n, n), dtype)
        return _run(jax.jit(product).lower(x, x).compile(), x, x, times=self.in_a_row)

    def streams(self, nbytes: int) -> Sequence[tuple[Run, int]]:
        """Negate in place, since the argument is donated, and sum."""
        arrays = [self._fill(nbytes // 4)]
        negate = jax.jit(lambda x: -x, donate_argnums=0).lower(arrays[0]).compile()
        total = jax.jit(lambda x: x.sum()).lower(arrays[0]).compile()

        def run_in_place() -> object:
            for _ in range(self.in_a_row):
                arrays[0] = negate(arrays[0])
            return arrays[0].block_until_ready()

        def read() -> object:
            for _ in range(self.in_a_row - 1):
                total(arrays[0])
            return total(arrays[0]).block_until_ready()

        moved = nbytes * self.in_a_row
        return (run_in_place, 2 * moved), (read, moved)

    def upload(self, nbytes: int) -> Run:
        """Make a new array each time."""
        here = np.ones(nbytes, np.uint8)
        return lambda: jax.device_put(here, self._device).block_until_ready()

    def download(self, nbytes: int) -> Run:
        """Read a new array each time, since an array keeps its copy on the host."""
        there = self._ones((nbytes,), "uint8")

        def copy() -> object:
            # What is made of the same buffer anew has no copy yet.
            again = jax.make_array_from_single_device_arrays(
                there.shape, there.sharding, [there.addressable_data(0)]
            )
            return np.asarray(again)

        return copy

    def smallest_operation(self) -> Run:
        """Negate a number."""
        x = self._ones((), "float32")
        return _run(jax.jit(lambda x: -x).lower(x).compile(), x)

    def _numbers(self, shape: tuple[int, ...], dtype: str) -> Any:
        if self.on_host:
            return self._ones(shape, dtype)
        host = np.resize(varied_numbers(dtype).astype(jnp.dtype(dtype)), shape)
        return jax.device_put(host, self._device).block_until_ready()

    def _fill(self, length: int) -> Any:
        """Return ones made on the device: gigabytes would take seconds to copy."""
        there = SingleDeviceSharding(self._device)
        return jax.jit(lambda: jnp.ones(length, "float32"), out_shardings=there).lower().compile()()

    def _ones(self, shape: tuple[int, ...], dtype: str) -> Any:
        host = np.ones(shape, jnp.dtype(dtype))
        return jax.device_put(host, self._device).block_until_ready()


def _run(program: Callable[..., Any], *args: Any, times: int = 1) -> Run:
    def run() -> object:
        for _ in range(times - 1):
            program(*args)
        return program(*args).block_until_ready()

    return run
