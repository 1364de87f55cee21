"""NumPy: done when it returns, partly on several threads."""

from tests.accuracy.case import Case

_NUMPY = """
import numpy as np
rng = np.random.default_rng(0)
small = np.ones(8)
a = rng.random((400, 400))
long = rng.random(1_000_000)
short = rng.random(20_000)
"""

NUMPY = (
    Case("tiny op", "small + 1", setup=_NUMPY),
    Case("matmul", "np.dot(a, a)", setup=_NUMPY),
    Case("copy", "long.copy()", setup=_NUMPY, coverage=True),
    Case("sort", "np.sort(short)", setup=_NUMPY),
    Case("einsum", "np.einsum('ij,kj->ik', a, a[:50])", setup=_NUMPY),
    Case("sum", "long.sum()", setup=_NUMPY),
)
