"""The adapter of plain Python."""

import platform
import random
import threading
import time

import pytest

import ipyjaxbench
from ipyjaxbench.device.protocol import ArrayInspector
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.timing import measure_snippet
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.usercode.snippet import Snippet, Source


def test_the_random_state_is_that_after_one_run_and_after_one_that_fails_as_before() -> None:
    state = random.getstate()
    try:
        random.seed(7)
        first, second = random.random(), random.random()
        random.seed(7)
        names = {"random": random, "mine": random.Random(7)}
        ipyjaxbench.measure_code("r = random.random(); mine.random()", names, budget=0.05)
        assert (names["r"], random.random(), names["mine"].random()) == (first, second, second)
    finally:
        random.setstate(state)
    with pytest.raises(ZeroDivisionError):
        ipyjaxbench.measure_code("random.random(); 1 / 0", {"random": random})
    assert random.getstate() == state


def test_code_that_starts_threads_is_timed_as_any_other() -> None:
    code = "t = threading.Thread(target=sum, args=([1, 2],)); t.start(); t.join()"
    before = threading.active_count()
    result = ipyjaxbench.measure_code(code, {"threading": threading}, budget=0.1)
    assert result.verdict != "INVALID"
    assert threading.active_count() == before


def test_the_clock_of_the_cpu_is_named_and_nothing_is_waited_for() -> None:
    result = measure_snippet(
        Snippet(Source.plain("time.sleep(0.001)"), {"time": time}),
        TimeOptions(clock="cpu", budget=0.2),
    )
    assert result.clock == "cpu"
    assert not result.waited
    assert "CPU time, " in str(result)  # of which calls depends on how they scatter


def test_python_owns_no_arrays_and_tells_what_looking_would_use_up() -> None:
    (adapter,) = (each for each in loaded()[0] if each.name == "python")
    assert not adapter.owns(int)
    assert adapter.version() == platform.python_version()
    with pytest.raises(NotImplementedError):
        adapter.placement(3)
    describe = adapter.capability(ArrayInspector).describe
    generator = (each for each in [1])
    assert describe(iter([1])) == describe(generator) == "looking into it would use it up"
    assert describe([1]) == describe(range(3)) == ""
