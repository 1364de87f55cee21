"""What PyTorch does in each call of a compiled function: verdicts and reasons that are right."""

import functools
from typing import Any

import pytest
import torch

from ipyjaxbench import ledger
from tests.traced import Provoked, judged

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
    Provoked("total([X, X]); total([X, X, X])", "TRACED", "structure", "xs[2]: is new"),
    Provoked("total([X, X]); total([X, ones(1, 4)])", "TRACED", "shape", "xs[1]: f32[4,4]"),
    Provoked("apply(X, torch.sin); apply(X, torch.cos)", "TRACED", "static value", "sin → cos"),
    # what a call does not tell
    Provoked("of_global(X)\nG = 4\nof_global(X)", "TRACED", "number", "global G: 3 → 4"),
    Provoked("by_helper(X)\nG = 4\nby_helper(X)", "TRACED", "number", "global G: 3 → 4"),
    Provoked("by_table(X)\nT['k'] = 4\nby_table(X)", "TRACED", "guard", "T['k'] == 3"),
    Provoked(HEAD + "\nwith torch.no_grad():\n    f(X)", "TRACED", "setting", "grad mode: on → off"),
    Provoked(HEAD + "\nwith torch.autocast('cpu'):\n    f(X)", "TRACED", "setting", "autocast: off"),
    Provoked("torch.compile(plain, backend='eager')(X)\n"
             "torch.compile(plain, backend='aot_eager')(X)", "TRACED", "guard", "another backend"),
    # modules, methods, closures, partials
    Provoked("net(X); net(X)", "CACHED"),
    Provoked("net(X)\nmodule.eval()\nnet(X)", "TRACED", "static value",
             "self.training: True → False"),
    Provoked("net(X); net(ones(2, 4))", "TRACED", "shape", "x: f32[4,4] → f32[2,4]"),
    Provoked("linear(X); linear(ones(4))", "TRACED", "rank", "input: f32[4,4] → f32[4]"),
    Provoked("module.compile(backend='eager')\nmodule(X)\nmodule(ones(2, 4))", "TRACED", "shape",
             "x: f32[4,4] → f32[2,4]"),
    Provoked("m.step(X); m.step(ones(2, 4))", "TRACED", "shape", "x: f32[4,4] → f32[2,4]"),
    Provoked("m.step(X)\nm.scale = 3.0\nm.step(X)", "TRACED", "number", "self.scale: 2.0 → 3.0"),
    Provoked("h = functools.partial(f, s=2.0); h(X); h(ones(2, 4))", "TRACED", "shape", "x: "),
    Provoked("made(2)(X); made(2)(X)", "CACHED"),
    Provoked("made(2)(X); made(3)(X)", "TRACED", "number", "s: 2 → 3"),
    Provoked("defined()(X); defined()(X)", "CACHED"),
    Provoked("exec(CODE); again(X)\nexec(CODE); again(X)", "TRACED", "function", "made anew"),
    Provoked("outer(X); outer(ones(2, 4))", "TRACED", "shape", "x: f32[4,4] → f32[2,4]"),
    # breaks, limits, stances
    Provoked("broken(X)", "BREAK", "first", "first call"),
    Provoked("broken(X); broken(X)", "CACHED"),
    Provoked("for n in range(2, 11):\n    limited(X, n)", "EAGER-FALLBACK", "number", "n: 9 → 10"),
    Provoked("for n in range(2, 13):\n    limited(X, n)", "EAGER-FALLBACK", "guard",
             "recompile limit of 8 is reached"),
    Provoked("for n in range(2, 13):\n    limited(X, n)\nlimited(X, 5)", "CACHED"),
    Provoked("looped(X)", "EAGER-FALLBACK", "guard", "Python runs all of it: "),
    Provoked("looped(X); looped(X)", "EAGER-FALLBACK", "guard", "Python runs all of it: "),
    Provoked("with torch.compiler.set_stance('force_eager'):\n    f(X)", "BYPASSED", "guard",
             "force_eager"),
    Provoked(HEAD + "\nwith torch.compiler.set_stance('eager_on_recompile'):\n    f(X.double())",
             "BYPASSED", "guard", "eager_on_recompile"),
    Provoked("torch.compiler.disable(plain)(X)", "BYPASSED", "guard", "torch.compiler.disable"),
    Provoked("try:\n    whole(X)\nexcept Exception: pass", "RAISED"),
)  # fmt: skip
_MOST_UNKNOWN = 2
_SOURCE = '''
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
'''
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
        linear=names["compiled"](torch.nn.Linear(4, 4)),
    )  # fmt: skip
    return names


def fresh(backend: str = "eager") -> dict[str, Any]:
    """The names of a case, and nothing seen of functions with the same names before."""
    torch._dynamo.reset()
    ledger.LEDGER.forget()
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
