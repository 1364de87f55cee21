"""Whether calls would be traced, found without running anything."""

from typing import Any

import pytest

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.retracing import predict_code
from ipyjaxbench.retracing.trace_log import TraceLog
from ipyjaxbench.retracing.traces import Traces
from ipyjaxbench.testing import FakeArray
from ipyjaxbench.usercode import Source
from tests.retracing.fake import Jitted, TracingFramework, signature


class Shaped(FakeArray):
    """An array that says how large it is."""

    shape = (4,)


class Owner:
    """Holds a compiled function as a method."""

    step = Jitted("step")


@pytest.fixture
def names(fake: TracingFramework) -> dict[str, Any]:
    f = Jitted("f")
    f.calls = [1]  # what it was called with before
    return {"f": f, "g": Jitted("g"), "h": h, "o": Owner(), "x": Shaped(fake.device, 0), "n": 1}


def h(*_: object) -> int:
    raise AssertionError("the user's code was run")


def predicted(code: str, names: dict[str, Any]) -> Traces:
    return predict_code(Source.plain(code), names)


HIT, TRACE = "WOULD-HIT", "WOULD-TRACE"


@pytest.mark.parametrize(
    ("code", "states"),
    [
        ("f(1)", [HIT]), ("f(2)", [TRACE]), ("f(-1)", ["?"]), ("f(2); f(2)", [TRACE, HIT]),
        ("f(2); g(2)", [TRACE, TRACE]), ("f(n); f(n + 1)", [HIT, TRACE]),
        ("f(n=1); f(**{'n': 1}); f(*[1])", [HIT] * 3), ("f(h())", ["?"]), ("f(n=h())", ["?"]),
        ("f(f(1))", [HIT, "?"]), ("h(f(1))", [HIT]), ("m = 1; f(m)", [HIT]),
        ("n = 2; f(n)", [TRACE]), ("n = h(); f(n)", ["?"]), ("n = f(1); f(n)", [HIT, "?"]),
        ("for n in (1,): f(n)", ["?"]), ("n += 0; f(n)", ["?"]), ("n, m = 1, 2; f(n)", ["?"]),
        ("import n; f(n)", ["?"]), ("import n.m; f(n)", ["?"]), ("import m as n; f(n)", ["?"]),
        ("from m import n; f(n)", ["?"]), ("def n(): f(3)\nf(n)", ["?"]),
        ("class n: pass\nf(n)", ["?"]), ("k = lambda: f(3); f(1)", [HIT]),
        ("f(x.shape[0])", [TRACE]), ("o.step(1)", [TRACE]),
    ],
)  # fmt: skip
def test_calls_are_predicted_in_order(names: dict[str, Any], code: str, states: list[str]) -> None:
    found = predicted(code, names)
    assert [call.state for call in found.calls] == states
    assert (found.code, found.frameworks) == (code, {"fake": "1.0"})
    assert names["f"].calls == [1]


def test_each_call_has_its_line_and_its_reason(names: dict[str, Any], log: TraceLog) -> None:
    log.add("fake", "g", signature(1))
    calls = predicted("f(2)\nf(3)\ng(2)\nf(-1)\nf(h(1), n=h(2))", names).calls
    assert [(call.name, call.line, call.text, call.number) for call in calls] == [
        ("f", 1, "f(2)", 1), ("f", 2, "f(3)", 2), ("g", 3, "g(2)", 1),
        ("f", 4, "f(-1)", 3), ("f", 5, "f(h(1), n=h(2))", 4),
    ]  # fmt: skip
    assert ["; ".join(change.words() for change in call.why) for call in calls] == [
        "first call",
        "first call",
        "n: f32[1] → f32[2] (shape)",
        "",
        "depends on h(1), which was not run; depends on h(2), which was not run",
    ]
    says = "cannot be predicted without running the call"
    assert [call.says for call in calls] == ["", "", "", says, ""]
    assert {(call.times, call.seconds, call.framework) for call in calls} == {(1, 0.0, "fake")}


def test_of_a_name_that_is_not_defined_the_traceback_is_short(names: dict[str, Any]) -> None:
    with pytest.raises(NameError, match="name 'nope' is not defined") as raised:
        predict_code(Source.plain("f(nope)"), names)
    assert len(raised.traceback) == 2


LOOKS = "--predict looks at what jax.jit, torch.compile and tf.function return"


@pytest.mark.parametrize(("code", "why"), [
    ("x + n", LOOKS),
    ("h(1)", LOOKS),
    ("import f; f(1)", "f is created at run time: assign it to a name first"),
    ("h(2)(1); h(3)(1)", "h(3) is created at run time: assign it to a name first"),
])  # fmt: skip
def test_what_calls_nothing_compiled_is_said(names: dict[str, Any], code: str, why: str) -> None:
    with pytest.raises(SnippetError) as raised:
        predicted(code, names)
    assert str(raised.value) == f"{code!r} calls no compiled function: {why}"
