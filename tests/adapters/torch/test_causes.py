"""Why torch.compile compiles again, and what to write: with that, a call is a hit."""

import warnings
from typing import Any

import pytest
import torch

from ipyjaxbench.adapters.torch.retracing.advice import fixes
from ipyjaxbench.retracing import Change
from tests.causes import Changed, judge
from tests.traced import observed

with warnings.catch_warnings():  # of what dynamo loads for an optimizer
    warnings.simplefilter("ignore")
    import torch._inductor.compile_fx
# What dynamo sets when it is first used: a variable, and a warning's filter.
torch.compile(torch.sin, backend="eager")(torch.ones(1))

X, Y = "torch.ones(4)", "2 * torch.ones(4)"
#: What it does not look at is no part of the key.
F = (
    "@torch.compile(backend='eager')\ndef f(x, n=1, mode='a', d=None, unused=0):\n"
    "    return (x * n if mode == 'a' else x + n), [v * 2 for v in (d or {}).values()]"
)
#: Two sizes are known to it: it takes any other.
SIZED = f"{F}\nf(torch.ones(4), 2)\nf(torch.ones(6), 2)"
GLOBAL = "G = 3\n@torch.compile(backend='eager')\ndef f(x, unused=0):\n    return x * G"
MODEL = (
    "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.drop, self.note = torch.nn.Dropout(), 0\n"
    "    def forward(self, x):\n        return self.drop(x)\n"
    "m = M()\nc = torch.compile(m, backend='eager')"
)
SET = "p.grad = $g * torch.ones(2); opt.param_groups[0]['{}'] = $value; step()"
START = """
p = torch.nn.Parameter(torch.ones(2))
p.grad = torch.ones(2)
opt = torch.optim.{}([p], {})
step = torch.compile(opt.step, backend="eager")
step(); step()
"""  # the state of the optimizer is there then


def changed(cause: str, words: str, function: str = F, call: str = "", **new: str) -> Changed:
    old = {"x": X, "n": "2", "mode": "'a'", "d": "None", "unused": "0"}
    call = call or "f($x, $n, $mode, $d, $unused)"
    return Changed(function, call, old, new, cause, words)


ROWS = (
    changed("x", "x: f32[4] → f64[4] (dtype)", x="torch.ones(4).double()", unused="1"),
    changed("x", "x: contiguous → contiguous, requires_grad (layout)",
            x="torch.ones(4).requires_grad_()", unused="torch.ones(3)"),
    changed("n", "n: 2 → 3 (static value)", SIZED, x="torch.ones(9)", n="3"),
    changed("mode", "mode: 'a' → 'b' (static value)", SIZED, x="torch.ones(9)", mode="'b'"),
    Changed(F, "f($x, d={'a': $x$more}, unused=$unused)", {"x": X, "more": "", "unused": "0"},
            {"x": Y, "more": ", 'b': torch.ones(1)", "unused": "1"}, "more", "d['b'] was added"),
    Changed(F, "with torch.set_grad_enabled($grad): f($x, unused=$unused)",
            {"grad": "True", "x": X, "unused": "0"}, {"grad": "False", "x": Y, "unused": "1"},
            "grad", "grad mode: on → off"),
    Changed(GLOBAL, "G = $g; f($x, $unused)", {"g": "3", "x": X, "unused": "0"},
            {"g": "4", "x": Y, "unused": "1"}, "g", "global G: 3 → 4 (static value)"),
    Changed(MODEL, "m.note = $note; ran = m.train($train); c($x)",
            {"train": "True", "x": X, "note": "0"}, {"train": "False", "x": Y, "note": "1"},
            "train", "self.training: True → False (static value)"),
    Changed(START.format("Adam", "lr=0.01"), SET.format("betas"),
            {"g": "1.0", "value": "(0.9, 0.999)"}, {"g": "2.0", "value": "(0.8, 0.999)"}, "value",
            "self.param_groups[0]['betas'][0]: 0.9 → 0.8 (static value)"),
)  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.words)
def test_with_the_cause_alone_put_back_a_call_is_a_hit(row: Changed) -> None:
    assert judge(row, {"torch": torch}, torch._dynamo.reset) == []


SCHEDULED = (
    "sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.5)\n"
    "for _ in range(3):\n    step(); sched.step()"
)
BETAS = (
    "for beta in (0.9, 0.8, 0.7):\n"
    "    b = opt.param_groups[0]['betas'][0]\n"
    "    if torch.is_tensor(b): b.fill_(beta)\n"
    "    else: opt.param_groups[0]['betas'] = (beta, 0.999)\n"
    "    step()"
)
MOMENTA = "for m in (0.9, 0.8, 0.7):\n    opt.param_groups[0]['momentum'] = m\n    step()"


def traced(kind: str, options: str, cell: str) -> list[Any]:
    """The calls of a step that were no hits."""
    torch._dynamo.reset()
    names = {"torch": torch}
    exec(START.format(kind, options), names)
    return [call for call in observed(cell, names).calls if call.state != "CACHED"]


@pytest.mark.filterwarnings("ignore:Detected call of")  # the scheduler does not see the steps
@pytest.mark.parametrize(
    ("kind", "cell", "options", "mended", "fix"),
    [
        ("Adam", SCHEDULED, "lr=0.01", "lr=torch.tensor(0.01)",
         "Create the optimizer with `lr=torch.tensor(0.01)`: a tensor's value is not guarded"),
        ("AdamW", BETAS, "lr=0.01", "betas=(torch.tensor(0.9), torch.tensor(0.999))",
         ("Create the optimizer with `betas=(torch.tensor(beta1), torch.tensor(beta2))`, as Adam"
          " and AdamW allow: a tensor's value is not guarded")),
        ("SGD", MOMENTA, "lr=0.01, momentum=0.9", "",
         "Keep the optimizer's `momentum` as it is: each new value needs its own program"),
    ],
)  # fmt: skip
def test_with_the_fix_the_step_of_an_optimizer_is_compiled_once(
    kind: str, cell: str, options: str, mended: str, fix: str
) -> None:
    assert traced(kind, options, cell)[0].fixes == (fix,)
    assert not mended or traced(kind, mended, cell) == []


DYNAMIC = "Use `torch.compile(..., dynamic=True)`"
ONCE = "Call torch.compile once, and reuse what it returns"
STRUCTURE = "Keep `{}` as it is in every call: keys, lengths and attributes are guarded"
LENGTH = (
    "A program has the length of `{0}`: pad it to one length, or use one tensor"
    " (`t = torch.stack({0})`) with `torch._dynamo.mark_dynamic(t, 0)`, which does not work for"
    " lists"
)
FEW = (
    "PyTorch makes programs of their own for sizes 0 and 1, also with `dynamic=True`: pad `x` to 2"
    " or more"
)
NUMBER = "Pass `n` as a tensor (`torch.tensor(n)`): its value is then not guarded"
LIMIT = ("If all these programs are needed, raise `torch._dynamo.config.recompile_limit`, and run"
         " `torch._dynamo.reset()`")  # fmt: skip


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change("shape", "x", "f32[3,4]", "f32[3,5]"),
         f"{DYNAMIC}, or `torch._dynamo.mark_dynamic(x, 1)` before the first call"),
        (Change("shape", "x", "f32[3,4]", "f32[4,5]"),
         f"{DYNAMIC}, or `torch._dynamo.mark_dynamic(x, [0, 1])` before the first call"),
        (Change("shape", "size 2 of x", "4", "8"),
         f"{DYNAMIC}, or `torch._dynamo.mark_dynamic(x, 2)` before the first call"),
        (Change("shape", "x", "f32[1,4]", "f32[3,4]"), FEW),
        (Change("shape", "size 0 of x", "1", "0"), FEW),
        (Change("shape", "x", "f32[3,4]", "f32[1,5]"),
         f"{DYNAMIC}, or `torch._dynamo.mark_dynamic(x, [0, 1])` before the first call"),
        (Change("shape", "x", "?", "f32[4]"), DYNAMIC),
        (Change("layout", "x", "contiguous", "strides (1, 4)"),
         "Call `x.contiguous()` before the call"),
        (Change("layout", "stride 0 of x", "4", "1"), "Call `x.contiguous()` before the call"),
        (Change("layout", "x", "contiguous", "contiguous, requires_grad"),
         "Pass `x` always with, or always without, requires_grad"),
        (Change("static value", "self.training", "True", "False"),
         "Call `model.eval()` or `model.train()` once, before all calls"),
        (Change("static value", "net.0.training", "True", "False"),
         "Call `net.eval()` or `net.train()` once, before all calls"),
        (Change("number", "x.training", "1", "2"), ("Keep a tensor in `x.training`, as"
         " `torch.tensor(x.training)`: its value is then not guarded")),
        (Change("number", "self.0.p", "0.5", "0.3"), ("Keep a tensor in `self[0].p`, as"
         " `torch.tensor(self[0].p)`: its value is then not guarded")),
        (Change("shape", "m.bias", "Parameter f32[4]", "Parameter f32[5]"),
         "A program has the sizes of its parameters: keep those of `m.bias`"),
        (Change("shape", "a", "NumPy f64[3]", "NumPy f64[4]"), DYNAMIC),
        (Change("shape", "self.scale", "f32[3]", "f32[4]"), DYNAMIC),
        (Change("dtype", "a", "NumPy f64[3]", "NumPy f32[3]"),
         "Always pass `a` with the same dtype: `.astype(...)` before the call"),
        (Change("structure", "global L", "length 1", "length 2"), LENGTH.format("L")),
        (Change("structure", "d['a'][2]", "", "was added"), LENGTH.format("d['a']")),
        (Change("structure", "global D", "1 key", "2 keys"), STRUCTURE.format("D")),
        (Change("guard", "mode", new="guard failed: len(mode) == 2"),
         "A program has the length of `mode`: keep it at one length"),
        (Change("structure", "d['a']['b']", "", "was added"), STRUCTURE.format("d['a']")),
        (Change("setting", "dynamic of torch.compile", "None", "True"), ONCE),
        (Change("number", "global G", "3", "4"),
         "Pass `G` as an argument, as a tensor if it changes"),
        (Change("number", "n", "2", "3"), NUMBER),
        (Change("number", "n", "True", "3"), NUMBER),
        (Change("number", "n", "True", "False"),
         "Each `n` needs its own program: keep it constant, or use torch.where"),
        (Change("static value", "n", "True", "False"),
         "Each new `n` needs its own program: choose it outside the compiled function"),
        (Change("rank", "x", "f32[3]", "f32[3,3]"), "Always pass `x` with the same number of axes"),
        (Change("setting", "grad mode", "on", "off"), "Always call `f` with the same grad mode"),
    ],
)  # fmt: skip
def test_a_fix_goes_by_what_changed(change: Change, text: str) -> None:
    assert fixes("f", [change]) == (text,)


#: A function of a list of any length, and calls of it; what is told to be typed for them.
LISTS = "@torch.compile(backend='eager')\ndef f(xs): return torch.stack(list(xs)).sum(0)\n"
OF_TENSOR = "@torch.compile(backend='eager')\ndef f(t): return t.sum(0)\n"
EACH = "for n in (2, 3, 4):\n    xs = [torch.ones(3) for _ in range(n)]\n    {}\n"
STACKED = "t = torch.stack(xs)\n    torch._dynamo.mark_dynamic(t, 0)\n    f(t)"


@pytest.mark.parametrize(
    ("code", "traces"),
    [
        (LISTS + EACH.format("f(xs)"), 3),
        (LISTS + EACH.format("[torch._dynamo.mark_dynamic(x, 0) for x in xs]\n    f(xs)"), 3),
        (LISTS + EACH.format("f([*xs, *(torch.zeros(3) for _ in range(4 - n))])"), 1),
        (OF_TENSOR + EACH.format(STACKED), 1),
    ],
)
def test_what_is_told_of_lists_can_be_typed_and_helps(code: str, traces: int) -> None:
    torch._dynamo.reset()
    found = observed(code, {"torch": torch})
    assert found.traces == traces
    told = {fix for call in found.calls[1:] for fix in call.fixes}
    assert told == ({LENGTH.format("xs")} if traces > 1 else set())


@pytest.mark.parametrize(
    ("sizes", "told"), [((1, 4, 5), {FEW}), ((4, 5, 0), {FEW}), ((2, 4, 5), set())]
)
def test_sizes_0_and_1_have_programs_of_their_own_whatever_is_dynamic(
    sizes: tuple[int, ...], told: set[str]
) -> None:
    torch._dynamo.reset()
    of_any = "@torch.compile(backend='eager', dynamic=True)\ndef f(x): return x * 2\n"
    found = observed(f"{of_any}for n in {sizes}: f(torch.ones(n))", {"torch": torch})
    assert found.traces == 1 + len(told)
    assert {fix for call in found.calls[1:] for fix in call.fixes} == told


def test_what_has_no_fix_is_left_out_each_is_said_once_and_raising_the_limit_comes_last() -> None:
    odd = Change("guard", "x", new="x is a different object")
    limit = Change("guard", "limit", new="recompile limit (8) reached")
    number = Change("number", "n", "2", "3")
    assert fixes("f", [odd]) == ()
    assert fixes("f", [limit, number, odd, number]) == (NUMBER, LIMIT)
    assert fixes("f", [limit]) == (LIMIT,)
    raised = Change("guard", "raised limit", new="given up")
    assert fixes("f", [raised]) == ("Run `torch._dynamo.reset()`, so that the new limit counts",)
