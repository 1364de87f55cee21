"""The same from Python, without IPython."""

import gc
import itertools
import re
import sys
import threading
from collections.abc import Callable
from functools import partial

import pytest

import ipyjaxbench
from ipyjaxbench import (
    Measurement,
    Options,
    compare,
    measure,
    measure_code,
)


def area(width: int, height: int = 1) -> int:
    return width * height


@pytest.mark.parametrize(("function", "args", "kwargs", "code"), [
    (area, (3,), {"height": 4}, "area(width, height=height)"),
    (len, ([1],), {}, "len(obj)"),
    (lambda *xs: xs, (1, 2), {}, "function(xs, arg1)"),
    (partial(max, 3), (1,), {}, "function(arg0)"),
    (dict, (), {"dict": 1}, "dict(dict=dict_)"),
    (lambda x, **k: k, (1,), {"arg0": 2}, "function(x, arg0=arg0)"),
])  # fmt: skip
def test_calls_are_named_as_one_would_write_them(function, args, kwargs, code) -> None:
    result = measure(function, *args, **kwargs)
    assert result.code == code
    assert result.median > 0


def test_names_that_the_code_binds_are_in_the_namespace() -> None:
    names = {"x": 2}
    measure_code("y = x + 1", names, number=3, repeat=2)
    assert names["y"] == 3


def test_set_up_runs_before_each_sample() -> None:
    names: dict = {"ran": itertools.count()}
    measure_code("x", names | {"x": 1}, setup="next(ran)", number=2, repeat=4)
    assert next(names["ran"]) == 4


def test_what_the_first_call_raises_is_raised() -> None:
    def fails() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        measure(fails)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: measure_code(3, {}), "code=3: must be a string of Python code, such as 'f(x)'"),
    (lambda: measure_code("", {}), "there is no code to time"),
    (lambda: measure_code("x = 1\nf(", {}), "SyntaxError in line 2 of code, 'f(': "),
    (lambda: measure_code("1", {}, number="3"), "number='3': must be a whole number, 1 or more"),
    (lambda: measure_code("1", {}, number=True), "number=True: must be a whole number, 1 or more"),
    (lambda: compare({"a": int, "b": int}, budget={}), "budget={}: must be a number of seconds"),
    (lambda: measure_code("1", {}, setup=3), "setup=3: must be a string of Python code"),
    (lambda: measure_code("1", 3), "namespace=3: must be a dictionary, for example globals()"),
    (lambda: measure(3), "not a function, but an int: write measure(f, x), or measure_code("),
    (lambda: measure(len, [], timer=Options(name="a")), "name and against work"),
    (lambda: measure(area, 3, height=2, budget=1, quick=2),
     "budget=1: area has no such argument; to say how to measure, write timer=Options(budget=1)"),
    (lambda: measure(partial(area, 3), number=1, repeat=2),
     "number=1, repeat=2: the function has no such argument; to say how to measure, write"),
    (lambda: Options(number=0), "number=0: must be a whole number, 1 or more, for example"),
    (lambda: Options(clock="sun"), "clock='sun': must be 'elapsed', 'calendar' or 'cpu'"),
    (lambda: ipyjaxbench.graph("f"), "not a function, but a str: write graph(f, x)"),
    (lambda: ipyjaxbench.history(3), "text=3: must be a string"),
    (lambda: ipyjaxbench.history(framework=3), "framework=3: must be a string"),
    (lambda: ipyjaxbench.history(since=3),
     "since=3: must be a number followed by m, h, d, w or y, for example since='7d'"),
    (lambda: ipyjaxbench.history(last=0), "last=0: must be a whole number from 1 to 10000"),
    (lambda: ipyjaxbench.explain(3), "explain needs an exception, not 3"),
    (lambda: ipyjaxbench.compare([len, len]), "compare takes functions by label, not a list"),
    (lambda: ipyjaxbench.assert_max_traces(len, -1), "n must be a whole number, 0 or more"),
    (lambda: ipyjaxbench.read_notebook(3), "3: must be the path of a notebook"),
    (lambda: ipyjaxbench.compare_notebooks(3, 4), "3: must be the path of a notebook"),
])  # fmt: skip
def test_a_wrong_call_is_one_sentence_and_its_traceback_ends_here(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(ipyjaxbench.IpyJaxBenchError, match=f"^{re.escape(message)}") as caught:
        call()
    # This test, the lambda, and the one frame that raises it.
    assert [entry.name for entry in caught.traceback] == [
        "test_a_wrong_call_is_one_sentence_and_its_traceback_ends_here", "<lambda>", "call",
    ]  # fmt: skip
    assert caught.value.__cause__ is None


def test_options_of_measure_are_not_keywords_of_the_function() -> None:
    def scale(x: int, timer: int = 1, budget: int = 1) -> int:
        return x * timer * budget

    result = measure(scale, 3, budget=2, timer=Options(number=4, repeat=3))
    assert (result.code, result.loops, result.repeat) == ("scale(x, budget=budget)", 4, 3)
    assert measure(scale, 3, timer=2).code == "scale(x, timer=timer)"


OUTSIDE = 3


def test_code_sees_the_names_of_its_caller() -> None:
    inside = 4
    result = measure_code("made = inside + OUTSIDE", number=2, repeat=2)
    assert result.repeat == 2
    assert inside == 4
    assert "made" not in globals()


def test_an_old_keyword_works_and_warns_at_the_callers_line() -> None:
    with pytest.warns(FutureWarning, match=r"^measure_code\(device=…\) is now ") as caught:
        result = measure_code("1", {}, number=2, repeat=2, device=True)
    assert result.device is not None
    assert caught[0].filename == __file__


def test_public_names_are_exported_once_and_documented() -> None:
    public = [name for name in vars(ipyjaxbench) if name[0].isupper() or name.startswith("measure")]
    for name in public:
        if name != "TYPE_CHECKING":
            assert getattr(ipyjaxbench, name).__doc__, name


def test_measurements_in_several_threads_leave_all_as_it_was() -> None:
    def measure(number: int) -> None:
        barrier.wait()
        found.append(measure_code("print(1)", {}, budget=0.05 * number))

    before = gc.isenabled(), sys.stdout, sys.stderr
    found: list[Measurement] = []
    barrier = threading.Barrier(3)
    threads = [threading.Thread(target=measure, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert (gc.isenabled(), sys.stdout, sys.stderr) == before
