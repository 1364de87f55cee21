"""What code builds in each call, and what its compiled functions are asked of and told about."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.frameworks import Scope, Work
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
    called = [CompiledCall("f", work(2e6, unused=2e6)), CompiledCall("g", work(3e6, 3e6)),
              CompiledCall("h", work(4e6, unused=4e6))]  # fmt: skip
    found = [note.text.split(" because")[0] for note in compiled_work.check_work(called, 1.0)]
    assert found == [f"The compiler removed work from {name}" for name in "fh"]


def fast(flops: float, peak: float | None) -> Work:
    return work(flops, flops, peak=lambda: peak)


@pytest.mark.parametrize(
    ("works", "told"),
    [
        ([fast(3.1e12, 1e12)], True),
        ([fast(2.9e12, 1e12)], False),
        ([fast(2e12, 1e12), fast(2e12, 1e12)], True),  # together
        ([fast(2e12, 1e12), fast(2e12, 2e12)], False),
        ([fast(4e12, 1e12), fast(1.0, None)], False),  # of one the device is not known
        ([work(4e12, unused=4e12, peak=lambda: 1e12)], False),  # which explains it
    ],
)
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


class Asked(FakeCompilation):
    """Compiles `compiled`, and keeps what its calls are asked of."""

    calls: list[tuple[tuple[object, ...], dict[str, object]]]

    def compiles(self, value: object) -> bool:
        return value is compiled

    def work(
        self, function: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Work | None:
        self.calls.append((tuple(args), dict(kwargs)))
        return work(1.0)


def compiled(*_: object, **__: object) -> int:
    return 1


@pytest.fixture
def asked(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Which arguments the framework is asked of, where this code has run."""
    monkeypatch.setitem(type(bench.framework).capabilities, "Compilation", f"{__name__}:Asked")

    def ask(code: str, **names: object) -> list[Any]:
        names |= {"f": compiled, "g": lambda x: x}
        framework = type(bench.framework)(bench.device)
        Asked.calls = []
        scope = Scope(Snippet(Source.plain(code), names), [framework])
        called = list(compiled_work.compiled_calls(scope, [framework]))
        assert len(called) == len(Asked.calls)
        return Asked.calls

    return ask


@pytest.mark.parametrize(
    ("code", "args", "kwargs"),
    [("f(1, -2.5, 'a', None)", (1, -2.5, "a", None), {}),
     ("f(x, n=x, k=[1])", (7,), {"n": 7, "k": [1]}), ("f(o.inner.x)", (9,), {}),
     ("y: int = f(x)", (7,), {}), ("x += f(x)", (7,), {}),
     ("x = f(x)", (7,), {}), ("g(f(x))", (7,), {}), ("z = 1; f(x).real", (7,), {})],
)  # fmt: skip
def test_a_call_that_each_run_makes_is_looked_at(
    asked: Any, code: str, args: tuple, kwargs: dict
) -> None:
    inner = SimpleNamespace(x=9)
    assert asked(code, x=7, o=SimpleNamespace(inner=inner)) == [(args, kwargs)]


@pytest.mark.parametrize(
    "code",
    ["f(*[x])", "f(**{'a': x})", "f(g(x))", "f(x + 1)", "f(x[0])", "f(unknown)", "f(o.missing)",
     "x and f(x)", "f(x) if x else 1", "[f(x) for _ in 'ab']", "lambda: f(x)", "x = 2; f(x)",
     "for _ in 'ab': f(x)", "if x: f(x)", "g(x)"],
)  # fmt: skip
def test_calls_that_run_code_or_may_be_left_out_are_not(asked: Any, code: str) -> None:
    assert asked(code, x=7, o=SimpleNamespace()) == []


def test_of_many_calls_four_are_looked_at(asked: Any) -> None:
    found = [args for args, _ in asked("; ".join(f"f({i})" for i in range(6)))]
    assert found == [(0,), (1,), (2,), (3,)]


# What is built in each call


@pytest.fixture
def built(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is said of code that takes 200 µs; ``jit`` takes 50 of them to make a function."""

    def jit(function: Any) -> Any:
        bench.clock.advance(50_000)
        return function

    def grad(function: Any) -> Any:
        return function

    monkeypatch.setattr(FakeCompilation, "builders", ((jit, ""), (grad, "jit")))
    bench.names |= {"jit": jit, "grad": grad, "f": lambda: bench.clock.advance(150_000),
                    "make": lambda: bench.names["f"]}  # fmt: skip

    def time(code: str) -> Note | None:
        found = bench.time(code, number=1, repeat=9).notes
        return next((note for note in found if note.code == "built-each-call"), None)

    return time


@pytest.mark.parametrize(
    ("code", "text", "advice"),
    [
        ("jit(f)()", "Every call runs jit(...), which takes 50.0 µs of its 200 µs.",
         "run  g = jit(f)  once, outside, and time  g(...)"),
        ("jit(lambda: f())()", "Every call runs jit(...), which takes 50.0 µs of",
         "run  g = jit(lambda: f())  once, outside, and time  g(...)"),
        ("jit(make())()", "Every call runs jit(...).",
         "run  g = jit(make())  once, outside, and time  g(...)"),
        ("grad(f)()", "Every call runs grad(...).",
         "run  g = jit(grad(f))  once, outside, and time  g(...)"),
        ("@jit\ndef g(): f()\ng()", "Every call runs jit(...).",
         "create it once, outside, and time its call"),
    ],
)  # fmt: skip
def test_what_is_built_in_each_call_is_told_with_its_cost(
    built: Any, code: str, text: str, advice: str
) -> None:
    note = built(code)
    assert note.text.startswith(text)
    assert note.advice == advice


def test_what_was_built_before_is_not(built: Any, bench: Bench) -> None:
    bench.names["g"] = bench.names["jit"](bench.names["f"])
    assert built("g()") is None
    assert built("make()()") is None
