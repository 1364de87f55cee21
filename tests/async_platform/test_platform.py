"""The platform does what it stands for."""

import time
from typing import Any

import jax
import pytest

from tests.accuracy.case import Case
from tests.accuracy.cases.platform import PLATFORM


def test_calls_return_long_before_their_work_is_done(names: dict[str, Any]) -> None:
    shares = []
    for _ in range(5):
        start = time.perf_counter()
        result = names["long"](names["x"])
        returned = time.perf_counter()
        result.block_until_ready()
        shares.append((returned - start) / (time.perf_counter() - start))
    assert min(shares) < 0.1


def test_there_are_four_devices_beside_the_hosts(names: dict[str, Any]) -> None:
    assert len(names["d"]) == 4
    assert names["cpu"] not in names["d"]
    assert jax.devices()[0].memory_stats() is None


@pytest.mark.parametrize("case", PLATFORM, ids=lambda case: case.name)
def test_an_expression_of_the_benchmark_runs_as_typed_and_by_hand(case: Case) -> None:
    names = case.names()
    for code in (case.typed, case.truth):
        exec(code, names)
