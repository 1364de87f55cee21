"""What PyTorch does in each call of a compiled function: verdicts and reasons that are right."""

import functools
import logging
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list, set_guard_complete_hook

from ipyjaxbench.adapters.torch import Torch
from ipyjaxbench.errors import TooManyTracesError
from ipyjaxbench.retracing import trace_log
from ipyjaxbench.retracing.max_traces import assert_max_traces
from ipyjaxbench.retracing.observe import keep_learning, learns, observe_code
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.retracing.predict import predict_code
from ipyjaxbench.retracing.protocol import Retracing
from ipyjaxbench.usercode.snippet import Source
from tests.traced import Provoked, judged, observed

# What dynamo sets when it is first used: a variable, and a warning's filter.
torch.compile(torch.sin, backend="aot_eager")(torch.ones(1))

HEAD = "f(X); "
CASES = (
    # arguments
    Provoked("f(X)", "TRACED", "first", "first call"),
    Provoked(HEAD + "f(X)", "CACHED"),
    Provoked(HEAD + "f(X + 1)", "CACHED"),
    Provoked(HEAD + "f(ones(5, 4))", "TRACED", "shape", "x: f32[4,4] → f32[5,4]"),
    Provoked(HEAD + "f(ones(5, 4)); f(ones(6, 4))", "CACHED"),
    Provoked(HEAD + "f(X.double())", "TRACED", "dtype", "x: f32[4,4] → f64[4,4]"),
    Provoked(HEAD + "f(ones(4))", "TRACED", "rank", "x: f32[4,4] → f32[4]"),
    Provoked(HEAD + "f(X.t())", "TRACED", "layout", "x: contiguous → strides (1, 4)"),
    Provoked(HEAD + "f(X.clone().requires_grad_())", "TRACED", "layout", "requires_grad"),
    Provoked(HEAD + "f(X, 2.0)", "TRACED", "number", "s: 1.0 → 2.0"),
    Provoked(HEAD + "f(X, 2.0); f(X, 3.0)", "CACHED"),
    Provoked("f(X, 2.0); f(X, s=2.0)", "CACHED"),
    Provoked(HEAD + "f(X, flag=False)", "TRACED", "number", "flag: True → False"),
    Provoked(HEAD + "f(X, s=torch.tensor(2.0))", "TRACED", "type", "s: float → f32[]"),
    Provoked("chosen(X, 'relu'); chosen(X, 'tanh')", "TRACED", "static value", "'relu' → 'tanh'"),
    Provoked("chosen(X, None); chosen(X, X)", "TRACED", "type", "mode: None → f32[4,4]"),
    Provoked("total([X, X]); total([X, X, X])", "TRACED", "structure", "xs[2] was added"),
    Provoked("total([X, X]); total([X, ones(1, 4)])", "TRACED", "shape", "xs[1]: f32[4,4]"),
    Provoked("apply(X, torch.sin); apply(X, torch.cos)", "TRACED", "static value", "sin → cos"),
    # what a call does not tell
    Provoked("of_global(X)\nG = 4\nof_global(X)", "TRACED", "number", "global G: 3 → 4"),
    Provoked("by_helper(X)\nG = 4\nby_helper(X)", "TRACED", "number", "global G: 3 → 4"),
    Provoked("by_table(X)\nT['k'] = 4\nby_table(X)", "TRACED", "guard", "T['k'] == 3"),
    Provoked(HEAD + "\nwith torch.no_grad():\n    f(X)", "TRACED", "setting",
             "grad mode: on → off"),
    Provoked(HEAD + "\nwith torch.autocast('cpu'):\n    f(X)", "TRACED", "setting",
             "autocast: off → cpu"),
    Provoked("torch.compile(plain, backend='eager')(X)\n"
             "torch.compile(plain, backend='aot_eager')(X)", "TRACED", "guard",
             "different backend"),
    # modules, methods, closures, partials
    Provoked("net(X); net(X)", "CACHED"),
    Provoked("net(X)\nmodule.eval()\nnet(X)", "TRACED", "static value",
             "self.training: True → False"),
    Provoked("net(X); net(ones(2, 4))", "TRACED", "shape", "x: f32[4,4] → f32[2,4]"),
    Provoked("linear(X); linear(ones(4))", "TRACED", "rank", "input: f32[4,4] → f32[4]"),
    Provoked("module.compile(backend='eager')\nmodule(X)\nmodule(ones(2, 4))", "TRACED", "shape",
             "x: f32[4,4] → f32[2,4]"),
    Provoked("module.forward = compiled(module.forward)\nmodule(X)\nmodule(ones(2, 4))", "TRACED",
             "shape", "x: f32[4,4] → f32[2,4]"),
    Provoked("forwarded(X); forwarded(ones(2, 4))", "TRACED", "shape", "x: f32[4,4] → f32[2,4]"),
    Provoked("called(X); called(ones(2, 4))", "TRACED", "shape", "x: f32[4,4] → f32[2,4]"),
    Provoked("sine(X); sine(X.double())", "TRACED", "dtype", "f32[4,4] → f64[4,4]"),
    Provoked("m.step(X); m.step(ones(2, 4))", "TRACED", "shape", "x: f32[4,4] → f32[2,4]"),
    Provoked("m.step(X)\nm.scale = 3.0\nm.step(X)", "TRACED", "number", "self.scale: 2.0 → 3.0"),
    Provoked("h = functools.partial(f, s=2.0); h(X); h(ones(2, 4))", "TRACED", "shape", "x: "),
    Provoked("made(2)(X); made(2)(X)", "CACHED"),
    Provoked("made(2)(X); made(3)(X)", "TRACED", "number", "s: 2 → 3"),
    Provoked("defined()(X); defined()(X)", "CACHED"),
    Provoked("exec(CODE); again(X)\nexec(CODE); again(X)", "TRACED", "function", "same code"),
    Provoked("outer(X); outer(ones(2, 4))", "TRACED", "shape", "x: f32[4,4] → f32[2,4]"),
    # where dynamo gives up, or is told to
    Provoked("broken(X)", "BREAK", "first", "first call"),
    Provoked("broken(X); broken(X)", "CACHED"),
    Provoked("forked(X); forked(-X)", "TRACED", "guard", "ran for the first time"),
    Provoked("forked(X); forked(-X); forked(X)", "CACHED"),
    Provoked("for n in range(2, 11):\n    limited(X, n)", "EAGER-FALLBACK", "number", "n: 9 → 10"),
    Provoked("for n in range(2, 13):\n    limited(X, n)", "EAGER-FALLBACK", "guard",
             "recompile limit (8) reached"),
    Provoked("for n in range(2, 13):\n    limited(X, n)\nlimited(X, 5)", "CACHED"),
    Provoked("looped(X)", "EAGER-FALLBACK", "guard", "nothing was compiled: "),
    Provoked("looped(X); looped(X)", "EAGER-FALLBACK", "guard", "nothing was compiled: "),
    Provoked("with torch.compiler.set_stance('force_eager'):\n    f(X)", "BYPASSED", "guard",
             "force_eager"),
    Provoked(HEAD + "\nwith torch.compiler.set_stance('eager_on_recompile'):\n    f(X.double())",
             "BYPASSED", "guard", "eager_on_recompile"),
    Provoked("torch.compiler.disable(plain)(X)", "BYPASSED", "guard", "torch.compiler.disable"),
    Provoked("with torch._dynamo.config.patch(disable=True):\n    f(X)", "BYPASSED", "guard",
             "torch._dynamo.config.disable"),
    Provoked("try:\n    whole(X)\nexcept Exception: pass", "RAISED"),
)  # fmt: skip
ALWAYS = "Use `torch.compile(..., dynamic=True)`"
_MOST_UNKNOWN = 2
_SOURCE = """
G = 3
T = {"k": 3}

@compiled
def f(x, s=1.0, flag=True):
    return x * s if flag else x + s

@compiled
def chosen(x, mode):
    return x + 1 if mode is None else torch.relu(x) if mode == "relu" else x - 1

@compiled
def total(xs):
    return sum(xs) * 2

@compiled
def apply(x, g):
    return g(x)

@compiled
def of_global(x):
    return x * G

def helper(x):
    return x * G

@compiled
def by_helper(x):
    return helper(x) + 1

@compiled
def by_table(x):
    return x * T["k"]

def plain(x):
    return x * 2 + 1

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.linear(x))

class Forwarded(torch.nn.Module):
    @compiled
    def forward(self, x):
        return x * 4

class Called:
    def __call__(self, x):
        return x * 6

class Model:
    scale = 1.0

    def __init__(self):
        self.scale = 2.0

    @compiled
    def step(self, x):
        return x * self.scale

def made(s):
    @compiled
    def inner(x):
        return x * s
    return inner

def defined():
    @compiled
    def same(x):
        return x * 5
    return same

@compiled
def broken(x):
    y = x + 1
    print("between")
    return y * 2

@functools.partial(torch.compile, backend="eager", dynamic=False)
def limited(x, n):
    return x * n

@compiled
def forked(x):
    if x.sum() > 0:
        return x + 1
    return x - 1

@compiled
def looped(x):
    for _ in range(2):
        x = x + 1
        print("in a loop")
    return x

@functools.partial(torch.compile, backend="eager", fullgraph=True)
def whole(x):
    if x.sum() > 0:
        return x + 1
    return x - 1
"""
_AGAIN = "@compiled\ndef again(x):\n    return x * 7\n"


def start(backend: str = "eager") -> dict[str, Any]:
    """Functions that were never compiled."""
    names: dict[str, Any] = {
        "torch": torch, "functools": functools, "ones": torch.ones, "X": torch.ones(4, 4),
        "compiled": functools.partial(torch.compile, backend=backend), "__name__": "__main__",
        "CODE": _AGAIN,
    }  # fmt: skip
    exec(compile(_SOURCE, "<cell>", "exec"), names)
    f, module = names["f"], names["Net"]()

    def outer(x: torch.Tensor) -> Any:
        return f(x)

    names.update(
        module=module, net=names["compiled"](module), m=names["Model"](), outer=outer,
        linear=names["compiled"](torch.nn.Linear(4, 4)), forwarded=names["Forwarded"](),
        called=names["compiled"](names["Called"]()), sine=names["compiled"](torch.sin),
    )  # fmt: skip
    return names


def fresh(backend: str = "eager") -> dict[str, Any]:
    """The names of a case, and nothing seen of functions with the same names before."""
    torch._dynamo.reset()
    trace_log.TRACE_LOG.clear()
    return start(backend)


def test_verdicts_and_reasons_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts, reasons, unknown = judged(CASES, fresh)
    capsys.readouterr()
    with capsys.disabled():
        print(f"\nPyTorch: {len(CASES)} cases, {len(verdicts)} wrong verdicts, {len(reasons)}"
              f" wrong reasons, {unknown} reasons not known")  # fmt: skip
    assert verdicts == []
    assert reasons == []
    assert unknown <= _MOST_UNKNOWN


def test_what_was_compiled_unseen_is_no_first_call_but_has_pytorchs_reason() -> None:
    names = fresh()
    names["f"](names["X"])
    trace_log.TRACE_LOG.clear()  # as if that had not been seen
    (call,) = observed("f(X.double())", names).calls
    assert [change.words() for change in call.why] == ["x: float → double (dtype)"]


def entries(function: Any) -> int:
    """Programs that dynamo keeps for a compiled function."""
    return len(_debug_get_cache_entry_list(function._torchdynamo_orig_callable.__code__))


def test_phases_are_parts_of_the_call() -> None:
    (call,) = observed("f(X)", fresh("aot_eager")).calls
    assert list(call.phases) == ["trace", "lower"]
    assert 0 < sum(call.phases.values()) < call.seconds


@pytest.mark.skipif(shutil.which("g++") is None, reason="inductor needs a C++ compiler")
def test_a_program_from_inductors_disk_cache_is_told(tmp_path: Path) -> None:
    code = """
import torch
from ipyjaxbench.retracing.observe import observe_code
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.usercode.snippet import Source
def f(x):
    return torch.sin(x) * 3.25
names = {"torch": torch, "X": torch.ones(5), "f": torch.compile(f)}
source = Source.plain("f(X); torch._dynamo.reset(); f(X); f(X)")
found, error = observe_code(source, names, TraceOptions())
assert error is None, error
for call in found.calls:
    print(call.name, call.state, *call.phases)
"""
    environment = {
        **os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }  # fmt: skip
    told = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert told.splitlines() == [
        "f TRACED trace lower compile", "f DISK trace cache load", "f CACHED",
    ]  # fmt: skip


def test_the_rest_of_a_function_stands_under_the_call() -> None:
    (call,) = observed("broken(X)", fresh()).calls
    assert (call.state, call.breaks) == ("BREAK", 1)
    assert [depth for depth, _ in call.nested] == [1]
    assert call.nested[0][1].startswith("broken from line ")


def test_what_is_printed_behind_a_break_is_printed_in_each_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = observed("broken(X); broken(X)", fresh())
    assert capsys.readouterr().out == "between\nbetween\n"
    assert [call.printed for call in found.calls] == ["", ""]


def test_a_limit_that_is_reached_is_told_with_a_fix_and_raising_it_comes_last() -> None:
    names = fresh()
    found = observed("for n in range(2, 13):\n    limited(X, n)", names)
    assert [call.state for call in found.calls] == ["TRACED"] * 8 + ["EAGER-FALLBACK"] * 3
    assert found.calls[-1].fixes[0].startswith("Pass `n` as a tensor")
    assert "recompile_limit" in found.calls[-1].fixes[-1]
    assert torch._dynamo.config.recompile_limit == 8


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        ("f(X); f(ones(5, 4))",
         ALWAYS + ", or `torch._dynamo.mark_dynamic(x, 0)` before the first call"),
        ("f(X); f(X.t())", "Call `x.contiguous()` before the call"),
        ("net(X); module.eval(); net(X)",
         "Call `model.eval()` or `model.train()` once, before all calls"),
        ("f(X); f(X, flag=False)",
         "Each `flag` needs its own program: keep it constant, or use torch.where"),
        ("of_global(X)\nG = 4\nof_global(X)",
         "Pass `G` as an argument, as a tensor if it changes"),
    ],
)  # fmt: skip
def test_a_fix_is_given_by_what_changed(code: str, fix: str) -> None:
    assert observed(code, fresh()).calls[-1].fixes == (fix,)


@pytest.mark.parametrize(
    "code",
    [
        "torch._dynamo.mark_dynamic(X, 0)\nf(X)\nY = ones(5, 4)\nf(Y); f(ones(6, 4))",
        "f(X); f(X.t().contiguous())",
        "f(X, torch.tensor(1.0)); f(X, torch.tensor(2.0)); f(X, torch.tensor(3.0))",
        "g = torch.compile(plain, backend='eager', dynamic=True); g(ones(2, 3)); g(ones(5, 6))",
        "module.eval(); net(X); module.eval(); net(X)",
    ],
)
def test_what_is_advised_helps(code: str) -> None:
    states = [call.state for call in observed(code, fresh()).calls if call.state != "?"]
    assert states[0] == "TRACED"
    assert set(states[1:]) == {"CACHED"}


def test_a_call_that_raises_while_it_is_compiled_has_its_diagnosis() -> None:
    found, error = observe_code(Source.plain("whole(X)"), fresh(), TraceOptions())
    assert error is not None
    (call,) = found.calls
    assert call.state == "RAISED"
    assert "needs the value of a condition" in call.says


def test_more_compilations_than_allowed_are_an_error_with_the_reason() -> None:
    _, error = observe_code(
        Source.plain("for n in (4, 5, 6):\n    f(ones(n))"), fresh(), TraceOptions(most=1)
    )
    assert isinstance(error, TooManyTracesError)
    assert "was traced 2 times, limit 1. Reason in line 2: x: f32[4] → f32[5] (shape)" in str(error)


def test_a_call_is_predicted_without_being_run() -> None:
    names = fresh()
    names["f"](names["X"])
    names["broken"](names["X"])
    names |= {"Y": 2 * names["X"], "long": torch.ones(5, 4)}
    before = entries(names["f"])
    states = [
        predict_code(Source.plain(code), names).calls[0].state
        for code in ("f(Y)", "f(long)", "f(X, flag=False)", "net(X)", "broken(X)", "f(ones(3))")
    ]
    assert states == ["WOULD-HIT", "WOULD-TRACE", "WOULD-TRACE", "WOULD-TRACE", "?", "?"]
    assert entries(names["f"]) == before


def test_of_calls_that_may_run_uncompiled_nothing_is_predicted() -> None:
    def predicted(code: str) -> str:
        return str(predict_code(Source.plain(code), names).calls[0].state)

    names = fresh()
    for n in range(2, 2 + torch._dynamo.config.recompile_limit):
        assert predicted(f"limited(X, {n})") == "WOULD-TRACE"
        names["limited"](names["X"], n)
    assert predicted("limited(X, 99)") == "?"
    assert predicted("limited(X, 5)") == "WOULD-HIT"
    with torch.compiler.set_stance("force_eager"):
        assert predicted("limited(X, 5)") == "?"


@pytest.mark.filterwarnings("ignore")  # `torch.jit` is deprecated
def test_it_is_known_when_pytorch_traces() -> None:
    is_tracing = Torch().capability(Retracing).is_tracing
    seen: list[bool] = []

    def function(x: torch.Tensor) -> torch.Tensor:
        seen.append(is_tracing((x,)))
        return x + 1

    function(torch.ones(2))
    torch.jit.trace(function, torch.ones(2), check_trace=False)
    assert seen == [False, True]


def test_compiled_code_and_its_helpers_stay_as_they_are() -> None:
    """The same compilations and programs as without a look, also where both call a helper."""
    code = "f(X); by_helper(X); helper(X); plain(X); f(ones(5, 4)); by_helper(X); outer(X)"
    counts = []
    for run in (lambda names: observed(code, names), lambda names: exec(code, names)):
        names = fresh()
        counters = torch._dynamo.utils.counters
        counters.clear()
        run(names)
        counts.append((entries(names["f"]), entries(names["by_helper"]), dict(counters["frames"]),
                       dict(counters["stats"])))  # fmt: skip
    assert counts[0] == counts[1]
    observed(code, names)
    assert counts[1][:2] == (entries(names["f"]), entries(names["by_helper"]))


@pytest.mark.parametrize(
    "cell",
    [
        "made_here = torch.compile(lambda x: torch.sin(x) + 1, backend='eager')\nmade_here(X)",
        "@compiled\ndef here(x):\n    return torch.sin(x) + 1\nhere(X)",
        (
            "def aid(x):\n    return torch.sin(x)\n@compiled\ndef here(x):\n    return aid(x) + 1\n"
            "aid(X)\nhere(X)"
        ),
        "@compiled\ndef here(x):\n    return helper(torch.sin(x))\nhelper(X)\nhere(X)",
        "compiled(plain)(X)",
        (
            "class Here(torch.nn.Module):\n    def forward(self, x):\n        return -x\n"
            "compiled(Here())(X)"
        ),
        (
            "def inside(x):\n    @compiled\n    def here(x):\n        return torch.sin(x) + 1\n"
            "    return [here(v) for v in (x, x)][0]\ninside(X)"
        ),
        "def inside(x):\n    return f(x)\ninside(X)",
        "(lambda v: f(v))(X)",
        "[f(v) for v in (X,)]",
    ],
)
def test_what_a_cell_defines_is_compiled_as_it_stands(cell: str) -> None:
    names = fresh("aot_eager")
    found = observed(cell, names)
    assert [call.state for call in found.calls][:1] == ["TRACED"]
    assert {call.state for call in found.calls[1:]} <= {"CACHED"}
    for name in ("here", "aid", "inside", "made_here"):
        value = names.get(name)
        code = getattr(getattr(value, "_torchdynamo_orig_callable", value), "__code__", None)
        assert code is None or not any("__fw" in str(each) or hasattr(each, "line")
                                       for each in code.co_consts)  # fmt: skip


def test_functions_that_are_made_in_a_look_share_their_programs_with_others() -> None:
    names = fresh()
    names["made"](2)(names["X"])
    (call,) = observed("made(2)(X)", names).calls
    assert call.state == "CACHED"


def test_nothing_of_the_users_is_left_changed() -> None:
    heard: list[bool] = []

    def mine(hit: bool) -> bool:
        heard.append(hit)
        return hit

    names = fresh()
    handler = torch._dynamo.callback.callback_handler
    callbacks = [*handler.start_callbacks], [*handler.end_callbacks]
    levels = {name: logging.getLogger(name).level for name in ("torch", "torch._dynamo")}
    earlier = set_guard_complete_hook(mine)
    try:
        observed("f(X); f(X); f(X.double())", names)
        assert heard == [True, False]
        assert set_guard_complete_hook(mine) is mine
    finally:
        set_guard_complete_hook(earlier)
    assert callbacks == ([*handler.start_callbacks], [*handler.end_callbacks])
    assert levels == {name: logging.getLogger(name).level for name in levels}


def test_compilations_outside_of_the_calls_are_summed() -> None:
    names = fresh("aot_eager")
    names["Y"] = torch.ones(3, requires_grad=True)
    found = observed("list(map(of_global, [X]))\nf(Y).sum().backward()", names)
    assert {program.name for program in found.internal} == {"f backward"}
    assert [call.name for call in found.calls] == ["f", "of_global"]


def test_calls_of_other_threads_do_not_count_for_this_one() -> None:
    names = fresh()
    names["threading"] = threading
    found = observed(
        "f(X)\nt = threading.Thread(target=lambda: f(X.double()))\nt.start(); t.join()\nf(X)", names
    )
    mine = [call.state for call in found.calls if call.line in (1, 4)]
    assert mine == ["TRACED", "CACHED"]


def test_calls_of_what_was_not_compiled_are_none() -> None:
    assert list(observed("module(X); plain(X); torch.sin(X)", fresh()).calls) == []


def test_what_another_thread_compiles_during_a_call_is_no_part_of_it() -> None:
    names = fresh()
    names["threading"] = threading
    exec("@torch.compiler.disable\ndef meanwhile(x):\n"
         "    t = threading.Thread(target=of_global, args=(x,))\n    t.start(); t.join()\n"
         "@compiled\ndef waiting(x):\n    y = x + 1\n    meanwhile(x)\n    return y * 2\n",
         names)  # fmt: skip
    (call,) = (call for call in observed("waiting(X)", names).calls if call.name == "waiting")
    assert [name.partition(" ")[0] for _, name in call.nested] == ["waiting"]


def test_what_is_compiled_between_is_learned_and_known_later() -> None:
    names = fresh()
    keep_learning()
    assert learns("torch")
    names["f"](torch.ones(5))
    names["net"](torch.ones(5, 4))
    (call, other) = observed("f(ones(6)); net(ones(6, 4))", names).calls
    assert [change.words() for change in call.why] == ["x: f32[5] → f32[6] (shape)"]
    assert [change.words() for change in other.why] == ["x: f32[5,4] → f32[6,4] (shape)"]
    (event,) = [event for event in trace_log.TRACE_LOG.events if event.name == "f"][-1:]
    assert event.phases["trace"] > 0


def test_a_function_may_be_compiled_so_often() -> None:
    names = fresh()
    guarded = assert_max_traces(names["f"], 1)
    guarded(names["X"])
    guarded(2 * names["X"])
    with pytest.raises(TooManyTracesError, match=r"x: f32\[4,4\] → f64\[4,4\] \(dtype\)"):
        guarded(names["X"].double())


class _Odd:
    @property
    def shape(self) -> Any:
        raise RuntimeError("not asked")

    __array__ = shape


def test_objects_that_raise_when_asked_do_not_stop_a_call() -> None:
    names = fresh()
    names["odd"] = _Odd()
    names["beside"] = torch.compile(lambda x, _: x + 1, backend="eager")
    found = observed("beside(X, odd); beside(X, odd); beside(X.double(), [odd])", names)
    assert [call.state for call in found.calls] == ["TRACED", "CACHED", "TRACED"]
    assert "dtype" in [change.kind for change in found.calls[-1].why]


def test_without_dynamos_hook_no_verdict_is_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch._C._dynamo.eval_frame, "set_guard_complete_hook")
    found = observed("f(X); f(X); f(X.double())", fresh())
    assert [call.state for call in found.calls] == ["TRACED", "?", "TRACED"]
