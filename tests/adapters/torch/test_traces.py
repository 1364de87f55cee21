"""What PyTorch does in each call of a compiled function: verdicts and reasons that are right."""

import functools
import logging
import threading
from typing import Any

import pytest
import torch
from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list, set_guard_complete_hook

from ipyjaxbench.retracing import trace_log
from ipyjaxbench.retracing.observe import keep_learning, learns, observe_code
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.retracing.predict import predict_code
from ipyjaxbench.usercode.snippet import Source
from tests.shell import Shell
from tests.traced import Provoked, judged, logged_by_looks, observed

# What dynamo sets when it is first used: a variable, and a warning's filter.
torch.compile(torch.sin, backend="aot_eager")(torch.ones(1))

HEAD = "f(X); "
CASES = [Provoked(*row) for row in (
    # arguments
    ("f(X)", "TRACED", "first", "first call"),
    (HEAD + "f(X)", "CACHED"),
    (HEAD + "f(ones(5, 4))", "TRACED", "shape", "x: f32[4,4] → f32[5,4]"),
    (HEAD + "f(X.t())", "TRACED", "layout", "x: contiguous → strides (1, 4)"),
    (HEAD + "f(X, flag=False)", "TRACED", "number", "flag: True → False"),
    (HEAD + "f(X, s=torch.tensor(2.0))", "TRACED", "type", "s: float → f32[]"),
    # what a call does not tell
    ("of_global(X)\nG = 4; G = 3; other = 3\nof_global(X)", "CACHED"),
    ("by_helper(X)\nG = 4\nby_helper(X)", "TRACED", "number", "global G: 3 → 4"),
    ("by_helper(X); old = helper\ndef helper(x):\n    return x\nby_helper(X)",
     "TRACED", "guard", "global helper.__code__ is a different object"),
    ("by_table(X)\nT['k'] = 4\nby_table(X)", "TRACED", "number", "global T['k']: 3 → 4"),
    ("torch.compile(plain, backend='eager')(X)\ntorch.compile(plain, backend='aot_eager')(X)",
     "TRACED", "guard", "different backend"),
    ("compiled(plain)(X)\ncompiled(plain, dynamic=True)(X)",
     "TRACED", "setting", "dynamic of torch.compile: None → True"),
    # modules, methods, closures, partials
    ("net(X)\nmodule.linear.weight.requires_grad_(False)\nnet(X)",
     "TRACED", "layout", "self.linear.weight: contiguous, requires_grad → contiguous"),
    ("linear(X); linear(ones(4))", "TRACED", "rank", "input: f32[4,4] → f32[4]"),
    ("module.compile(backend='eager')\nmodule(X)\nmodule(ones(2, 4))",
     "TRACED", "shape", "x: f32[4,4] → f32[2,4]"),
    ("module.forward = compiled(module.forward)\nmodule(X)\nmodule(ones(2, 4))",
     "TRACED", "shape", "x: f32[4,4] → f32[2,4]"),
    ("forwarded(X); forwarded(ones(2, 4))", "TRACED", "shape", "x: f32[4,4] → f32[2,4]"),
    ("m.step(X)\nm.scale = 3.0\nm.step(X)", "TRACED", "number", "self.scale: 2.0 → 3.0"),
    ("h = functools.partial(f, s=2.0); h(X); h(ones(2, 4))", "TRACED", "shape", "x: "),
    ("made(2)(X); made(3)(X)", "TRACED", "number", "s: 2 → 3"),
    ("exec(CODE); again(X)\nexec(CODE); again(X)", "TRACED", "function", "same code"),
    ("exec(CODE); again(X)\nexec(CODE.replace('7', '8')); again(X)",
     "TRACED", "first", "first call after redefinition"),
    (HEAD + "torch._dynamo.reset(); f(X)", "TRACED", "first", "caches were cleared"),
    (HEAD + "torch._dynamo.reset(); f(ones(2, 4))",
     "TRACED", "first", "first call since caches were cleared"),
    (HEAD + "f(ones(2, 4)); torch._dynamo.reset(); f(X); f(ones(2, 4))",
     "TRACED", "first", "same signature as an earlier call, but caches were cleared"),
    # where dynamo gives up, or is told to
    ("broken(X)", "BREAK", "first", "first call"),
    ("broken(X); broken(X)", "CACHED"),
    ("forked(X); forked(-X)", "TRACED", "guard", "ran for the first time"),
    ("for n in range(2, 11):\n    limited(X, n)", "EAGER-FALLBACK", "number", "n: 9 → 10"),
    ("for n in range(2, 13):\n    limited(X, n)",
     "EAGER-FALLBACK", "guard", "recompile limit (8) reached"),
    ("resumed(X, False); resumed(X, True)", "CACHED"),
    ("empty(X)", "EAGER-FALLBACK", "guard", "PyTorch found no operations to compile"),
    ("looped(X)", "EAGER-FALLBACK", "guard", "nothing was compiled: "),
    ("looped(X); looped(X)", "EAGER-FALLBACK", "guard", "nothing was compiled: "),
    ("with torch.compiler.set_stance('force_eager'):\n    f(X)",
     "BYPASSED", "guard", "force_eager"),
    (HEAD + "\nwith torch.compiler.set_stance('eager_on_recompile'):\n    f(X.double())",
     "BYPASSED", "guard", "eager_on_recompile"),
    ("torch.compiler.disable(plain)(X)", "BYPASSED", "guard", "torch.compiler.disable"),
    ("with torch._dynamo.config.patch(disable=True):\n    f(X)",
     "BYPASSED", "guard", "torch._dynamo.config.disable"),
)]  # fmt: skip
_SOURCE = """
G, T = 3, {"k": 3}
@compiled
def f(x, s=1.0, flag=True): return x * s if flag else x + s
@compiled
def of_global(x): return x * G
def helper(x): return x * G
@compiled
def by_helper(x): return helper(x) + 1
@compiled
def by_table(x): return x * T["k"]
def plain(x): return x * 2 + 1
def outer(x): return f(x)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.drop = torch.nn.Linear(4, 4), torch.nn.Dropout(0.5)
    def forward(self, x): return self.drop(self.linear(x))
class Forwarded(torch.nn.Module):
    @compiled
    def forward(self, x): return x * 4
class Model:
    def __init__(self): self.scale = 2.0
    @compiled
    def step(self, x): return x * self.scale
def made(s):
    @compiled
    def inner(x): return x * s
    return inner
@compiled
def broken(x):
    y = x + 1
    print("between")
    return y * 2
@functools.partial(torch.compile, backend="eager", dynamic=False)
def limited(x, n): return x * n
@compiled
def forked(x):
    if x.sum() > 0: return x + 1
    return x - 1
@compiled
def resumed(x, flag):
    y = x + 1
    print("between")
    return y if flag else y * 2
@compiled
def empty(x): return x
@compiled
def looped(x):
    for _ in range(2):
        x = x + 1
        print("in a loop")
    return x
@functools.partial(torch.compile, backend="eager", fullgraph=True)
def whole(x):
    if x.sum() > 0: return x + 1
    return x - 1
module = Net()
net, linear = compiled(module), compiled(torch.nn.Linear(4, 4))
m, forwarded = Model(), Forwarded()
"""


def fresh(backend: str = "eager") -> dict[str, Any]:
    """Functions that were never compiled, and nothing seen of others with the same names."""
    torch._dynamo.reset()
    trace_log.TRACE_LOG.clear()
    names: dict[str, Any] = {
        "torch": torch, "functools": functools, "ones": torch.ones, "X": torch.ones(4, 4),
        "compiled": functools.partial(torch.compile, backend=backend), "__name__": "__main__",
        "CODE": "@compiled\ndef again(x):\n    return x * 7\n",
    }  # fmt: skip
    exec(compile(_SOURCE, "<cell>", "exec"), names)
    return names


def entries(function: Any) -> int:
    """Programs that dynamo keeps for a compiled function."""
    return len(_debug_get_cache_entry_list(function._torchdynamo_orig_callable.__code__))


def test_verdicts_and_reasons_are_right() -> None:
    verdicts, reasons, unknown = judged(CASES, fresh)
    assert (verdicts, reasons) == ([], [])
    assert unknown <= 2


def test_what_was_compiled_unseen_is_no_first_call_but_has_pytorchs_reason() -> None:
    names = fresh()
    names["f"](names["X"])
    names["made"](2)(names["X"])
    trace_log.TRACE_LOG.clear()  # as if that had not been seen
    made, again = observed("made(2)(X); f(X.double())", names).calls
    assert made.state == "CACHED"  # functions that are made in a look share programs with others
    assert [change.words() for change in again.why] == ["x: float → double (dtype)"]


def test_the_rest_of_a_function_stands_under_the_call_and_what_is_raised_has_its_diagnosis(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second = observed("broken(X); broken(X)", fresh()).calls
    assert (first.state, first.breaks, second.state) == ("BREAK", 1, "CACHED")
    ((depth, name),) = first.nested
    assert (depth, name.rpartition(" ")[0]) == (1, "broken from line")
    assert capsys.readouterr().out == "between\nbetween\n"
    assert (first.printed, second.printed) == ("", "")
    found, error = observe_code(Source.plain("whole(X)"), fresh(), TraceOptions())
    assert error is not None
    (call,) = found.calls
    assert call.state == "RAISED"
    assert "needs the value of a condition" in call.says


def test_a_call_is_predicted_without_being_run() -> None:
    def predicted(code: str) -> str:
        return str(predict_code(Source.plain(code), names).calls[0].state)

    names = fresh()
    names["f"](names["X"])
    names["broken"](names["X"])
    names |= {"Y": 2 * names["X"], "long": torch.ones(5, 4)}
    exec("varied = compiled(plain, dynamic=True); compiled(plain)(X)", names)
    exec("halved = compiled(functools.partial(torch.mul, other=0.5)); halved(X)", names)
    before = entries(names["f"])
    states = {
        "f(Y)": "WOULD-HIT", "f(long)": "WOULD-TRACE", "f(X, flag=False)": "WOULD-TRACE",
        "net(X)": "WOULD-TRACE", "broken(X)": "?", "f(ones(3))": "?",
        "functools.partial(f, s=1.0)(Y)": "WOULD-HIT", "halved(Y)": "WOULD-HIT",
        "functools.partial(f, s=2.0)(Y)": "WOULD-TRACE", "halved(long)": "WOULD-TRACE",
        "varied(X)": "WOULD-TRACE",
    }  # fmt: skip
    assert {code: predicted(code) for code in states} == states
    assert entries(names["f"]) == before
    for n in range(2, 2 + torch._dynamo.config.recompile_limit):
        assert predicted(f"limited(X, {n})") == "WOULD-TRACE"
        names["limited"](names["X"], n)
    # Of calls that may run uncompiled nothing is predicted.
    assert (predicted("limited(X, 99)"), predicted("limited(X, 5)")) == ("?", "WOULD-HIT")
    with torch.compiler.set_stance("force_eager"):
        assert predicted("limited(X, 5)") == "?"


def test_a_prediction_after_a_reset_blames_that() -> None:
    names = fresh()
    keep_learning()
    names["f"](names["X"])
    torch._dynamo.reset()
    names["long"] = torch.ones(5, 4)
    (call,) = predict_code(Source.plain("f(long)"), names).calls
    assert [change.words() for change in call.why] == ["first call since caches were cleared"]


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


@pytest.mark.parametrize(
    "cell",
    [
        "def aid(x): return -x\n@compiled\ndef here(x): return aid(x) + 1\naid(X)\nhere(X)",
        "class Here(torch.nn.Module):\n    def forward(self, x): return -x\ncompiled(Here())(X)",
        ("def inside(x):\n    @compiled\n    def here(x): return torch.sin(x) + 1\n"
         "    return [here(v) for v in (x, x)][0]\ninside(X)"),
        "(lambda v: f(v))(X)",
    ],
)  # fmt: skip
def test_what_a_cell_defines_is_compiled_as_it_stands(cell: str) -> None:
    names = fresh("aot_eager")
    first, *others = observed(cell, names).calls
    assert first.state == "TRACED"
    assert {call.state for call in others} <= {"CACHED"}
    for name in ("here", "aid", "inside"):
        value = names.get(name)
        code = getattr(getattr(value, "_torchdynamo_orig_callable", value), "__code__", None)
        assert code is None or not any("__fw" in str(each) or hasattr(each, "line")
                                       for each in code.co_consts)  # fmt: skip


def test_nothing_of_the_users_is_left_changed() -> None:
    heard: list[bool] = []

    def mine(hit: bool) -> bool:
        heard.append(hit)
        return hit

    names = fresh()
    keep_learning()  # we listen to backward passes from the first look on
    observed("f(X)", fresh())
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


def test_compilations_outside_of_the_calls_are_summed_and_phases_are_parts_of_the_call() -> None:
    names = fresh("aot_eager")
    names["Y"] = torch.ones(3, requires_grad=True)
    found = observed("list(map(of_global, [X]))\nf(Y).sum().backward()", names)
    assert {program.name for program in found.internal} == {"f backward"}
    assert [call.name for call in found.calls] == ["of_global", "f"]
    (call,) = observed("f(X)", fresh("aot_eager")).calls
    assert list(call.phases) == ["trace", "lower"]
    assert 0 < sum(call.phases.values()) < call.seconds


def test_what_another_thread_does_is_no_part_of_a_call() -> None:
    names = fresh()
    names["threading"] = threading
    exec("@torch.compiler.disable\ndef meanwhile(x):\n"
         "    t = threading.Thread(target=of_global, args=(x,))\n    t.start(); t.join()\n"
         "@compiled\ndef waiting(x):\n    y = x + 1\n    meanwhile(x)\n    return y * 2\n",
         names)  # fmt: skip
    (call,) = (call for call in observed("waiting(X)", names).calls if call.name == "waiting")
    assert [name.partition(" ")[0] for _, name in call.nested] == ["waiting"]
    elsewhere = "t = threading.Thread(target=lambda: f(X.double()))\nt.start(); t.join()"
    found = observed(f"f(X)\n{elsewhere}\nf(X)", names)
    states = [call.state for call in found.calls if call.line in (1, 4)]
    assert states == ["TRACED", "CACHED"]


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


def test_what_our_own_looks_compile_is_no_compilation_of_the_session(shell: Shell) -> None:
    keep_learning()
    apart = {"torch": torch}  # dynamo keeps names there until the code is gone
    exec("@torch.compile(backend='aot_eager')\ndef f(x):\n    y = x * 2\n"
         "    torch._dynamo.graph_break()\n    return (y + 1).sum()\n"
         "x = torch.ones(3); f(x)", apart)  # fmt: skip
    shell.names |= {"f": apart["f"], "x": apart["x"]}
    assert logged_by_looks(shell, "f(x)") == []


def test_without_dynamos_hook_no_verdict_is_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch._C._dynamo.eval_frame, "set_guard_complete_hook")
    found = observed("f(X); f(X); f(X.double())", fresh())
    assert [call.state for call in found.calls] == ["TRACED", "?", "TRACED"]
