"""The adapter of plain Python."""

import platform
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench.device.protocol import ArrayInspector
from ipyjaxbench.frameworks import find_arrays, loaded
from ipyjaxbench.timing import measure_snippet
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.usercode.snippet import Snippet, Source


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
    assert result.verdict != "INVALID"
    assert threading.active_count() == before


def note_codes(code: str, names: dict, **options: object) -> set[str]:
    """The codes of its Notes."""
    return {n.code for n in ipyjaxbench.measure_code(code, names, **options).notes}


async def later() -> int:
    return 1


def items() -> Iterator[int]:
    yield 1


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        ("later()", "await later()"),
        ("items()", "list(items())"),
        ("map(abs, xs)", "list(map(abs, xs))"),
        ("(x for x in xs)", "list((x for x in xs))"),
        ("pool.submit(abs, -1)", "pool.submit(abs, -1).result()"),
    ],
)
@pytest.mark.filterwarnings("ignore:coroutine")
def test_a_value_that_works_later_is_told(code: str, advice: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        names = {"later": later, "items": items, "xs": [1, 2], "pool": pool}
        result = ipyjaxbench.measure_code(code, names, budget=0.05)
    (note,) = [note for note in result.notes if note.code == "lazy"]
    assert (note.advice, result.verdict) == (advice, "INVALID")
    assert "lazy" not in note_codes("list(items())", names, budget=0.05)
    assert "lazy" not in note_codes("sum(xs)", names, budget=0.05)


def test_names_that_a_called_function_rebinds_are_left_as_by_one_call() -> None:
    names: dict = {"n": 0}
    exec("def count():\n    global n\n    n += 1\n    return n", names)
    ipyjaxbench.measure_code("count()", names, budget=0.05)
    assert names["n"] == 1


def test_the_clock_of_the_cpu_is_named_and_nothing_is_waited_for() -> None:
    result = measure_snippet(
        Snippet(Source.plain("time.sleep(0.001)"), {"time": time}),
        TimeOptions(clock="cpu", budget=0.2),
    )
    assert result.clock == "cpu"
    assert "CPU time, " in str(result)  # of which calls depends on how they scatter
    assert not result.waited


def test_python_owns_no_arrays_and_tells_what_looking_would_use_up() -> None:
    (adapter,) = (each for each in loaded()[0] if each.name == "python")
    assert not adapter.owns(int)
    assert adapter.version() == platform.python_version()
    with pytest.raises(NotImplementedError):
        adapter.placement(3)
    describe = adapter.capability(ArrayInspector).describe
    assert describe(iter([1])) == describe(items()) == "looking into it would use it up"
    assert describe([1]) == describe(range(3)) == ""


def test_a_large_container_of_numbers_is_not_walked_to_its_end() -> None:
    frameworks, _ = loaded()
    array = np.ones(3)
    numbers: list[object] = [0] * 2000
    assert find_arrays([*numbers, array], frameworks) == []
    assert len(find_arrays([array, *numbers, array + 1], frameworks)) == 2
    assert len(find_arrays([*numbers[:999], array], frameworks)) == 1
