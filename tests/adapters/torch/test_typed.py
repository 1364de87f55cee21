"""Calls of compiled functions, each typed in a cell of its own, with verdicts known to be right."""

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
    "shapes, dtypes and numbers": (
        _F.replace("(backend", "(dynamic=False, backend"),
        "f(x3) => TRACED first call",
        "f(x3 * 2) => CACHED",
        "f(x33) => TRACED x: f32[3] → f32[3,3] (rank)",
        "f(x3.to(torch.int32)) => TRACED x: f32[3] → i32[3] (dtype)",
        "f(torch.tensor(1.0)) => TRACED x: f32[3,3] → f32[] (rank)",
        "f(x3, 3.0) => TRACED s: 1.0 → 3.0 (static value)",
        "f(x3, s=3.0) => CACHED",
        "f(x3, True) => TRACED s: float → bool (type)",
    ),
    "trees": (
        ("@torch.compile(backend='eager')\n"
        "def tree(p):\n    return sum(v.sum() for v in p.values() if v is not None)"),
        "tree({'w': x3, 'b': x4}) => TRACED first call",
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
        "f(torch.ones(3, 4).T) => CACHED",
        "f(np.ones((3, 3), 'float32')) => TRACED x: f32[3,3] → NumPy f32[3,3] (type)",
    ),
    "settings": (
        _F,
        "f(x3) => TRACED first call",
        "with torch.no_grad():\n    f(x3) => TRACED grad mode: on → off",
        "with torch.inference_mode():\n    f(x3) => TRACED inference mode: off → on",
        "f(x3) => CACHED",
        "torch.set_default_dtype(torch.float64)",
        "f(x3) => TRACED default dtype: float32 → float64",
        "torch.set_default_dtype(torch.float32)",
        "f(x3) => CACHED",
    ),
    "programs that are gone, and functions made anew": (
        _F,
        "f(x3) => TRACED first call",
        "torch.compiler.reset()",
        "f(x3) => TRACED same signature as an earlier call, but caches were cleared",
        _F,
        "f(x3) => TRACED new function object (same code)",
        "f(x3) => CACHED",
        _F.replace("sin", "cos"),
        "f(x3) => TRACED first call after redefinition",
        "@torch.compile(backend='eager')\ndef r(x, s):\n    return x * s",
        "r(x3, 2.0) => TRACED first call",
        "@torch.compile(backend='eager')\ndef r(y, n):\n    return y * n",
        "r(x3, 2.0) => TRACED first call after redefinition",
    ),
    "values around a function": (
        ("def times(n):\n    def timed(x):\n        return torch.sin(x) * n\n"
        "    return torch.compile(timed, backend='eager')"),
        "t1, t2 = times(1), times(2)",
        "t1(x3) => TRACED first call",
        "t2(x3) => TRACED n: 1 → 2 (static value)",
        "t1(x3) => CACHED",
        "scale = 2",
        "@torch.compile(backend='eager')\ndef scaled(x):\n    return torch.sin(x) * scale",
        "scaled(x3) => TRACED first call",
        "scale = 3",
        "scaled(x3) => TRACED global scale: 2 → 3 (static value)",
    ),
    "calls that were made before": (
        _F,
        "y = f(x3)",
        "f(x3) => CACHED",
        "f(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "@torch.compile(backend='eager')\ndef timed(x):\n    return torch.sin(x).sum()",
        "%fwtime -q -n1 -r2 timed(x3)",
        "timed(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "@torch.compile(backend='eager')\ndef seen(x):\n    return torch.sin(x).sum()",
        "%jaxpr -q seen(x3)",
        "seen(x3) => TRACED first call",
    ),
    "where functions are defined": (
        ("@torch.compile(backend='eager')\n"
        "def here(x):\n    return torch.sin(x)\nhere(x3) => TRACED first call"),
        "here(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "mod.step(x3) => TRACED first call",
        "mod.step(x4) => TRACED x: f32[3] → f32[4] (shape)",
        ("class Model:\n    k = 2\n    @torch.compile(backend='eager')\n"
        "    def run(self, x):\n        return torch.cos(x) * self.k\nm1, m2 = Model(), Model()"),
        "m1.run(x3) => TRACED first call",
        "m2.run(x3) => CACHED",
        "m1.run(x4) => TRACED x: f32[3] → f32[4] (shape)",
    ),
    "modules, inner calls and breaks": (
        (
            "class Net(torch.nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__(); self.lin = torch.nn.Linear(3, 3)\n"
            "    def forward(self, x):\n        return self.lin(x)\n"
            "lin = Net()\nlin.compile(backend='eager')"
        ),
        "lin(x33) => TRACED first call",
        "lin.lin.weight.requires_grad_(False)\nNone",
        (
            "lin(x33) => TRACED self.lin.weight:"
            " contiguous, requires_grad → contiguous (layout)"
        ),
        ("def helper(x):\n    return torch.cos(x)\n"
        "@torch.compile(backend='eager')\ndef both(x):\n    return helper(x) + f(x)"),
        _F,
        "both(x3) => TRACED first call",
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
        torch=torch, np=np, mod=mod,
        x3=torch.ones(3), x4=torch.ones(4), x33=torch.ones(3, 3),
    )  # fmt: skip
    shell.run("1")  # from now on what is compiled is learned
    yield shell
    torch.compiler.reset()  # while the names that it has made are there


def test_each_call_is_told_right(typing: Shell) -> None:
    found = score(typing, SESSIONS, "torch.compiler.reset()")
    assert not found.wrong, "\n".join(found.wrong)
    assert not found.unknown, "\n".join(found.unknown)
    assert found.cached >= found.calls / 2 >= 20
