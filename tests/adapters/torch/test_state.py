"""A look changes nothing of the user's or of PyTorch's, and computes with nothing of it."""

import contextlib
import gc
import logging
import os
import sys
import warnings
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

from ipyjaxbench import Graph, UntraceableError
from ipyjaxbench.adapters.torch.graphs import isolation
from ipyjaxbench.errors import SnippetError
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode import Call
from ipyjaxbench.usercode.snippet import Source
from tests.adapters.shared.code import names_of
from tests.shell import Shell

CODE = """
SEEN, TIMES = {}, 0
TOTAL, WEIGHT = torch.ones(3, 4), torch.nn.Parameter(torch.ones(3, 4))
def step(model, optimizer, scheduler, x):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    scheduler.step()
    return loss
class Lazy(torch.nn.Module):  # keeps what it computes in every way that there is
    def __init__(self):
        super().__init__()
        self.linear, self.first, self.history = torch.nn.Linear(4, 4), None, []
        self.register_buffer("scale", None)
        self.times = 0
    def forward(self, x):
        y = self.linear(x)
        if self.first is None:
            self.first = y.detach()
        if self.scale is None:
            self.scale = y.detach().std()
        self.history.append(y.detach())
        self.times += 1
        return y + self.scale
lazy = Lazy()
def around(x):
    return lazy(x) + 1
def remembering(x):
    global TIMES
    TIMES += 1
    SEEN["y"] = x * 2
    return SEEN["y"]
class Written(torch.autograd.Function):  # writes to a tensor behind autograd's back
    @staticmethod
    def forward(ctx, x):
        TOTAL.add_(1)
        return x * TOTAL
    @staticmethod
    def backward(ctx, grad):
        return grad * TOTAL
written = Written.apply
def replaced(x):
    WEIGHT.data = WEIGHT.data * 2
    WEIGHT.grad = torch.ones_like(WEIGHT)
    WEIGHT.requires_grad_(False)
    return x + WEIGHT
def regrown(x):
    TOTAL.resize_(6, 4).zero_()
    return x + TOTAL[:3]
def swapped(x):
    TOTAL.set_(x.clone())
    return x + TOTAL
def filled(x):
    TOTAL.numpy()[0] = 7
    TOTAL.normal_()
    TOTAL[0].add_(x[0])
    TOTAL.T.mul_(2)
    torch.ops.aten.mul_.Tensor(TOTAL, 3)
    return x + TOTAL
def mapped(x):
    return torch.func.vmap(lambda total, row: total.add_(row))(TOTAL, x)
total, single = torch.ones(4), torch.ones(())
def function(x):
    total.mul_(2)
    single.add_(1)
    torch._foreach_add_([total], 1.0)
    torch.mul(total, total, out=total)
    total.data.lerp_(single.data, 0.5)
    return x + total * single
"""
STAGES = ["aten", "export", "dynamo"]
X = torch.rand(3, 4)
NAMES = names_of(CODE, torch=torch, x=X)


def graph(code: str, names: dict[str, Any], stage: str = "aten") -> Graph:
    return trace_program(Source.plain(code), names, GraphOptions(stage=stage))


def look(code: str, names: dict[str, Any], stage: str = "aten") -> None:
    """Whether it traces or not."""
    try:
        graph(code, names, stage)
    except UntraceableError:
        assert stage != "aten"


def training_state(model: Any, optimizer: Any) -> list[Any]:
    tensors = [*model.parameters(), *model.buffers()]
    kept = [(id(k), name, v) for k, held in optimizer.state.items() for name, v in held.items()]
    return [
        [(t.tolist(), t._version, t.requires_grad, id(t.grad), sorted(vars(t))) for t in tensors],
        [None if t.grad is None else t.grad.tolist() for t in tensors],
        [(*key, id(v), type(v), v.tolist()) for *key, v in kept],
        [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups],
    ]


@pytest.mark.parametrize(
    ("options", "is_fresh", "stage"),
    [({"foreach": True}, True, "aten"), ({"amsgrad": True}, False, "dynamo")],
)
def test_a_step_of_training_trains_nothing(
    options: dict[str, bool], is_fresh: bool, stage: str
) -> None:
    model, step = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2)), NAMES["step"]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, **options)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.1)
    if not is_fresh:
        step(model, optimizer, scheduler, X)
    before, schedule = training_state(model, optimizer), scheduler.state_dict()
    look("step(m, o, s, x)", {**NAMES, "m": model, "o": optimizer, "s": scheduler}, stage)
    assert training_state(model, optimizer) == before
    assert scheduler.state_dict() == schedule
    step(model, optimizer, scheduler, X)
    assert training_state(model, optimizer) != before
    assert {type(t) for held in optimizer.state.values() for t in held.values()} == {torch.Tensor}


@pytest.mark.parametrize("stage", STAGES)
def test_tensors_that_the_code_names_are_part_of_the_program_and_not_written_to(stage: str) -> None:
    held = NAMES["total"], NAMES["single"]
    for _ in range(2):
        found = graph("function(x)", NAMES, stage)
    assert [t.tolist() for t in held] == [[1.0] * 4, 1.0]
    assert [t._version for t in held] == [0, 0]
    lines = CODE.partition("def function(x):\n")[2].splitlines()
    assert [line.name for line in found.lines] == [each.strip() for each in lines]
    if stage != "dynamo":  # there they are inputs
        assert [v.name for v in found.inputs] == ["x"]
        assert [v.shape for v in found.constants] == [(4,), ()]
    if stage == "aten":
        parts = [t for t in vars(found.graph).values() if isinstance(t, torch.Tensor)]
        assert {*map(id, [*parts, *found.graph.buffers()])} >= {*map(id, held)}


@pytest.mark.parametrize("stage", STAGES)
def test_what_the_code_keeps_is_put_back(stage: str) -> None:
    lazy = NAMES["lazy"]
    for code in ("lazy(x)", "around(x)", "remembering(x)"):
        look(code, NAMES, stage)
        assert (lazy.first, lazy.scale, lazy.history, lazy.times) == (None, None, [], 0)
        assert (NAMES["SEEN"], NAMES["TIMES"]) == ({}, 0)


def test_it_is_told_where_the_code_keeps_values_and_none_is_without_data() -> None:
    def fakes() -> set[int]:
        gc.collect()
        return {id(o) for o in gc.get_objects() if type(o) is FakeTensor}

    before = fakes()
    (note,) = graph("lazy(x)", NAMES).notes
    assert fakes() <= before
    assert note.code == "tracer-kept"
    for name in ("self.first", "self.scale", "self.history", "restored"):
        assert name in note.text
    assert "self.times" not in note.text


@pytest.mark.parametrize(
    ("name", "stage"),
    [*((f, "aten") for f in ("replaced", "regrown", "swapped", "filled", "mapped", "written")),
     ("replaced", "export"), ("replaced", "dynamo"), ("filled", "dynamo")],
)  # fmt: skip
def test_however_a_tensor_is_written_to_it_stays(name: str, stage: str) -> None:
    look(f"{name}(x)", NAMES, stage)
    total, weight = NAMES["TOTAL"], NAMES["WEIGHT"]
    assert total.tolist() == weight.tolist() == torch.ones(3, 4).tolist()
    assert (weight.grad, weight.requires_grad, total.requires_grad) == (None, True, False)
    assert (total._version, weight._version) == (0, 0)


@pytest.mark.parametrize("stage", ["aten", "dynamo"])
def test_a_lazy_module_stays_one(stage: str) -> None:
    lazy = nn.LazyLinear(2)
    with contextlib.suppress(SnippetError):  # it is refused, but for dynamo
        graph("lazy(x)", {"lazy": lazy, "x": X}, stage)
    assert type(lazy) is nn.LazyLinear
    assert lazy.has_uninitialized_params()
    assert lazy(X).shape == (3, 2)


def test_a_tensor_that_wraps_others_is_put_back_with_its_counter(shell: Shell) -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    shell.names["w"] = TwoTensor(torch.ones(3), torch.ones(3))
    shell.run("%fwtime -n 5 -r 3 -v found w.add_(1)")
    assert shell.names["w"].a.tolist() == [2.0] * 3
    codes = [note.code for note in shell.names["found"].notes]
    assert "put-back" in codes
    assert "state-advanced" not in codes


TABLE = torch.ones(2)


@pytest.mark.parametrize(
    ("loaded", "is_installed", "is_refused"),
    [(["tensorflow"], True, True), (["tensorflow"], False, False),
     (["tensorflow", "triton"], True, False), ([], True, False)],
)  # fmt: skip
def test_a_look_is_refused_where_importing_triton_would_abort(
    loaded: list[str], is_installed: bool, is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tensorflow", "triton"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in loaded:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(isolation, "find_spec", lambda _: object() if is_installed else None)
    refused = pytest.raises(SnippetError, match="import triton before tensorflow")
    with refused if is_refused else nullcontext():
        isolation._refuse_after_tensorflow()


def test_settings_are_put_back_and_pytorch_logs_and_warns_of_nothing_meanwhile() -> None:
    theirs, off = logging.getLogger("torch.of_tests"), logging.getLogger("torch.off_in_tests")
    mine, off.disabled, drawn = logging.getLogger("of_tests.torch"), True, torch.get_rng_state()
    with isolation.keep_settings():
        made = logging.getLogger("torch.made_in_tests")
        assert (theirs.disabled, off.disabled, mine.disabled) == (True, True, False)
        os.environ["OF_THESE_TESTS"] = "1"
        torch.rand(2)
        warnings.warn("not shown", stacklevel=1)
        assert torch._dynamo.eval_frame._stance.stance == "force_eager"
    assert (theirs.disabled, off.disabled, made.disabled) == (False, True, False)
    off.disabled = False
    assert "OF_THESE_TESTS" not in os.environ
    assert torch.equal(torch.get_rng_state(), drawn)
    assert torch._dynamo.eval_frame._stance.stance == "default"


def test_a_call_without_tensors_is_pytorchs_where_it_calls_or_names_some() -> None:
    assert isolation.is_torchs(Call("f()", lambda: TABLE + 1))
    assert isolation.is_torchs(Call("f()", lambda: torch.ones(3)))
    assert isolation.is_torchs(Call("f()", torch.ones, (3,), {}, ("size",)))
    assert isolation.is_torchs(Call("f(x)", print, (torch.float32,), {}, ("x",)))
    assert not isolation.is_torchs(Call("f(x)", len, ([1],), {}, ("obj",)))
