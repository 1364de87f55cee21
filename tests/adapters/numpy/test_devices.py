"""The threads of NumPy's linear algebra, and the work that measures its peaks."""

import os

import pytest
from threadpoolctl import threadpool_info

from ipyjaxbench.adapters.numpy.devices import NumPyDevices, NumPyProbe
from ipyjaxbench.adapters.numpy.framework import NumPy


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_threads_of_its_linear_algebra_are_set_for_a_while() -> None:
    inventory, before, environment = NumPyDevices(NumPy()), blas_threads(), dict(os.environ)
    assert inventory.threads() == before[0]
    with inventory.align_settings(1):
        assert inventory.threads() == 1
    assert blas_threads() == before
    assert dict(os.environ) == environment


def test_without_a_library_for_it_the_threads_are_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("threadpoolctl.threadpool_info", lambda: [{"user_api": "openmp"}])
    assert NumPyDevices(NumPy()).threads() is None
    # Its probe negates in place, which reads and writes, and sums.
    assert [moved for _, moved in NumPyProbe().streams(4096)] == [2 * 4096, 4096]
