"""The work with which NumPy's ceilings are measured."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from ipyjaxbench.device import Probe, Run


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

    def nothing(self) -> Run:
        """Negate a number."""
        x = np.ones((), np.float32)
        return partial(np.negative, x)
