"""What code builds in each call, and what its compiled functions are asked of and told about."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.frameworks import Compilation, Scope, Work
from ipyjaxbench.reports import Note
from ipyjaxbench.timing.validity import compiled_work
from ipyjaxbench.timing.validity.compiled_work import CompiledCall
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import Bench
from tests.fake_framework import FakeCompilation


def work(written: float, compiled: float = 0.0, **facts: Any) -> Work:
    """That leaves nothing out, but for these facts."""
    known = {"unused": 0.0, "constant": 0.0, "constant_bytes": 0, "peak": lambda: None,
             "flops": written}  # fmt: skip
    return Work(**{**known, "written": written, "compiled": compiled, **facts})


def codes(*works: Work, seconds: float = 1.0) -> list[str]:
    called = [CompiledCall(f"f{i}", each) for i, each in enumerate(works)]
    return [note.code for note in compiled_work.check_work(called, seconds)]


# What a program leaves out


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"compiled": 0.9e6, "unused": 1e6}, ["work-removed"]),
        ({"compiled": 1.1e6, "unused": 1e6}, []),  # most of it is done
        ({"compiled": 0.9e6, "unused": 0.9e6}, []),  # and something else explains the rest
        ({"compiled": 0.0, "constant": 1e6, "constant_bytes": 2**16}, ["constant-folded"]),
        ({"compiled": 0.0, "constant": 1e6, "constant_bytes": 2**16 - 1}, []),
        ({"compiled": 0.0, "constant": 0.9e6, "constant_bytes": 2**16}, []),
        ({"compiled": 1.1e6, "constant": 1e6, "constant_bytes": 2**16}, []),
        ({"compiled": 0.0, "unused": 1e6, "constant": 1e6, "constant_bytes": 2**16},
         ["work-removed"]),
    ],
)  # fmt: skip
def test_half_of_the_work_must_be_missing_to_be_told(facts: dict, told: list[str]) -> None:
    assert codes(work(2e6, **facts)) == told
    for few, is_told in ((1e5, True), (0.99e5, False)):  # operations
        assert codes(work(few, unused=few)) == ["work-removed"] * is_told
        folded = work(few, constant=few, constant_bytes=2**20)
        assert codes(folded) == ["constant-folded"] * is_told


def test_each_function_is_told_by_its_name() -> None:
    works = {"f": work(2e6, unused=2e6), "g": work(3e6, 3e6), "h": work(4e6, unused=4e6)}
    called = [CompiledCall(*each) for each in works.items()]
    found = [note.text.split(" because")[0] for note in compiled_work.check_work(called, 1.0)]
    assert found == [f"The compiler removed work from {name}" for name in "fh"]


def fast(flops: float, peak: float | None) -> Work:
    return work(flops, flops, peak=lambda: peak)


@pytest.mark.parametrize(
    ("works", "told"),
    [([fast(3.1e12, 1e12)], True), ([fast(2.9e12, 1e12)], False),
     ([fast(2e12, 1e12), fast(2e12, 1e12)], True),  # together
     ([fast(2e12, 1e12), fast(2e12, 2e12)], False),
     ([fast(4e12, 1e12), fast(1.0, None)], False),  # of one the device is not known
     ([work(4e12, unused=4e12, peak=lambda: 1e12)], False)],  # which explains it
)  # fmt: skip
def test_three_times_the_peak_of_the_device_is_impossible(works: list[Work], told: bool) -> None:
    assert ("impossible-speed" in codes(*works)) is told


def test_the_device_is_asked_only_where_no_core_is_so_fast() -> None:
    asked: list[float] = []

    def peak() -> float:
        asked.append(1)
        return 1e9

    assert codes(work(0.9e11, 0.9e11, peak=peak)) == []
    assert codes(work(1e12, 1e12, peak=peak), seconds=11.0) == []
    assert codes(work(1e12, 1e12, peak=peak), seconds=0.0) == []
    assert asked == []
    assert codes(work(1.1e11, 1.1e11, peak=peak)) == ["impossible-speed"]


# Which calls are looked at


def compiled(*_: object, **__: object) -> int:
    return 1


@pytest.fixture
def asked(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Which arguments the framework is asked of, of calls of `compiled`, where code has run."""
    calls: list[Any] = []
    compilation = bench.framework.capability(Compilation)

    def work_of(_: object, args: Sequence[object], kwargs: Mapping[str, object]) -> Work:
        calls.append((tuple(args), dict(kwargs)))
        return work(1.0)

    monkeypatch.setattr(compilation, "compiles", lambda value: value is compiled)
    monkeypatch.setattr(compilation, "work", work_of)

    def ask(code: str, **names: object) -> list[Any]:
        calls.clear()
        names |= {"f": compiled, "g": lambda x: x}
        scope = Scope(Snippet(Source.plain(code), names), [bench.framework])
        called = list(compiled_work.compiled_calls(scope, [bench.framework]))
        assert len(called) == len(calls)
        return calls

    return ask


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("f(1, -2.5, 'a', None)", [((1, -2.5, "a", None), {})]),
        ("f(x, n=x, k=[1])", [((7,), {"n": 7, "k": [1]})]),
        ("f(o.inner.x)", [((9,), {})]),
        *((code, [((7,), {})]) for code in ["y: int = f(x)", "x += f(x)", "x = f(x)", "g(f(x))",
          "z = 1; f(x).real"]),
        ("; ".join(f"f({i})" for i in range(6)), [((i,), {}) for i in range(4)]),
        # Calls that run code, or may be left out.
        *((code, []) for code in ["f(*[x])", "f(**{'a': x})", "f(g(x))", "f(x + 1)", "f(x[0])",
          "f(unknown)", "f(o.missing)", "x and f(x)", "f(x) if x else 1", "[f(x) for _ in 'ab']",
          "lambda: f(x)", "x = 2; f(x)", "for _ in 'ab': f(x)", "if x: f(x)", "g(x)"]),
    ],
)  # fmt: skip
def test_calls_that_each_run_makes_are_looked_at(asked: Any, code: str, found: list) -> None:
    assert asked(code, x=7, o=SimpleNamespace(inner=SimpleNamespace(x=9))) == found


# What is built in each call


@pytest.fixture
def built(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is said of code that takes 200 µs; ``jit`` takes 50 of them to make a function."""

    jit = lambda function: (bench.clock.advance(50_000), function)[1]  # noqa: E731
    grad = lambda function: function  # noqa: E731
    monkeypatch.setattr(FakeCompilation, "builders", ((jit, ""), (grad, "jit")))
    bench.names |= {"jit": jit, "grad": grad, "f": lambda: bench.clock.advance(150_000),
                    "make": lambda: bench.names["f"]}  # fmt: skip

    def time(code: str) -> Note | None:
        found = bench.time(code, number=1, repeat=9).notes
        return next((note for note in found if note.code == "built-each-call"), None)

    return time


@pytest.mark.parametrize(
    ("code", "text", "advice"),
    [("jit(f)()", "jit(...), which takes 50.0 µs of its 200 µs.", "jit(f)"),
     ("jit(lambda: f())()", "jit(...), which takes 50.0 µs of", "jit(lambda: f())"),
     ("jit(make())()", "jit(...).", "jit(make())"), ("grad(f)()", "grad(...).", "jit(grad(f))"),
     ("@jit\ndef g(): f()\ng()", "jit(...).", None)],
)  # fmt: skip
def test_what_is_built_each_time_costs(
    built: Any, code: str, text: str, advice: str | None
) -> None:
    note = built(code)
    assert note.text.startswith(f"Every call runs {text}")
    once = f"run  g = {advice}  once, outside, and time  g(...)"
    assert note.advice == (once if advice else "create it once, outside, and time its call")


def test_what_was_built_before_is_not(built: Any, bench: Bench) -> None:
    bench.names["g"] = bench.names["jit"](bench.names["f"])
    assert built("g()") is None
    assert built("make()()") is None
