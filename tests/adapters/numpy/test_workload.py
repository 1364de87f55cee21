"""What a call in NumPy has to do: plain products alone are known."""

import numpy as np
import pytest

from tests.loads import BYTES, N, in_float32, load


@pytest.mark.parametrize("code", ["m @ m", "m @ k", "np.dot(m, k)", "np.matmul(m, k)"])
def test_a_plain_product_in_numpy_is_counted(code: str) -> None:
    m = np.ones((N, N), np.float32)
    assert load("numpy", code, np=np, m=m, k=m.copy()) == in_float32(3 * BYTES)


def test_a_product_of_rectangles_is_counted_by_its_sides() -> None:
    left, right = np.ones((3, 4), np.float32), np.ones((4, 5), np.float32)
    found = load("numpy", "a @ b", a=left, b=right)
    assert found == in_float32(4 * (3 * 4 + 4 * 5 + 3 * 5), flops=2 * 3 * 4 * 5)


@pytest.mark.parametrize(
    "code", ["m + m", "m @ v", "m @ d", "np.sum(m)", "m @ m + 1", "np.matmul(s, s)", "n @ n"]
)
def test_other_work_in_numpy_is_not(code: str) -> None:
    m = np.ones((N, N), np.float32)
    names = {"v": m[0], "d": m.astype("float64"), "s": m[None], "n": m.view(np.matrix)}
    assert load("numpy", code, np=np, m=m, **names) is None


def test_windows_that_slide_over_numbers_read_each_of_them_once() -> None:
    windows = np.lib.stride_tricks.sliding_window_view(np.ones(1000, np.float32), N)
    found = load("numpy", "w @ k", w=windows, k=np.ones((N, 1), np.float32))
    assert found is not None
    assert found.nbytes is None
