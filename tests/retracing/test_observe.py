"""Code is run, and each call of a compiled function in it is looked at."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from ipyjaxbench.errors import TooManyTracesError
from ipyjaxbench.frameworks import Program
from ipyjaxbench.retracing import (
    CacheMiss,
    Retracing,
    TraceOptions,
    Traces,
    keep_learning,
    observe_code,
)
from ipyjaxbench.retracing.call_recorder import CallRecorder
from ipyjaxbench.retracing.observe import learns
from ipyjaxbench.retracing.protocol import call_watches
from ipyjaxbench.retracing.trace_log import TraceLog
from ipyjaxbench.testing import FakeArray
from ipyjaxbench.usercode import OutputRecorder, Source
from tests.retracing.fake import TRACED, Eager, Jitted, TracingFramework, Watch, signature


def inside(f: Any, n: int) -> Any:
    """A function of the user's, with a call in it."""
    return f(n)


def observed(
    code: str, twice: bool = False, most: int | None = None, internal: bool = False, **names: Any
) -> tuple[Traces, BaseException | None]:
    options = TraceOptions(most=most, internal=internal)
    return observe_code(Source.plain(code), names, options, twice=twice)


@pytest.fixture
def watch(fake: TracingFramework) -> Watch:
    assert fake.watch is not None
    return fake.watch


@pytest.mark.parametrize("compiles_code", [True, False])
def test_calls_are_seen_in_the_users_functions_too(watch: Watch, compiles_code: bool) -> None:
    """The functions of the user are changed meanwhile, unless frameworks compile their code."""
    watch.compiles_code = compiles_code
    before, codes = inside.__code__, []

    def look() -> Iterator[None]:
        while True:
            codes.append((inside.__code__ is before, watch.is_open))
            yield

    f = Jitted("f", TRACED)
    f.body = partial(next, look())  # leads to nothing that the code can reach
    found, error = observed("inside(f, 1)\ny = f(1)\n", f=f, inside=inside)
    assert error is None
    assert [call.state for call in found.calls] == ["TRACED", "CACHED"]
    assert [call.text for call in found.calls] == ["f(n)", "f(1)"]
    assert found.calls[1].line == 2
    assert (found.code, found.frameworks) == ("inside(f, 1)\ny = f(1)", {"fake": "1.0"})
    assert (found.seen, found.error, found.internal) == (1, "", ())
    assert codes == [(compiles_code, True)] * 2
    assert inside.__code__ is before
    assert not watch.is_open


def test_what_was_seen_until_an_error_is_kept(fake: TracingFramework, log: TraceLog) -> None:
    f, work = Jitted("f", TRACED), misses(log, "g")
    work()  # traces of before are not those of the code
    found, error = observed("f(1)\nwork()\n1 / 0\nf(2)", most=1, f=f, work=work)
    assert isinstance(error, ZeroDivisionError)
    assert [(call.name, call.state) for call in found.calls] == [("f", "TRACED"), ("g", "TRACED")]
    assert found.error == "ZeroDivisionError: division by zero"
    assert f.calls == [1]


@pytest.mark.parametrize("twice", [True, False])
def test_a_second_run_shows_what_the_first_one_left(fake: TracingFramework, twice: bool) -> None:
    f = Jitted("f", TRACED)
    found, _ = observed("f(1)", twice, f=f)
    assert f.calls == [1] * (1 + twice)
    assert [call.state for call in found.calls] == ["TRACED", "CACHED"][: 1 + twice]
    for code in ("'text'", "x = 1"):  # it calls nothing compiled, and names no framework
        found, error = observed(code, twice)
        assert (found.frameworks, found.calls, found.seen, error) == ({}, (), 0, None)


@pytest.mark.parametrize(("donates", "runs"), [(True, 2), (False, 1)])
def test_a_second_run_needs_its_arrays(fake: TracingFramework, donates: bool, runs: int) -> None:
    """A copy stands for what the first run gave away, where it is known to do so."""
    fake.donates = donates
    f, x = Jitted("f"), FakeArray(fake.device, 0)
    names: dict[str, Any] = {"f": f, "x": x}
    used: list[int] = []  # an array in it would be in use, too

    def give_away() -> None:
        used.append(id(names["x"]))
        names["x"].deleted = True

    f.body = give_away
    _, error = observe_code(Source.plain("f(1), x"), names, TraceOptions(), twice=True)
    assert error is None
    assert len(used) == runs
    assert names["x"] is x
    assert [number == id(x) for number in used] == [True, False][:runs]


def misses(log: TraceLog, *names: str) -> Any:
    """A function of the user's in which a framework reports traces that no call shows."""

    def work() -> None:
        for number, name in enumerate(names, 1):
            log.record("fake", CacheMiss(name, signature(number), placed=False))

    return work


@pytest.mark.parametrize(("most", "fails"), [(2, False), (1, True)])
def test_traces_of_no_call_count(
    fake: TracingFramework, log: TraceLog, most: int, fails: bool
) -> None:
    found, error = observed("work()", most=most, work=misses(log, "g", "g"))
    assert [(call.name, call.number, call.state) for call in found.calls] == [
        ("g", 1, "TRACED"), ("g", 2, "TRACED"),
    ]  # fmt: skip
    assert isinstance(error, TooManyTracesError) is fails
    if fails:
        words = "`g` was traced 2 times, limit 1. Reason: n: f32[1] → f32[2] (shape)"
        assert str(error) == words
        assert found.error == f"TooManyTracesError: {words}"


def test_programs_beside_calls_are_told(
    fake: TracingFramework, watch: Watch, log: TraceLog
) -> None:
    g, h = (Program(name, 0.5, "compiled", "fake") for name in "gh")
    watch.programs = (h, g, g, h)
    found, _ = observed("work()", internal=True, work=misses(log, "g"))
    assert (found.internal, found.show_internal) == ((h, g, h), True)
    assert not observed("x = 1")[0].show_internal
    other = Watch()  # programs are those of all watches
    other.programs = (g,)
    both = CallRecorder([(fake, watch), (fake, other)], OutputRecorder(), None)
    assert both.outside() == (h, g, g, h, g)


def test_a_framework_is_asked_until_it_reports(fake: TracingFramework, log: TraceLog) -> None:
    assert not learns("fake")
    keep_learning()
    keep_learning()
    assert (len(fake.listeners), learns("fake")) == (2, False)
    fake.reports = True
    keep_learning()
    keep_learning()
    assert (len(fake.listeners), learns("fake")) == (3, True)
    fake.listeners[-1](CacheMiss("f", signature(1), placed=False))
    assert log.functions() == [("fake", "f")]
    assert not learns("eager")


def test_only_frameworks_that_compile_have_a_watch_and_report(fake: TracingFramework) -> None:
    offered = Retracing(Eager())
    assert offered.call_watch() is None
    assert offered.is_tracing(((), {})) is offered.listen(print) is False
    assert list(call_watches([Eager(), fake])) == [(fake, fake.watch)]
    fake.watch = None
    assert list(call_watches([fake])) == []
