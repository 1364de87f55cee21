"""The adapter of plain Python."""

import random
import subprocess
import sys
import threading

import pytest

import ipyjaxbench


def test_the_random_state_is_that_after_one_run() -> None:
    state = random.getstate()
    try:
        random.seed(7)
        first, second = random.random(), random.random()
        random.seed(7)
        names = {"random": random}
        ipyjaxbench.measure_code("r = random.random()", names, budget=0.05)
        assert (names["r"], random.random()) == (first, second)
    finally:
        random.setstate(state)


def test_a_generator_of_the_users_is_as_after_one_run() -> None:
    expected = random.Random(1)
    expected.random()
    mine = random.Random(1)
    ipyjaxbench.measure_code("mine.random()", {"mine": mine}, budget=0.05)
    assert mine.getstate() == expected.getstate()


def test_after_a_first_call_that_fails_the_random_state_is_as_before() -> None:
    before = random.getstate()
    with pytest.raises(ZeroDivisionError):
        ipyjaxbench.measure_code("random.random(); 1 / 0", {"random": random})
    assert random.getstate() == before


@pytest.mark.parametrize(
    "code",
    [
        "t = threading.Thread(target=sum, args=([1, 2],)); t.start(); t.join()",
        "done = subprocess.run([sys.executable, '-S', '-c', ''])",
    ],
)
def test_code_that_starts_threads_or_programs_is_timed_as_any_other(code: str) -> None:
    names = {"threading": threading, "subprocess": subprocess, "sys": sys}
    before = threading.active_count()
    result = ipyjaxbench.measure_code(code, names, budget=0.1)
    assert result.verdict in ("QUIET", "OK", "NOISY")
    assert threading.active_count() == before
