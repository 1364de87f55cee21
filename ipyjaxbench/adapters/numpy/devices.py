"""The threads with which NumPy computes on the host."""

import os
from contextlib import AbstractContextManager
from typing import Any

from ipyjaxbench.adapters.numpy.microbenchmarks import NumPyProbe
from ipyjaxbench.device import DeviceInventory


class NumPyDevices(DeviceInventory):
    """The host, and the linear algebra library that NumPy was built with."""

    def threads(self) -> int | None:
        """Return those of the linear algebra library that NumPy was built with."""
        pools = _pools().threadpool_info()
        return next((p["num_threads"] for p in pools if p["user_api"] == "blas"), None)

    def aligned(self, threads: int) -> AbstractContextManager[object]:
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
