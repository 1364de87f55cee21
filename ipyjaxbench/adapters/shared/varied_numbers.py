"""Numbers for the microbenchmarks of devices whose speed depends on them."""

from functools import cache
from typing import Any

import numpy as np

_COUNT = 1_000_003  # before they repeat; prime, so that rows of a matrix differ
_LARGE = 40  # makes whole numbers of them that fill 8 bits


@cache
def varied_numbers(dtype: str = "float32") -> Any:
    """Return numbers as in a model, float32, and whole ones where the dtype is.

    GPUs multiply ones with less power, and so at a higher clock: of an H100 the product of ones in
    bfloat16 was measured 11 % faster than that of random numbers.
    """
    numbers = np.random.default_rng(0).standard_normal(_COUNT, np.float32)
    return np.round(numbers * _LARGE) if dtype.startswith("int") else numbers
