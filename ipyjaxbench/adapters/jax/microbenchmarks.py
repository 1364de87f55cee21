"""The work with which the peaks of JAX's devices are measured."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from jax import lax

from ipyjaxbench.device import Probe, Run


class JaxProbe(Probe):
    """JAX on one device; programs are compiled ahead of time, so that no cache of jit's grows."""

    def __init__(self, device: Any) -> None:
        self.device = f"{device.platform}:{device.id}"
        self.on_host = device.platform == "cpu"
        narrow = ("float32", "bfloat16", "float16")
        self.dtypes = (*narrow, *(("float64",) if jax.config.jax_enable_x64 else ()), "int8")
        self._device = device

    @contextmanager
    def default_settings(self) -> Iterator[None]:
        """Turn jit on, and allow copies."""
        with jax.transfer_guard("allow"), jax.disable_jit(disable=False):
            yield

    def product(self, dtype: str, n: int) -> Run:
        """Multiply at the precision that is fastest here, which is JAX's default."""
        exact = {"preferred_element_type": np.int32} if dtype == "int8" else {}

        def product(x: Any, y: Any) -> Any:
            return lax.dot(x, y, precision=lax.Precision.DEFAULT, **exact)

        x = self._ones((n, n), dtype)
        return _run(jax.jit(product).lower(x, x).compile(), x, x)

    def streams(self, nbytes: int) -> Sequence[tuple[Run, int]]:
        """Negate in place, since the argument is donated, and sum."""
        arrays = [self._ones((nbytes // 4,), "float32")]
        negate = jax.jit(lambda x: -x, donate_argnums=0).lower(arrays[0]).compile()
        total = jax.jit(lambda x: x.sum()).lower(arrays[0]).compile()

        def run_in_place() -> object:
            arrays[0] = negate(arrays[0]).block_until_ready()
            return arrays[0]

        def read() -> object:
            return total(arrays[0]).block_until_ready()

        return (run_in_place, 2 * nbytes), (read, nbytes)

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

    def _ones(self, shape: tuple[int, ...], dtype: str) -> Any:
        host = np.ones(shape, jax.numpy.dtype(dtype))
        return jax.device_put(host, self._device).block_until_ready()


def _run(program: Callable[..., Any], *args: Any) -> Run:
    return lambda: program(*args).block_until_ready()
