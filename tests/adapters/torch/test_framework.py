"""The PyTorch adapter, and `%fwtime`'s promises on real PyTorch code."""

import os
import sys
import warnings
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

import ipyjaxbench
from ipyjaxbench.adapters.torch import Torch, accelerators
from ipyjaxbench.adapters.torch.profiler import operations, replays_graphs
from ipyjaxbench.device import MemoryMeter
from ipyjaxbench.frameworks import Framework, find_arrays, loaded
from ipyjaxbench.host import GPU_NOT_PROFILED
from ipyjaxbench.timing.device_time import Interval
from ipyjaxbench.timing.protocol import Profiler
from tests.adapters.contract import Contract


def _adapter() -> Torch:
    return next(f for f in loaded()[0] if isinstance(f, Torch))


class TestTorch(Contract):
    devices = ("cpu",)
    multiplied = ("float32", "bfloat16", "float16", "float64", "int8")

    @pytest.fixture
    def framework(self) -> Framework:
        return _adapter()

    @pytest.fixture
    def array(self) -> object:
        return torch.ones(2, 3)


def test_an_assignment_is_there_afterwards_and_work_in_place_is_told() -> None:
    names = {"torch": torch, "a": torch.eye(4), "w": torch.zeros(2)}
    result = ipyjaxbench.measure_code("y = torch.matmul(a, a)", names, budget=0.05)
    assert torch.equal(names["y"], torch.eye(4))
    assert [p.words() for p in result.inputs] == ["a f32[4,4] cpu"]
    assert result.frameworks == {"torch": torch.__version__}
    assert not result.waited
    result = ipyjaxbench.measure_code("w.add_(1)", names, number=4, repeat=3, restore=False)
    assert names["w"].tolist() == [12.0, 12.0]
    assert "'w' advanced by 12 calls" in str(result)


def test_the_global_random_state_is_that_after_one_run() -> None:
    torch.manual_seed(1)
    expected = [torch.randn(2), torch.randn(2)]
    torch.manual_seed(1)
    names = {"torch": torch}
    ipyjaxbench.measure_code("r = torch.randn(2)", names, budget=0.05)
    assert torch.equal(torch.stack([names["r"], torch.randn(2)]), torch.stack(expected))


def test_no_accelerator_is_started_by_looking() -> None:
    _adapter().prepare()
    _adapter().drain()
    assert not torch.cuda.is_initialized()
    assert "torch_xla" not in sys.modules


def test_modules_and_optimisers_inside_of_an_object_are_found() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    state = [*net.parameters(), *net.buffers()]
    optimiser = torch.optim.SGD(net.parameters())
    for holder, held in (({"net": net}, state), ([optimiser], [*net.parameters()])):
        found = find_arrays(holder, [_adapter()])
        assert {id(each.array) for each in found} == {*map(id, held)}


# The profiled pass


@pytest.mark.usefixtures("real_clock")
def test_operators_are_counted_and_are_busy_in_a_call_and_never_for_longer() -> None:
    names = {"w": torch.randn(300, 300, requires_grad=True)}
    code = "(w @ w).sum().backward()"
    found = ipyjaxbench.measure_code(code, names, number=2, repeat=3, profile=True).device
    assert found is not None
    assert found.reasons == {}
    (seen,) = found.passes
    counts = {operation.name: operation.count / seen.calls for operation in seen.operations}
    assert counts["aten::mm"] == 3
    assert not any("autograd" in name or "Backward" in name for name in counts)
    assert 0 < seen.busy <= seen.elapsed
    assert list(seen.devices) == ["cpu"]
    assert seen.worked == pytest.approx(seen.busy)


def test_profilers_of_the_users_go_on_and_are_the_reason_why_nothing_is_told() -> None:
    def reason() -> str:
        return _adapter().capability(Profiler).profile(lambda: x + 1).reason

    x, only = torch.ones(3), [torch.profiler.ProfilerActivity.CPU]
    taken = "another profiler is already running"
    with torch.profiler.profile(activities=only) as mine:
        assert reason() == taken
        x + 1
    assert [event.name for event in mine.events()].count("aten::add") == 1
    plan = torch.profiler.schedule(wait=0, warmup=1, active=1, repeat=1)
    with torch.profiler.profile(activities=only, schedule=plan) as warming_up:
        assert reason() == taken
        warming_up.step()
        x * 2
        warming_up.step()
    assert "aten::mul" in [event.name for event in warming_up.events()]
    assert reason() == ""


@pytest.mark.parametrize("fails", ["__enter__", "__exit__"])
def test_a_profiler_that_a_driver_refuses_is_told_in_one_line(
    fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("CUPTI_ERROR_HARDWARE_BUSY\nmore")

    calls = {"__init__": lambda *_, **__: None, "__enter__": lambda _: None,
             "__exit__": lambda *_: None}  # fmt: skip
    refused = type("profile", (), {**calls, fails: refuse})
    monkeypatch.setattr(torch.autograd.profiler, "profile", refused)
    ran: list[int] = []
    found = _adapter().capability(Profiler).profile(lambda: ran.append(1))
    assert (found.intervals, len(ran)) == ((), 0 if fails == "__enter__" else 1)
    assert found.reason == "RuntimeError: CUPTI_ERROR_HARDWARE_BUSY"
    if fails == "__enter__":
        (peak,) = _adapter().capability(MemoryMeter).measure(lambda: ran.append(1))
        assert (peak.peak, peak.reason, ran) == (None, found.reason, [])


def test_operators_of_the_cpu_are_not_told_for_a_gpu_that_may_not_be_profiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where CUPTI is refused: not even the wait at the end of the session is seen."""
    monkeypatch.setattr(accelerators, "used_accelerators", lambda: [torch.device("cuda", 0)])
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    with warnings.catch_warnings(action="ignore"):  # there is no CUDA
        found = _adapter().capability(Profiler).profile(lambda: torch.ones(3) + 1)
    assert (found.intervals, found.reason) == ((), GPU_NOT_PROFILED)


def test_the_profiler_writes_nothing_and_what_others_write_is_passed_on(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def run() -> None:
        os.write(2, b"mine\n")
        torch.ones(3) + 1

    assert _adapter().capability(Profiler).profile(run).intervals != ()
    assert capfd.readouterr() == ("", "mine\n")


def event(name: str, kind: Any, start: float, end: float, *, user: bool = False) -> Any:
    """An event as PyTorch's profiler gives it, in microseconds."""
    return SimpleNamespace(
        name=name, device_type=kind, device_index=1, device_resource_id=7, thread=3,
        time_range=SimpleNamespace(start=start, end=end), is_user_annotation=user,
    )  # fmt: skip


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
    names = ["TorchDynamo Cache Lookup", "## Call CompiledFxGraph f2cipefi5bpkoelaslxu ##"]
    compiled = operations([event(name, cpu, 0, 1) for name in names], {})
    assert [i.operation for i in compiled] == ["compiled graph f2cipefi"]


@pytest.mark.parametrize(("hip", "aside", "launch"), [
    (None, [False, True], "cudaGraphLaunch"),
    ("6.4", [False, False], "hipGraphLaunch"),  # its default stream has no number of its own
])  # fmt: skip
def test_a_stream_beside_the_default_one_and_graphs_are_known(
    hip: str | None, aside: list[bool], launch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.version, "hip", hip)
    cuda = torch.autograd.DeviceType.CUDA
    kernels = [event("gemm", cuda, 0, 4), event("relu", cuda, 4, 5)]
    kernels[1].device_resource_id = 20
    assert [each.aside for each in operations(kernels, {})] == aside
    assert not replays_graphs(kernels)
    assert replays_graphs([*kernels, event(launch, torch.autograd.DeviceType.CPU, 0, 1)])


def test_compiling_in_the_statement_is_told_and_ordinary_code_is_left_alone() -> None:
    def told(code: str, budget: float) -> list[str]:
        notes = ipyjaxbench.measure_code(code, names, budget=budget).notes
        known = {"built-each-call", "value-cached", "used-up", "grows", "slows-down", "no-work"}
        return [note.text for note in notes if note.code in known]

    model, x = torch.nn.Linear(16, 16), torch.ones(16, 16)
    names = {"torch": torch, "f": lambda x: torch.sin(x) + 1, "x": x, "model": model}
    names |= {"optimiser": torch.optim.Adam(model.parameters()), "out": torch.ones(16, 16)}
    names["compiled"] = torch.compile(torch.sin, backend="eager")
    (text,) = told('torch.compile(f, backend="eager")(x)', 1.0)
    assert text.startswith("Every call runs torch.compile(...)")  # what of it that takes varies
    step = "loss = model(x).sum(); loss.backward(); optimiser.step(); optimiser.zero_grad()"
    for code in (step, "x.T", "torch.add(x, x, out=out)", "compiled(x)"):
        assert told(code, 0.1) == []
