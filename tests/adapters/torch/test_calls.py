"""Any call in PyTorch gives a program, or a diagnosis: over its own library, and counted."""

import functools
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded
from torch import nn
from torch.nn import functional as F
from torch.optim.sgd import sgd

from ipyjaxbench import UntraceableError
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source


def flagged(x: Any, how: str, neg: bool = False) -> Any:
    y = getattr(torch, how)(x)
    return -y if neg else y


def loss(params: Any, x: Any, y: Any) -> Any:
    return F.mse_loss(x @ params["w"] + params["b"], y)


def step(model: Any, x: Any, y: Any) -> Any:
    """A whole step of training, with autograd inside."""
    error = F.cross_entropy(model(x), y)
    grads = torch.autograd.grad(error, list(model.parameters()))
    return [p - 0.1 * g for p, g in zip(model.parameters(), grads, strict=True)]


X, W = torch.rand(3, 4), torch.rand(4, 2)
NAMES = {
    "torch": torch, "F": F, "functools": functools, "x": X, "w": W, "flagged": flagged,
    "sequence": torch.rand(2, 5, 8), "labels": torch.tensor([0, 1, 0]), "lstm": nn.LSTM(8, 16),
    "transformer": nn.Transformer(8, 2, 1, 1, 16, batch_first=True),
    "mlp": nn.Sequential(nn.Linear(4, 8), nn.GELU()), "params": {"w": W, "b": torch.zeros(2)},
    "loss": loss, "y": torch.rand(3, 2), "step": step, "batch": (X, "sin"), "more": {"dim": 0},
    "compiled": torch.compile(flagged, backend="eager"), "sgd": sgd,
    "settings": {"weight_decay": 0, "momentum": 0, "lr": 0.1, "dampening": 0, "nesterov": False,
                 "maximize": False},
    "in_place": nn.Sequential(nn.Linear(4, 2), nn.ReLU()),
}  # fmt: skip
NAMES["in_place"].compile(backend="eager")
HESSIAN = "torch.func.hessian(lambda v: (v**3).sum())(x[0])"
CALLS = (
    "x.T", "torch.sum(x, **more)", "torch.linalg.svd(x)", "torch.rand_like(x)", "lstm(sequence)",
    "transformer(sequence, sequence)", "mlp.forward(input=x)", "flagged(*batch)",
    "functools.partial(flagged, how='tanh')(x)", "compiled(x, 'sin', neg=True)", "in_place(x)",
    "torch.func.grad_and_value(loss)(params, x, y)", "torch.func.vmap(mlp)(x)", HESSIAN,
    "torch.func.functional_call(mlp, dict(mlp.named_parameters()), x)",
    "torch.utils.checkpoint.checkpoint(mlp, x, use_reentrant=False)", "step(mlp, x, labels)",
    "sgd([x], [x], [None], **settings)", "x[x > 0.5]", "float(x.sum())",
)  # fmt: skip
#: What depends on values; export and dynamo can do with some of it.
MEANT_TO_FAIL = {
    "aten": {"x[x > 0.5]", "float(x.sum())"},
    "dynamo": set(),
    "export": {"float(x.sum())", "step(mlp, x, labels)", HESSIAN},
}
#: What changes its arguments, gives a number, or gives what dynamo takes from an input.
NO_TENSOR_COMES_OUT = {"sgd([x], [x], [None], **settings)", "float(x.sum())", "x.T"}


@pytest.mark.parametrize("stage", MEANT_TO_FAIL)
def test_calls_of_all_kinds_give_a_program_or_a_diagnosis(stage: str) -> None:
    failed = {}
    for code in CALLS:
        try:
            found = trace_program(Source.plain(code), dict(NAMES), GraphOptions(stage=stage))
            assert found.operations or found.breaks, code
            assert found.outputs or code in NO_TENSOR_COMES_OUT, code
        except UntraceableError as error:
            failed[code] = (error.diagnosis.because, error.diagnosis.message)
    assert failed.keys() == MEANT_TO_FAIL[stage], failed
