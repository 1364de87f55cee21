"""The expressions, by framework. Each of a group runs in the group's own process."""

from tests.accuracy.case import Case
from tests.accuracy.cases.jax import JAX
from tests.accuracy.cases.numpy import NUMPY
from tests.accuracy.cases.python import PYTHON
from tests.accuracy.cases.tensorflow import TENSORFLOW
from tests.accuracy.cases.torch import TORCH

GROUPS: dict[str, tuple[Case, ...]] = {
    "python": PYTHON,
    "numpy": NUMPY,
    "jax": JAX,
    "torch": TORCH,
    "tensorflow": TENSORFLOW,
}
