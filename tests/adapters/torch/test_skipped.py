"""Functions that PyTorch skips since an earlier call say so, and since when."""

import gc
import threading
from typing import Any

import pytest
import torch
import torch._dynamo
from torch._dynamo.eval_frame import skip_code

from ipyjaxbench.adapters.torch.retracing.other_threads import threads_before
from ipyjaxbench.retracing.predict import predict_code
from ipyjaxbench.usercode.snippet import Source
from tests.traced import observed

SOURCE = """
def fails(gm, inputs): raise ValueError("not today")
def body(x): return x * 2
def unknown(x): return x * 3
def generator(x): yield x * 2
failing = torch.compile(body, backend=fails)
skipped, yielding = (torch.compile(f, backend="eager") for f in (unknown, generator))
@torch.compile(backend="eager")
def of_list(xs): return sum(x.sum() for x in xs)
@torch.compiler.disable
def disabled(x): return x * 4
@torch.compile(backend="eager")
def working(x): return x * 5
@torch.compile(backend="eager")
def outer(x): return working(x) + 1
def own(gm, inputs): return gm.forward
mapped = torch.compile(lambda x: x * 6, backend=own)  # others than "eager" allow no torch.func
X = torch.ones(3)
"""
SINCE = "nothing was compiled: PyTorch skips it since an earlier call, which "
FAILED = f"{SINCE}failed: backend='fails' raised: ValueError: not today"
EMPTY = f"{SINCE}found no operations to compile"
OF_FUNC = f"{SINCE}failed: torch.vmap or torch.func calls it: compile the function that calls"
OF_FUNC += " these instead"
SKIPS = "nothing was compiled: PyTorch skips this function"
LIMITED = "with torch._dynamo.config.patch(recompile_limit=1): "
RESET = ("Run `torch.compiler.reset()`, so that PyTorch tries again",)


@pytest.fixture
def names() -> dict[str, Any]:
    torch._dynamo.reset()
    names: dict[str, Any] = {"torch": torch}
    exec(compile(SOURCE, "<cell>", "exec"), names)
    return names


@pytest.mark.filterwarnings("ignore")  # PyTorch's, of the error
@pytest.mark.parametrize("is_seen", [True, False])
@pytest.mark.parametrize(
    ("first", "then", "why", "fixes"),
    [
        ("failing(X)", "failing(X)", FAILED, RESET),
        ("of_list([])", "of_list([X])", EMPTY, RESET),
        ("torch.vmap(mapped)(torch.ones(2, 3))", "mapped(X)", OF_FUNC, RESET),
        ("", "skipped(X)", SKIPS, ()),
        ("", "[*yielding(X)]", SKIPS, ()),
    ],
)
def test_the_reason_is_that_of_the_call_since_which_it_is_skipped(
    names: dict[str, Any], first: str, then: str, why: str, fixes: tuple[str, ...], is_seen: bool
) -> None:
    skip_code(names["unknown"].__code__)
    with torch._dynamo.config.patch(suppress_errors=True):
        if is_seen and first:
            (call,) = observed(first, names).calls
            assert call.why[0].words() != why
        else:
            exec(first, names)
        (call,) = observed(then, names).calls
    assert (call.state, [each.words() for each in call.why]) == ("EAGER-FALLBACK", [why])
    assert call.fixes == fixes


def test_what_is_told_to_be_run_has_it_compiled(names: dict[str, Any]) -> None:
    names["of_list"]([])
    torch.compiler.reset()
    assert [call.state for call in observed("of_list([X])", names).calls] == ["TRACED"]


@pytest.mark.filterwarnings("ignore")
def test_what_failed_is_no_program(names: dict[str, Any]) -> None:
    with torch._dynamo.config.patch(suppress_errors=True):
        assert observed("list(map(failing, [X]))", names).internal == ()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("before", "code", "states"),
    [
        ("", "[*map(skipped, [X, X])]", ["EAGER-FALLBACK"] * 2),
        ("", "[*map(disabled, [X])]; skipped(X)", ["BYPASSED", "EAGER-FALLBACK"]),
        ("", "[*map(of_list, [[]])]", ["EAGER-FALLBACK"]),
        ("of_list([])", "[*map(of_list, [[X]])]", ["EAGER-FALLBACK"]),
        ("failing(X)", "[*map(failing, [X])]", ["EAGER-FALLBACK"]),
        ("", "[*map(working, [X, X])]", ["TRACED", "CACHED"]),
        ("mapped(X)", "torch.vmap(mapped)(torch.ones(2, 4))", ["EAGER-FALLBACK"]),
        (
            "working(X)",
            LIMITED + "[*map(working, [X, torch.ones(4)])]",
            ["CACHED", "EAGER-FALLBACK"],
        ),
        ("", "[*map(outer, [X, X])]", ["TRACED", "CACHED"]),
    ],
)
def test_a_call_that_other_code_makes_has_a_row(
    names: dict[str, Any], before: str, code: str, states: list[str]
) -> None:
    asked = torch._dynamo.eval_frame._callback_from_stance
    skip_code(names["unknown"].__code__)
    with torch._dynamo.config.patch(suppress_errors=True):
        exec(before, names)
        calls = observed(code, names).calls
    assert [call.state for call in calls for _ in range(call.times)] == states
    told = [call for call in calls if call.state in ("EAGER-FALLBACK", "BYPASSED")]
    assert all(call.why and call.line == 1 for call in told)
    assert torch._dynamo.eval_frame._callback_from_stance is asked


def test_a_program_whose_objects_are_gone_serves_no_call(names: dict[str, Any]) -> None:
    exec("def part(x): return x * 2\ndef other(x): return x * 3\n"
         "f = torch.compile(lambda x: part(x), backend='eager')\nf(X)", names)  # fmt: skip
    for change in ("part.__code__ = other.__code__", "del other"):
        exec(change, names)
        gc.collect()
        (call,) = predict_code(Source.plain("f(X)"), names).calls
        assert call.state == "WOULD-TRACE"


def test_threads_that_wait_for_dynamo_are_not_skipped(names: dict[str, Any]) -> None:
    """Each call has one row: those that waited are compiled too, and no cache was cleared."""

    def waits(gm: Any, inputs: Any) -> Any:
        while len(threads_before(names["body"])) < names["left"]:
            pass
        names["left"] -= 1
        return gm.forward

    names |= {"threading": threading, "left": 2}
    names["f"] = torch.compile(names["body"], backend=waits)
    code = "ts = [threading.Thread(target=f, args=(X,)) for _ in range(3)]\n"
    code += "[t.start() for t in ts]; [t.join() for t in ts]"
    calls = observed(code, names).calls
    told = [(call.state, [each.words() for each in call.why]) for call in calls]
    at_once = ("TRACED", ["another thread compiled the same at that time"])
    assert told == [("TRACED", ["first call"]), at_once, at_once]
