"""Calls of compiled functions, each typed in a cell of its own, with verdicts known to be right."""

import functools
import sys
import types
from collections.abc import Iterator

import numpy as np
import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from tests.shell import Shell
from tests.typed_calls import score

_F = "@torch.compile(backend='eager')\ndef f(x, s=1.0):\n    return torch.sin(x) * s"
SESSIONS = {
    "shapes and dtypes": (
        _F.replace("(backend", "(dynamic=False, backend"),
        "f(x3) => TRACED first call",
        "f(x3 * 2) => CACHED",
        "f(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "f(x3) => CACHED",
        "f(x33) => TRACED x: f32[4] → f32[3,3] (rank)",
        "f(x33) => CACHED",
        "f(x3.to(torch.int32)) => TRACED x: f32[3] → i32[3] (dtype)",
        "f(x3.double()) => TRACED x: i32[3] → f64[3] (dtype)",
        "f(x4) => CACHED",
        "f(torch.tensor(1.0)) => TRACED x: f32[3,3] → f32[] (rank)",
        "f(torch.tensor(2.0)) => CACHED",
    ),
    "dynamic shapes": (
        _F,
        "f(x3) => TRACED first call",
        "f(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "f(torch.ones(7)) => CACHED",
        "f(torch.ones(9)) => CACHED",
        _F.replace("(backend", "(dynamic=True, backend").replace("def f", "def d"),
        "d(x3) => TRACED first call",
        "d(x4) => CACHED",
        "d(torch.ones(5)) => CACHED",
    ),
    "numbers, and how they are given": (
        _F,
        "f(x3, 2.0) => TRACED first call",
        "f(x3, 2.0) => CACHED",
        "f(x3, s=2.0) => CACHED",
        "f(x3, 3.0) => TRACED s: 2.0 → 3.0 (static value)",
        "f(x3, 4.0) => CACHED",
        "f(x3, True) => TRACED s: float → bool (type)",
        "f(x3, s=torch.ones(())) => TRACED s: bool → f32[] (type)",
        "f(x3, s=5.0) => CACHED",
    ),
    "texts and functions": (
        ("@torch.compile(backend='eager')\n"
        "def h(x, mode='a', g=torch.sin):\n    return g(x) + len(mode)"),
        "h(x3) => TRACED first call",
        "h(x3, 'b') => TRACED mode: 'a' → 'b' (static value)",
        "h(x3, mode='a') => CACHED",
        "h(x3, 'b') => CACHED",
        "h(x3, g=torch.cos) => TRACED g: sin → cos (static value)",
        "h(x3, g=torch.cos) => CACHED",
    ),
    "trees": (
        ("@torch.compile(backend='eager')\n"
        "def tree(p):\n    return sum(v.sum() for v in p.values() if v is not None)"),
        "tree({'w': x3, 'b': x4}) => TRACED first call",
        "tree({'w': x3, 'b': x4}) => CACHED",
        "tree({'w': x3}) => TRACED p['b'] was removed",
        "tree({'w': x3, 'b': None}) => TRACED p['b']: f32[4] → None (type)",
        "tree({'w': x3}) => CACHED",
    ),
    "how tensors lie": (
        _F,
        "f(x33) => TRACED first call",
        "f(x33.T) => TRACED x: contiguous → strides (1, 3) (layout)",
        (
            "f(torch.ones(3, 4).T) => TRACED x: f32[3,3] → f32[4,3] (shape);"
            " x: strides (1, 3) → strides (1, 4) (layout)"
        ),
        ("f(torch.ones(3, 3, requires_grad=True))"
        " => TRACED x: strides (1, 3) → contiguous, requires_grad (layout)"),
        "f(torch.ones(3, 3, requires_grad=True)) => CACHED",
        "f(np.ones((3, 3), 'float32')) => TRACED x: f32[3,3] → NumPy f32[3,3] (type)",
    ),
    "settings": (
        _F,
        "f(x3) => TRACED first call",
        "with torch.no_grad():\n    f(x3) => TRACED grad mode: on → off",
        "with torch.no_grad():\n    f(x3) => CACHED",
        "with torch.inference_mode():\n    f(x3) => TRACED inference mode: off → on",
        "f(x3) => CACHED",
        "with torch.autocast('cpu'):\n    f(x3) => TRACED autocast: off → cpu torch.bfloat16",
        "torch.set_default_dtype(torch.float64)",
        "f(x3) => TRACED default dtype: float32 → float64",
        "torch.set_default_dtype(torch.float32)",
        "f(x3) => CACHED",
        ("with torch.compiler.set_stance('force_eager'):\n    f(x3)"
        " => BYPASSED torch.compiler.set_stance('force_eager')"),
    ),
    "dropped programs": (
        _F,
        "f(x3) => TRACED first call",
        "f(x3) => CACHED",
        "torch.compiler.reset()",
        "f(x3) => TRACED same signature as an earlier call, but caches were cleared",
        "f(x3) => CACHED",
    ),
    "functions made anew": (
        "torch.compile(lambda x: torch.sin(x) + 1, backend='eager')(x3)\n => TRACED first call",
        ("torch.compile(lambda x: torch.sin(x) + 1, backend='eager')(x3)\n"
        " => TRACED new function object (same code)"),
        _F,
        "f(x3) => TRACED first call",
        _F,
        "f(x3) => TRACED new function object (same code)",
        "f(x3) => CACHED",
        _F.replace("sin", "cos"),
        "f(x3) => TRACED first call after redefinition",
        "@torch.compile(backend='eager')\ndef r(x, s):\n    return x * s",
        "r(x3, 2.0) => TRACED first call",
        "@torch.compile(backend='eager')\ndef r(y, n):\n    return y * n",
        "r(x3, 2.0) => TRACED first call after redefinition",
        "r(x3, 2.0) => CACHED",
    ),
    "values around a function": (
        ("def times(n):\n    def timed(x):\n        return torch.sin(x) * n\n"
        "    return torch.compile(timed, backend='eager')"),
        "t1, t2, t3 = times(1), times(2), times(1)",
        "t1(x3) => TRACED first call",
        "t2(x3) => TRACED n: 1 → 2 (static value)",
        "t3(x3) => CACHED",
        "t1(x3) => CACHED",
        "scale = 2",
        "@torch.compile(backend='eager')\ndef scaled(x):\n    return torch.sin(x) * scale",
        "scaled(x3) => TRACED first call",
        "scaled(x3) => CACHED",
        "scale = 3",
        "scaled(x3) => TRACED global scale: 2 → 3 (static value)",
        "scale = 'x'",
        "p1 = functools.partial(scaled)",
        "scale = 3",
        "p1(x3) => CACHED",
    ),
    "calls that were made before": (
        _F,
        "y = f(x3)",
        "f(x3) => CACHED",
        "f(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "@torch.compile(backend='eager')\ndef timed(x):\n    return torch.sin(x).sum()",
        "%fwtime -q -n1 -r2 timed(x3)",
        "timed(x3) => CACHED",
        "timed(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "@torch.compile(backend='eager')\ndef seen(x):\n    return torch.sin(x).sum()",
        "%jaxpr -q seen(x3)",
        "seen(x3) => TRACED first call",
        "seen(x4) => TRACED x: f32[3] → f32[4] (shape)",
    ),
    "where functions are defined": (
        ("@torch.compile(backend='eager')\n"
        "def here(x):\n    return torch.sin(x)\nhere(x3) => TRACED first call"),
        "here(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "here(x3) => CACHED",
        "mod.step(x3) => TRACED first call",
        "mod.step(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "mod.step(x4) => CACHED",
        ("def outer(x):\n    return inner(x) + 1\n"
        "@torch.compile(backend='eager')\ndef inner(x):\n    return torch.cos(x)"),
        "outer(x3) => TRACED first call",
        "outer(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "outer(x3) => CACHED",
        ("class Model:\n    k = 2\n    @torch.compile(backend='eager')\n"
        "    def run(self, x):\n        return torch.cos(x) * self.k\nm1, m2 = Model(), Model()"),
        "m1.run(x3) => TRACED first call",
        "m2.run(x3) => CACHED",
        "m1.run(x4) => TRACED x: f32[3] → f32[4] (shape)",
    ),
    "modules": (
        ("net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5))\n"
        "c = torch.compile(net, backend='eager')"),
        "c(x33) => TRACED first call",
        "c(x33) => CACHED",
        "net.eval()\nNone",
        "c(x33) => TRACED self.training: True → False (static value)",
        "c(x33) => CACHED",
        "net[1].train()\nNone",
        "c(x33) => CACHED",
        "net.train()\nNone",
        "c(x33) => CACHED",
        (
            "class Net(torch.nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__(); self.lin = torch.nn.Linear(3, 3)\n"
            "    def forward(self, x):\n        return self.lin(x)\n"
            "lin = Net()\nlin.compile(backend='eager')"
        ),
        "lin(x33) => TRACED first call",
        "lin(x33) => CACHED",
        "lin(torch.ones(2, 3)) => TRACED x: f32[3,3] → f32[2,3] (shape)",
        "lin.lin.weight.requires_grad_(False)\nNone",
        (
            "lin(x33) => TRACED self.lin.weight:"
            " contiguous, requires_grad → contiguous (layout)"
        ),
    ),
    "inner calls and breaks": (
        ("@torch.compile(backend='eager')\n"
        "def whole(x):\n    y = torch.sin(x)\n    print(end='')\n    return y * 2"),
        "whole(x3) => BREAK first call",
        "whole(x3) => CACHED",
        ("def helper(x):\n    return torch.cos(x)\n"
        "@torch.compile(backend='eager')\ndef both(x):\n    return helper(x) + f(x)"),
        _F,
        "both(x3) => TRACED first call",
        "both(x3) => CACHED",
        "def helper(x):\n    return torch.tan(x)",
        "both(x3) => TRACED global helper.__code__ is a different object",
        "both(x3) => CACHED",
    ),
}  # fmt: skip


@pytest.fixture
def typing(shell: Shell) -> Iterator[Shell]:
    torch.compiler.reset()
    mod = types.ModuleType("mod_of_mine")
    source = (
        "import torch\n@torch.compile(backend='eager')\ndef step(x):\n    return torch.sin(x)\n"
    )
    exec(compile(source, "mod_of_mine.py", "exec"), mod.__dict__)
    shell.names.update(
        torch=torch, np=np, functools=functools, mod=mod,
        x3=torch.ones(3), x4=torch.ones(4), x33=torch.ones(3, 3),
    )  # fmt: skip
    shell.run("1")  # from now on what is compiled is learned
    yield shell
    torch.compiler.reset()  # while the names that it has made are there


def test_each_call_is_told_right(typing: Shell) -> None:
    found = score(typing, SESSIONS, "torch.compiler.reset()")
    print("PyTorch", found, file=sys.stderr)
    assert not found.wrong, "\n".join(found.wrong)
    assert not found.unknown, "\n".join(found.unknown)
    assert found.calls >= 40
    assert found.cached >= found.calls / 2
