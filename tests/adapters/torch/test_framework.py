"""The PyTorch adapter, and `%fwtime`'s promises on real PyTorch code."""

import os
import re
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

import ipyjaxbench
from ipyjaxbench.adapters.shared.stderr import drop_lines
from ipyjaxbench.adapters.torch import Torch
from ipyjaxbench.adapters.torch.profiler import operations
from ipyjaxbench.frameworks import Framework, find_arrays, loaded
from ipyjaxbench.timing.device_time import Interval, ProfiledPass
from ipyjaxbench.timing.protocol import Profiler
from tests.adapters.contract import Contract


def _adapter() -> Torch:
    return next(f for f in loaded()[0] if isinstance(f, Torch))


def codes(result: ipyjaxbench.Measurement) -> set[str]:
    return {note.code for note in result.notes}


class TestTorch(Contract):
    devices = ("cpu",)
    multiplied = ("float32", "bfloat16", "float16", "float64", "int8")

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
    result = ipyjaxbench.measure_code("w.add_(1)", names, number=4, repeat=3, restore=False)
    assert names["w"].tolist() == [12.0, 12.0]
    assert "'w' advanced by 12 calls" in str(result)


@pytest.mark.parametrize(("restore", "told"), [(True, "put-back"), (False, "state-advanced")])
def test_a_training_step_tells_what_became_of_the_model(restore: bool, told: str) -> None:
    net = torch.nn.Linear(3, 1)
    names = {"net": net, "opt": torch.optim.SGD(net.parameters()), "x": torch.ones(2, 3)}
    code = "opt.zero_grad()\nnet(x).sum().backward()\nopt.step()"
    result = ipyjaxbench.measure_code(code, names, budget=0.05, restore=restore)
    assert codes(result) & {"put-back", "state-advanced"} == {told}


def test_nothing_is_said_of_state_where_none_changes() -> None:
    names = {"net": torch.nn.Linear(3, 1), "x": torch.ones(2, 3)}
    assert "state-advanced" not in codes(ipyjaxbench.measure_code("net(x)", names, budget=0.05))


def test_tensors_of_inference_mode_are_taken() -> None:
    with torch.inference_mode():
        x = torch.ones(3)
    assert ipyjaxbench.measure_code("x + 1", {"x": x}, budget=0.05).median > 0


@pytest.mark.usefixtures("real_clock")
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
    (note,) = [note for note in result.notes if note.code == "put-back"]
    assert "net" in note.text
    assert "torch" in result.frameworks


def test_gradients_that_pile_up_are_told() -> None:
    net, x = torch.nn.Linear(3, 1), torch.ones(2, 3)
    names = {"net": net, "x": x}
    result = ipyjaxbench.measure_code("net(x).mean().backward()", names, number=2, repeat=3)
    assert codes(result) == {"put-back"}


# The profiled pass


def seen_in(code: str, **names: Any) -> ProfiledPass:
    """The pass over this code."""
    found = ipyjaxbench.measure_code(code, names, number=2, repeat=3, profile=True).device
    assert found is not None
    assert found.reasons == {}
    (seen,) = found.passes
    return seen


@pytest.mark.usefixtures("real_clock")
def test_operators_are_counted_and_are_busy_in_a_call_and_never_for_longer() -> None:
    x = torch.randn(500, 500)
    seen = seen_in("x @ x @ x @ x", x=x)
    counts = {operation.name: operation.count / seen.calls for operation in seen.operations}
    assert counts["aten::mm"] == 3
    assert seen.operations[0].name == "aten::mm"
    assert 0 < seen.busy <= seen.elapsed
    assert list(seen.devices) == ["cpu"]
    assert seen.worked == pytest.approx(seen.busy)


def test_operators_of_the_backward_pass_are_seen() -> None:
    w = torch.randn(50, 50, requires_grad=True)
    seen = seen_in("(w @ w).sum().backward()", w=w)
    counts = {operation.name: operation.count / seen.calls for operation in seen.operations}
    assert counts["aten::mm"] == 3
    assert not any("autograd" in name or "Backward" in name for name in counts)


def test_what_the_user_names_is_no_operation() -> None:
    code = "with torch.profiler.record_function('my::part'):\n    x + 1"
    seen = seen_in(code, torch=torch, x=torch.ones(3))
    assert not any("part" in operation.name for operation in seen.operations)


def test_profilers_of_the_users_go_on_and_are_the_reason_why_nothing_is_told() -> None:
    x = torch.ones(3)
    taken = {"torch": "another profiler is already running"}
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as mine:
        result = ipyjaxbench.measure_code("x + 1", {"x": x}, number=2, repeat=2, profile=True)
    assert result.device.reasons == taken
    assert [event.name for event in mine.events()].count("aten::add") == 4
    again = ipyjaxbench.measure_code("x + 1", {"x": x}, number=2, repeat=2, profile=True)
    assert again.device.reasons == {}


def test_a_profiler_of_the_users_that_warms_up_is_left_alone_too() -> None:
    plan = torch.profiler.schedule(wait=0, warmup=1, active=1, repeat=1)
    only = [torch.profiler.ProfilerActivity.CPU]
    x = torch.ones(3)
    with torch.profiler.profile(activities=only, schedule=plan) as mine:
        result = ipyjaxbench.measure_code("x + 1", {"x": x}, number=2, repeat=2, profile=True)
        mine.step()
        x * 2
        mine.step()
    assert result.device.reasons == {"torch": "another profiler is already running"}
    assert "aten::mul" in [event.name for event in mine.events()]


def test_the_profiler_writes_nothing_and_what_others_write_is_passed_on(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def run() -> None:
        os.write(2, b"mine\n")
        torch.ones(3) + 1

    assert _adapter().capability(Profiler).profile(run).intervals != ()
    assert capfd.readouterr() == ("", "mine\n")
    with drop_lines(re.compile(rb"theirs")):
        os.write(2, b"theirs 1\nmine 2\n")
        assert capfd.readouterr().err == ""
    assert capfd.readouterr().err == "mine 2\n"


def event(name: str, kind: Any, start: float, end: float, *, user: bool = False) -> Any:
    """An event as PyTorch's profiler gives it, in microseconds."""
    return SimpleNamespace(
        name=name,
        device_type=kind,
        device_index=1,
        device_resource_id=7,
        thread=3,
        time_range=SimpleNamespace(start=start, end=end),
        is_user_annotation=user,
    )


def test_on_an_accelerator_kernels_are_seen_and_the_operators_that_start_them_are_not() -> None:
    cpu, cuda = torch.autograd.DeviceType.CPU, torch.autograd.DeviceType.CUDA
    events = [
        event("aten::mm", cpu, 0, 4),
        event("cudaLaunchKernel", cpu, 1, 2),
        event("void gemm<float>(float*)", cuda, 3, 9),
        event("Memcpy DtoH", cuda, 9, 10),
        event("step", cuda, 0, 99, user=True),
    ]
    assert operations(events, {}) == (
        Interval("gemm<float>(float*)", 3000, 9000, "cuda:1", "7"),
        Interval("Memcpy DtoH", 9000, 10000, "cuda:1", "7"),
    )
    assert [i.operation for i in operations(events[:2], {})] == ["aten::mm"]


def test_a_compiled_graph_is_one_operation() -> None:
    cpu = torch.autograd.DeviceType.CPU
    names = ["TorchDynamo Cache Lookup", "## Call CompiledFxGraph f2cipefi5bpkoelaslxu ##"]
    found = operations([event(name, cpu, 0, 1) for name in names], {})
    assert [i.operation for i in found] == ["compiled graph f2cipefi"]


# Work that was not done

ABOUT_WORK = {"built-each-call", "value-cached", "used-up", "grows", "slows-down", "no-work"}


def about_work(code: str, names: dict[str, Any], budget: float = 0.1) -> dict[str, str]:
    result = ipyjaxbench.measure_code(code, names, budget=budget)
    return {note.code: note.text for note in result.notes if note.code in ABOUT_WORK}


@pytest.mark.usefixtures("real_clock")
def test_compiling_in_the_statement_is_told() -> None:
    names = {"torch": torch, "f": lambda x: torch.sin(x) + 1, "x": torch.ones(8)}
    found = about_work('torch.compile(f, backend="eager")(x)', names, budget=3.0)
    assert list(found) == ["built-each-call"]
    assert found["built-each-call"].startswith("Every call runs torch.compile(...), which ")
    names["g"] = torch.compile(names["f"], backend="eager")
    assert about_work("g(x)", names) == {}


@pytest.mark.parametrize(
    "code",
    [
        "model(x)",
        "x.add_(1)",
        "y = model[0].weight",
        "model.train()",
        "loss = model(x).sum(); loss.backward(); optimiser.step(); optimiser.zero_grad()",
        "x @ x",
        "x.T",
        "x.numpy()",
        "torch.add(x, x, out=out)",
        "model[0].weight.data.mul_(1.0)",
        "with torch.no_grad(): model(x)",
        "torch.nn.functional.relu_(out)",
    ],
)
def test_ordinary_code_is_left_alone(code: str) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU())
    names = {"torch": torch, "model": model, "x": torch.ones(16, 16), "out": torch.ones(16, 16)}
    names["optimiser"] = torch.optim.Adam(model.parameters())
    assert about_work(code, names) == {}
