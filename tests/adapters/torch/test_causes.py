"""Only what changed the key is a cause: with that alone put back, a call is a hit."""

import warnings

import pytest
import torch

from tests.causes import Changed, judge

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
STEP = (
    "p = torch.nn.Parameter(torch.ones(2))\np.grad = torch.ones(2)\n"
    "opt = torch.optim.{}([p], lr=0.01)\nstep = torch.compile(opt.step, backend='eager')\n"
    "step(); step()"  # the state of the optimizer is there then
)


def changed(cause: str, words: str, function: str = F, call: str = "", **new: str) -> Changed:
    old = {"x": X, "n": "2", "mode": "'a'", "d": "None", "unused": "0"}
    call = call or "f($x, $n, $mode, $d, $unused)"
    return Changed(function, call, old, new, cause, words)


ROWS = (
    changed("x", "x: f32[4] → f64[4] (dtype)", x="torch.ones(4).double()", unused="1"),
    changed("x", "x: f32[4] → f32[6] (shape)", x="torch.ones(6)", unused="'b'"),
    changed("x", "x: contiguous → contiguous, requires_grad (layout)",
            x="torch.ones(4).requires_grad_()", unused="torch.ones(3)"),
    changed("n", "n: 2 → 3 (static value)", x=Y, n="3", unused="1"),
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
    Changed(STEP.format("SGD"), SET.format("lr"), {"g": "1.0", "value": "0.01"},
            {"g": "2.0", "value": "0.02"}, "value",
            "self.param_groups[0]['lr']: 0.01 → 0.02 (static value)"),
    Changed(STEP.format("Adam"), SET.format("betas"), {"g": "1.0", "value": "(0.9, 0.999)"},
            {"g": "2.0", "value": "(0.8, 0.999)"}, "value",
            "self.param_groups[0]['betas'][0]: 0.9 → 0.8 (static value)"),
)  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.words)
def test_with_the_cause_alone_put_back_a_call_is_a_hit(row: Changed) -> None:
    assert judge(row, {"torch": torch}, torch._dynamo.reset) == []
