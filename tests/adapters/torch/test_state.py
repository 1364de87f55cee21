"""A look at a call in PyTorch changes nothing of the user's, and computes with nothing of it."""

import contextlib
import gc
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

from ipyjaxbench import Graph, UntraceableError
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source
from tests.shell import Shell

STAGES = ["aten", "export", "dynamo"]
X = torch.rand(3, 4)
SEEN: dict[str, Any] = {}
TIMES = 0


def graph(code: str, names: dict[str, Any], stage: str = "aten") -> Graph:
    return trace_program(Source.plain(code), names, GraphOptions(stage=stage))


def look(code: str, names: dict[str, Any], stage: str = "aten") -> None:
    """Whether it traces or not."""
    try:
        graph(code, names, stage)
    except UntraceableError:
        assert stage != "aten"


def step(model: Any, optimizer: Any, scheduler: Any, x: Any) -> Any:
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    scheduler.step()
    return loss


def training_state(model: Any, optimizer: Any) -> list[Any]:
    tensors = [*model.parameters(), *model.buffers()]
    state = [(id(k), name, id(v), v.tolist() if isinstance(v, torch.Tensor) else v)
             for k, kept in optimizer.state.items() for name, v in kept.items()]  # fmt: skip
    return [
        [(t.tolist(), t._version, t.requires_grad, id(t.grad)) for t in tensors],
        [None if t.grad is None else t.grad.tolist() for t in tensors], state,
        [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups],
        [sorted(vars(t)) for t in tensors],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "is_fresh", "stage"),
    [({"foreach": True}, True, "aten"), ({"amsgrad": True}, False, "dynamo"),
     ({"foreach": True}, False, "export")],
)  # fmt: skip
def test_a_step_of_training_trains_nothing(
    options: dict[str, bool], is_fresh: bool, stage: str
) -> None:
    model = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, **options)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.1)
    if not is_fresh:
        step(model, optimizer, scheduler, X)
    before, schedule = training_state(model, optimizer), scheduler.state_dict()
    names = {"step": step, "m": model, "o": optimizer, "s": scheduler, "x": X}
    look("step(m, o, s, x)", names, stage)
    assert training_state(model, optimizer) == before
    assert scheduler.state_dict() == schedule
    weight = model[1].weight.detach().clone()
    step(model, optimizer, scheduler, X)
    assert not torch.equal(weight, model[1].weight)
    assert all(type(t) is torch.Tensor for s in optimizer.state.values() for t in s.values()
               if isinstance(t, torch.Tensor))  # fmt: skip


@pytest.mark.parametrize("stage", STAGES)
def test_tensors_that_the_code_names_are_part_of_the_program_and_not_written_to(stage: str) -> None:
    total, single = torch.ones(4), torch.ones(())

    def function(x: Any) -> Any:
        total.mul_(2)
        single.add_(1)
        torch._foreach_add_([total], 1.0)
        torch.mul(total, total, out=total)
        total.data.lerp_(single.data, 0.5)
        return x + total * single

    for _ in range(2):
        found = graph("f(x)", {"f": function, "x": X}, stage)
    assert [t.tolist() for t in (total, single)] == [[1.0] * 4, 1.0]
    assert [t._version for t in (total, single)] == [0, 0]
    assert [line.name for line in found.lines] == [
        "total.mul_(2)", "single.add_(1)", "torch._foreach_add_([total], 1.0)",
        "torch.mul(total, total, out=total)", "total.data.lerp_(single.data, 0.5)",
        "return x + total * single",
    ]  # fmt: skip
    if stage != "dynamo":  # there they are inputs
        assert [v.name for v in found.inputs] == ["x"]
        assert [v.shape for v in found.constants] == [(4,), ()]
    if stage == "aten":
        held = [t for t in vars(found.graph).values() if isinstance(t, torch.Tensor)]
        held += found.graph.buffers()
        assert {*map(id, held)} >= {id(total), id(single)}


class Lazy(nn.Module):
    """Keeps what it computes in every way that there is."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.first: Any = None
        self.register_buffer("scale", None)
        self.history: list[Any] = []
        self.times = 0

    def forward(self, x: Any) -> Any:
        y = self.linear(x)
        if self.first is None:
            self.first = y.detach()
        if self.scale is None:
            self.scale = y.detach().std()
        self.history.append(y.detach())
        self.times += 1
        return y + self.scale


def remembering(x: Any) -> Any:
    global TIMES
    TIMES += 1
    SEEN["y"] = x * 2
    return SEEN["y"]


@pytest.mark.parametrize("stage", STAGES)
def test_what_the_code_keeps_is_put_back(stage: str) -> None:
    lazy = Lazy()
    names = {"lazy": lazy, "remembering": remembering, "x": X, "around": lambda x: lazy(x) + 1}
    for code in ("lazy(x)", "around(x)", "remembering(x)"):
        look(code, names, stage)
        kept = lazy.first, lazy.scale, lazy.history, lazy.times
        assert (kept, SEEN, TIMES) == ((None, None, [], 0), {}, 0)


def test_it_is_told_where_the_code_keeps_values_and_none_is_without_data() -> None:
    def fakes() -> set[int]:
        gc.collect()
        return {id(o) for o in gc.get_objects() if type(o) is FakeTensor}

    before = fakes()
    (note,) = graph("lazy(x)", {"lazy": Lazy(), "x": X}).notes
    assert fakes() <= before
    assert note.code == "tracer-kept"
    for name in ("self.first", "self.scale", "self.history", "restored"):
        assert name in note.text
    assert "self.times" not in note.text


class Written(torch.autograd.Function):
    """Writes to a tensor of the module behind autograd's back."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        TOTAL.add_(1)
        return x * TOTAL

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * TOTAL


TOTAL, WEIGHT = torch.ones(3, 4), nn.Parameter(torch.ones(3, 4))


def replaced(x: Any) -> Any:
    WEIGHT.data = WEIGHT.data * 2
    WEIGHT.grad = torch.ones_like(WEIGHT)
    WEIGHT.requires_grad_(False)
    return x + WEIGHT


def regrown(x: Any) -> Any:
    TOTAL.resize_(6, 4).zero_()
    return x + TOTAL[:3]


def swapped(x: Any) -> Any:
    TOTAL.set_(x.clone())
    return x + TOTAL


def filled(x: Any) -> Any:
    TOTAL.numpy()[0] = 7
    TOTAL.normal_()
    TOTAL[0].add_(x[0])
    TOTAL.T.mul_(2)
    torch.ops.aten.mul_.Tensor(TOTAL, 3)
    return x + TOTAL


def mapped(x: Any) -> Any:
    return torch.func.vmap(lambda total, row: total.add_(row))(TOTAL, x)


@pytest.mark.parametrize(
    ("function", "stage"),
    [*((f, "aten") for f in (replaced, regrown, swapped, filled, mapped, Written.apply)),
     (replaced, "export"), (replaced, "dynamo"), (filled, "export"), (filled, "dynamo")],
)  # fmt: skip
def test_however_a_tensor_is_written_to_it_stays(function: Any, stage: str) -> None:
    look("f(x)", {"f": function, "x": X}, stage)
    assert TOTAL.tolist() == torch.ones(3, 4).tolist()
    assert WEIGHT.tolist() == torch.ones(3, 4).tolist()
    assert (WEIGHT.grad, WEIGHT.requires_grad, TOTAL.requires_grad) == (None, True, False)
    assert (TOTAL._version, WEIGHT._version) == (0, 0)


@pytest.mark.parametrize("stage", ["aten", "dynamo"])
def test_a_lazy_module_stays_one(stage: str) -> None:
    lazy = nn.LazyLinear(2)
    with contextlib.suppress(UntraceableError):
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
