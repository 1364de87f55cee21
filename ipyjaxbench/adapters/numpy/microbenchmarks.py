"""The work with which NumPy's ceilings are measured."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from ipyjaxbench.device import Probe, Run


class NumPyProbe(Probe):
    """NumPy on the host."""

    device = "cpu"

    def product(self, dtype: str, n: int) -> Run:
        """By the linear algebra library, into memory that is there."""
        x, y = np.ones((n, n), dtype), np.ones((n, n), dtype)
        return partial(np.matmul, x, y, out=np.empty_like(x))

    def streams(self, nbytes: int) -> Sequence[tuple[Run, int]]:
        """In place, which reads and writes, and a sum, which reads."""
        x = np.ones(nbytes // 4, np.float32)
        return (partial(np.negative, x, out=x), 2 * nbytes), (x.sum, nbytes)

    def upload(self, nbytes: int) -> Run:
        """There is no other memory."""
        raise NotImplementedError

    def download(self, nbytes: int) -> Run:
        """There is no other memory."""
        raise NotImplementedError

    def nothing(self) -> Run:
        """A sign is changed."""
        x = np.ones((), np.float32)
        return partial(np.negative, x)
