"""The threads with which NumPy computes on the host, and the work that measures its peaks."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import numpy as np

from ipyjaxbench.device import DeviceInventory, Probe, Run


class NumPyProbe(Probe):
    """NumPy on the host."""

    device = "cpu"

    def product(self, dtype: str, n: int) -> Run:
        """Multiply by the linear algebra library, into memory that is there."""
        x, y = np.ones((n, n), dtype), np.ones((n, n), dtype)
        return partial(np.matmul, x, y, out=np.empty_like(x))

    def streams(self, nbytes: int) -> Sequence[tuple[Run, int]]:
        """Negate in place, which reads and writes, and sum, which reads."""
        x = np.ones(nbytes // 4, np.float32)
        return (partial(np.negative, x, out=x), 2 * nbytes), (x.sum, nbytes)

    def smallest_operation(self) -> Run:
        """Negate a number."""
        x = np.ones((), np.float32)
        return partial(np.negative, x)


class NumPyDevices(DeviceInventory):
    """The host, and the linear algebra library that NumPy was built with."""

    def threads(self) -> int | None:
        """Return those of the linear algebra library that NumPy was built with."""
        pools = _pools().threadpool_info()
        return next((p["num_threads"] for p in pools if p["user_api"] == "blas"), None)

    def align_settings(self, threads: int) -> AbstractContextManager[object]:
        """Set the linear algebra library's threads."""
        limits: AbstractContextManager[object] = _pools().threadpool_limits(threads, "blas")
        return limits

    def probe(self, device: str) -> NumPyProbe:  # noqa: ARG002
        """Return work for the host."""
        return NumPyProbe()


def _pools() -> Any:
    """Return threadpoolctl, which sets a variable of the environment when it is imported."""
    before = dict(os.environ)
    import threadpoolctl

    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    return threadpoolctl
