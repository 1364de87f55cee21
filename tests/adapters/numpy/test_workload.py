"""What a call in NumPy has to do: plain products alone are known."""

import numpy as np
import pytest

from tests.loads import BYTES, N, in_float32, load


@pytest.mark.parametrize("code", ["m @ m", "m @ k", "np.dot(m, k)", "np.matmul(m, k)"])
def test_a_plain_product_in_numpy_is_counted(code: str) -> None:
    m = np.ones((N, N), np.float32)
    assert load("numpy", code, np=np, m=m, k=m.copy()) == in_float32(3 * BYTES)


@pytest.mark.parametrize("code", ["m + m", "m @ v", "m @ d", "np.sum(m)", "m @ m + 1"])
def test_other_work_in_numpy_is_not(code: str) -> None:
    m = np.ones((N, N), np.float32)
    assert load("numpy", code, np=np, m=m, v=m[0], d=m.astype("float64")) is None


def test_windows_that_slide_over_numbers_read_each_of_them_once() -> None:
    windows = np.lib.stride_tricks.sliding_window_view(np.ones(1000, np.float32), N)
    found = load("numpy", "w @ k", w=windows, k=np.ones((N, 1), np.float32))
    assert found is not None
    assert found.nbytes is None
