"""The PyTorch adapter, and `%fwtime`'s promises on real PyTorch code."""

import sys
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

import ipyjaxbench
from ipyjaxbench.frameworks import Framework, find_arrays, loaded
from ipyjaxbench.frameworks.torch import Torch
from tests.frameworks.contract import Contract


def _adapter() -> Torch:
    return next(f for f in loaded()[0] if isinstance(f, Torch))


def codes(result: ipyjaxbench.Measurement) -> set[str]:
    return {note.code for note in result.notes}


class TestTorch(Contract):
    devices = ("cpu",)

    @pytest.fixture
    def framework(self) -> Framework:
        return _adapter()

    @pytest.fixture
    def array(self) -> object:
        return torch.ones(2, 3)


def test_an_assignment_is_there_afterwards() -> None:
    names = {"torch": torch, "a": torch.eye(4)}
    result = ipyjaxbench.measure_code("y = torch.matmul(a, a)", names, budget=0.05)
    assert torch.equal(names["y"], torch.eye(4))
    assert [p.words() for p in result.inputs] == ["a f32[4,4] cpu"]
    assert result.frameworks == {"torch": torch.__version__}
    assert not result.waited


def test_a_model_is_placed_by_its_parameters_and_buffers() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)).eval()
    names = {"net": net, "x": torch.ones(5, 3)}
    result = ipyjaxbench.measure_code("net(x)", names, budget=0.05)
    arrays = len(list(net.parameters())) + len(list(net.buffers()))
    assert result.inputs[0].arrays == arrays


def test_the_global_random_state_is_that_after_one_run() -> None:
    torch.manual_seed(1)
    first, second = torch.randn(2), torch.randn(2)
    torch.manual_seed(1)
    names = {"torch": torch}
    ipyjaxbench.measure_code("r = torch.randn(2)", names, budget=0.05)
    assert torch.equal(names["r"], first)
    assert torch.equal(torch.randn(2), second)


def test_a_generator_of_the_users_is_as_after_one_run() -> None:
    expected = torch.Generator().manual_seed(3)
    torch.randn(2, generator=expected)
    mine = torch.Generator().manual_seed(3)
    ipyjaxbench.measure_code(
        "torch.randn(2, generator=g)", {"torch": torch, "g": mine}, budget=0.05
    )
    assert torch.equal(mine.get_state(), expected.get_state())


def test_backward_runs_once_and_nothing_is_raised() -> None:
    w = torch.ones(3, requires_grad=True)
    result = ipyjaxbench.measure_code("loss.backward()", {"loss": (w * 2).sum()})
    assert result.verdict == "ONCE"
    assert codes(result) == {"runs-once"}
    assert "RuntimeError: Trying to backward through the graph a second" in result.notes[0].text
    assert w.grad.tolist() == [2.0, 2.0, 2.0]


def test_work_in_place_is_told() -> None:
    names = {"w": torch.zeros(2)}
    result = ipyjaxbench.measure_code("w.add_(1)", names, number=4, repeat=3)
    assert names["w"].tolist() == [12.0, 12.0]
    assert "w advanced by 12 calls" in str(result)


def test_a_training_step_tells_that_the_model_advanced() -> None:
    net = torch.nn.Linear(3, 1)
    names = {"net": net, "opt": torch.optim.SGD(net.parameters()), "x": torch.ones(2, 3)}
    code = "opt.zero_grad()\nnet(x).sum().backward()\nopt.step()"
    result = ipyjaxbench.measure_code(code, names, budget=0.05)
    assert "state-advanced" in codes(result)


def test_nothing_is_said_of_state_where_none_changes() -> None:
    names = {"net": torch.nn.Linear(3, 1), "x": torch.ones(2, 3)}
    assert "state-advanced" not in codes(ipyjaxbench.measure_code("net(x)", names, budget=0.05))


def test_tensors_of_inference_mode_are_taken() -> None:
    with torch.inference_mode():
        x = torch.ones(3)
    assert ipyjaxbench.measure_code("x + 1", {"x": x}, budget=0.05).median > 0


def test_compile_time_is_kept_apart_and_told() -> None:
    torch._dynamo.reset()
    f = torch.compile(lambda x: torch.sin(x) + 1, backend="eager")
    names: dict[str, Any] = {"f": f, "x": torch.ones(8)}
    result = ipyjaxbench.measure_code("f(x)", names, budget=0.05)
    assert list(result.phases) == ["trace", "compile"]
    assert 0 < sum(result.phases.values()) < result.first_call
    assert result.compilations == 1
    assert [(p.name, p.origin) for p in result.programs] == [("<lambda>", "compiled")]
    again = ipyjaxbench.measure_code("f(x)", names, budget=0.05)
    assert (again.phases, again.compilations) == ({}, 0)
    assert "already compiled" in str(again)


def test_a_recompilation_in_each_call_is_no_steady_state() -> None:
    torch._dynamo.reset()
    code = "torch._dynamo.reset(); f(x)"
    f = torch.compile(lambda x: torch.sin(x) + 1, backend="eager")
    names = {"torch": torch, "f": f, "x": torch.ones(8)}
    assert ipyjaxbench.measure_code(code, names, number=1, repeat=4).verdict == "RECOMPILES"


def test_no_accelerator_is_started_by_looking() -> None:
    adapter = _adapter()
    adapter.prepare()
    adapter.drain()
    assert not torch.cuda.is_initialized()
    assert "torch_xla" not in sys.modules


def test_a_module_inside_of_an_object_is_found() -> None:
    holder = {"net": torch.nn.Linear(2, 2)}
    assert len(find_arrays(holder, [_adapter()])) == 2


def test_training_inside_of_a_function_is_told_too() -> None:
    net, x = torch.nn.Linear(3, 1), torch.ones(2, 3)
    optimiser = torch.optim.SGD(net.parameters())

    def train() -> float:
        optimiser.zero_grad()
        loss = net(x).mean()
        loss.backward()
        optimiser.step()
        return loss.item()

    result = ipyjaxbench.measure_code("train()", {"train": train}, number=2, repeat=3)
    (note,) = [note for note in result.notes if note.code == "state-advanced"]
    assert "net" in note.text
    assert "torch" in result.frameworks


def test_gradients_that_pile_up_are_told() -> None:
    net, x = torch.nn.Linear(3, 1), torch.ones(2, 3)
    names = {"net": net, "x": x}
    result = ipyjaxbench.measure_code("net(x).mean().backward()", names, number=2, repeat=3)
    assert codes(result) == {"state-advanced"}
