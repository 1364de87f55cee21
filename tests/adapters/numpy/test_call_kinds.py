"""Calls of NumPy code that do the same work on several CPUs, and calls that do not."""

import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from ipyjaxbench.timing.measure import measure_snippet
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.usercode import Snippet, Source
from tests.bench import notes_by_code


def codes(code: str, names: dict[str, Any], budget: float) -> set[str]:
    """Time code, and return the codes of its notes."""
    snippet = Snippet(Source.plain(code), names)
    return {*notes_by_code(measure_snippet(snippet, TimeOptions(budget=budget)))}


@pytest.mark.parametrize("n", [140, 200])
def test_products_of_two_threads_beside_busy_programs_do_the_same_work(n: int) -> None:
    x = np.random.default_rng(0).random((n, n))
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        with threadpool_limits(2):
            for _ in range(4):
                assert "calls-differ" not in codes("x @ x", {"x": x}, 0.3)
    finally:
        for program in busy:
            program.kill()
            program.wait()


@pytest.mark.usefixtures("real_clock")
def test_calls_of_one_thread_that_do_more_are_found() -> None:
    turn, few, many = itertools.count(), np.ones(100), np.ones(2_000_000)

    def call() -> None:
        np.sin(few if next(turn) % 10 else many)

    assert "calls-differ" in codes("call()", {"call": call}, 2.0)
