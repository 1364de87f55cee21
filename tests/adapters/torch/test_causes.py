"""Why torch.compile compiles again, and what to write: with that, a call is a hit."""

import warnings
from functools import partial
from typing import Any

import pytest
import torch

from ipyjaxbench.adapters.torch.retracing.advice import fixes
from ipyjaxbench.retracing import Change
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from tests.causes import Changed, judge
from tests.traced import observed

with warnings.catch_warnings():  # of what dynamo loads for an optimizer
    warnings.simplefilter("ignore")
    import torch._inductor.compile_fx
# What dynamo sets when it is first used: a variable, and a warning's filter.
torch.compile(torch.sin, backend="eager")(torch.ones(1))

COMPILED = partial(torch.compile, backend="eager")
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
    changed("x", "x: f32[6] → f64[9] (dtype)", SIZED, x="torch.ones(9).double()", unused="1"),
    changed("x", "x: f32[6] → f32[9,2] (rank)", SIZED, x="torch.ones(9, 2)", unused="1"),
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


def reasons(setup: str, cell: str) -> list[str]:
    """Why the calls of a cell were no hits, each in its words."""
    torch._dynamo.reset()
    TRACE_LOG.clear()
    names = {"torch": torch, "X": torch.ones(4, 4), "compiled": COMPILED, "partial": partial}
    exec(setup, names)
    return ["; ".join(c.words() for c in call.why) or call.state
            for call in observed(cell, names).calls]  # fmt: skip


LAYER = """
class Named:
    def __init__(self, mode): self.mode = mode
    def call(self, x): return x * 2 if self.mode == "a" else x + 1
class Layer(torch.nn.Module, Named):
    def __init__(self, mode): super().__init__(); self.mode = mode
    def forward(self, x): return self.call(x)
"""
FEWER_ROWS = "x: f32[4,4] → f32[2,4] (shape)"
NEW, OWN = "first call", "first program of this object"


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ("Named('a').call, Named('b').call", [NEW, OWN, FEWER_ROWS]),
        ("Layer('a'), Layer('b')", [NEW, OWN, FEWER_ROWS]),
        ("torch.nn.Linear(4, 4), torch.nn.Linear(4, 8)",
         [NEW, OWN, FEWER_ROWS.replace("x", "input")]),
        ("Layer('a'), Layer('a')", [NEW, "CACHED", FEWER_ROWS]),
        ("partial(torch.mul, other=2), partial(torch.add, other=2)",
         [NEW, NEW, FEWER_ROWS.replace("x", "arg0")]),
    ],
)  # fmt: skip
def test_programs_of_another_object_with_the_same_code_are_no_cause(
    objects: str, expected: list[str]
) -> None:
    cell = "first(X)\nsecond(X)\nfirst(X[:2])"
    assert reasons(f"{LAYER}\nfirst, second = map(compiled, ({objects}))", cell) == expected


WIDE = """
@partial(compiled, dynamic=True)
def f(x, y=0.0): return (x if x.shape[0] < 7 else x * 2) + y
"""


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("f(torch.ones(5, 3)); f(torch.ones(1, 3))", "2 <= x.size()[0]"),
        ("f(torch.ones(5, 3)); f(torch.ones(9, 3))", "x.size()[0] <= 6"),
        ("f(X, X + 1); f(X, X)", "the same tensor is in two places, where it was not before"),
    ],
)
def test_of_several_conditions_the_one_that_failed_is_told(cell: str, words: str) -> None:
    assert words in reasons(WIDE, cell)[-1]


TABLE = """
T = {"k": 3}
@partial(compiled, dynamic=False)
def f(x): return x * T["k"]
"""


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("with torch.no_grad(): f(X[:2])", "grad mode: on → off"),
        ("with torch.autocast('cpu'): f(X[:2])", "autocast: off → cpu torch.bfloat16"),
        ("with torch.device('meta'): f(X[:2])", "default device: cpu → meta"),
        (("torch.use_deterministic_algorithms(True, warn_only=True)\ntry: f(X[:2])\n"
          "finally: torch.use_deterministic_algorithms(False)"),
         ("deterministic algorithms: False → True;"
          " deterministic algorithms warn only: False → True")),
        ("with torch._C.DisableTorchFunctionSubclass(): f(X[:2])", "torch function: True → False"),
        ("T['k'] = 4; f(X[:2])", "global T['k']: 3 → 4 (static value)"),
    ],
)  # fmt: skip
def test_a_cause_that_is_no_argument_is_told_beside_one_that_is(cell: str, words: str) -> None:
    assert reasons(TABLE, f"f(X)\n{cell}") == [NEW, f"{FEWER_ROWS}; {words}"]


def test_what_a_program_takes_is_no_cause_beside_one_that_is_no_argument() -> None:
    assert reasons(TABLE.replace("False", "True"), "f(X); T['k'] = 4; f(X[:2])") == [
        NEW, "global T['k']: 3 → 4 (static value)",
    ]  # fmt: skip


COUNTING = """
n = 0
class Counter:
    def __init__(self): self.n = 0
    def step(self, x): self.n += 1; return x * self.n
counter = Counter()
step = partial(compiled, dynamic=False)(counter.step)
@partial(compiled, dynamic=False)
def f(x):
    global n; n += 1; return x + n
@compiled
def g(x, c): c.append(x); return x + len(c)
"""


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("step(X); step(X)", "self.n: 0 → 1 (static value)"),
        ("f(X); f(X)", "global n: 0 → 1 (static value)"),
        ("g(X, []); g(X, [X])", "c[0] was added"),
    ],
)
def test_a_call_is_told_by_what_it_began_with(cell: str, words: str) -> None:
    assert reasons(COUNTING, cell) == [NEW, words]


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
NUMBER = "Pass `n` as a tensor (`torch.tensor(n)`): its value is then not guarded"
LIMIT = "If all these programs are needed, raise `torch._dynamo.config.recompile_limit`"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change("shape", "x", "f32[3,4]", "f32[3,5]"),
         f"{DYNAMIC}, or `torch._dynamo.mark_dynamic(x, 1)` before the first call"),
        (Change("shape", "x", "f32[3,4]", "f32[4,5]"),
         f"{DYNAMIC}, or `torch._dynamo.mark_dynamic(x, [0, 1])` before the first call"),
        (Change("shape", "size 2 of x", "4", "8"),
         f"{DYNAMIC}, or `torch._dynamo.mark_dynamic(x, 2)` before the first call"),
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
        (Change("number", "x.training", "1", "2"),
         NUMBER.replace("`n`", "`x.training`").replace("(n)", "(x.training)")),
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


def test_what_has_no_fix_is_left_out_each_is_said_once_and_raising_the_limit_comes_last() -> None:
    odd = Change("guard", "x", new="x is a different object")
    limit = Change("guard", "limit", new="recompile limit (8) reached")
    number = Change("number", "n", "2", "3")
    assert fixes("f", [odd]) == ()
    assert fixes("f", [limit, number, odd, number]) == (NUMBER, LIMIT)
    assert fixes("f", [limit]) == (LIMIT,)
