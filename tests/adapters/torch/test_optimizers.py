"""A compiled step of an optimizer: what is named as the cause, and the fix, which helps."""

import warnings
from typing import Any

import pytest
import torch

from tests.traced import observed

with warnings.catch_warnings():  # of what dynamo loads for an optimizer
    warnings.simplefilter("ignore")
    import torch._inductor.compile_fx
# What dynamo sets when it is first used: a variable, and a warning's filter.
torch.compile(torch.sin, backend="eager")(torch.ones(1))

START = """
p = torch.nn.Parameter(torch.ones(2))
p.grad = torch.ones(2)
opt = torch.optim.{}([p], {})
step = torch.compile(opt.step, backend="eager")
step(); step()
"""
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
LR = "Create the optimizer with `lr=torch.tensor(0.01)`: a tensor's value is not guarded"
OF_BETAS = (
    "Create the optimizer with `betas=(torch.tensor(beta1), torch.tensor(beta2))`, as Adam and"
    " AdamW allow: a tensor's value is not guarded"
)


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
        ("SGD", SCHEDULED, "lr=0.01", "lr=torch.tensor(0.01)", LR),
        ("Adam", SCHEDULED, "lr=0.01", "lr=torch.tensor(0.01)", LR),
        ("AdamW", BETAS, "lr=0.01", "betas=(torch.tensor(0.9), torch.tensor(0.999))", OF_BETAS),
        ("SGD", "for m in (0.9, 0.8, 0.7):\n    opt.param_groups[0]['momentum'] = m\n    step()",
         "lr=0.01, momentum=0.9", "",
         "Keep the optimizer's `momentum` as it is: each new value needs its own program"),
    ],
)  # fmt: skip
def test_with_the_fix_a_step_is_compiled_once(
    kind: str, cell: str, options: str, mended: str, fix: str
) -> None:
    assert traced(kind, options, cell)[0].fixes == (fix,)
    assert not mended or traced(kind, mended, cell) == []
