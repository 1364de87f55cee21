"""What NVIDIA's driver tells, from a binding that has the shape of ``nvidia-ml-py`` 13."""

import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.host import nvml
from ipyjaxbench.host.conditions import Meter
from ipyjaxbench.host.nvml import Gpu, query_gpus
from ipyjaxbench.testing import FakeClock

ME = os.getpid()
POWER, HEAT, IDLE = 0x4, 0x20, 0x1


ASKED = {
    "nvmlDeviceGetName": "name", "nvmlDeviceGetClockInfo": "clock",
    "nvmlDeviceGetMaxClockInfo": "max", "nvmlDeviceGetCurrentClocksEventReasons": "reasons",
    "nvmlDeviceGetTotalEnergyConsumption": "energy", "nvmlDeviceGetMemoryInfo": "memory",
    "nvmlDeviceGetComputeRunningProcesses": "pids", "nvmlDeviceGetMigMode": "mig",
}  # fmt: skip


class FakeNvml(ModuleType):
    """Some of its functions; GPUs are what they tell, and their handles are their numbers."""

    def __init__(self, *devices: dict[str, Any]) -> None:
        super().__init__("pynvml")
        self.devices = devices
        self.asked = ASKED
        self.started = 0

    def nvmlInit(self) -> None:
        self.started += 1

    def nvmlDeviceGetCount(self) -> int:
        return len(self.devices)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def __getattr__(self, name: str) -> Any:
        fact = self.asked[name]  # what is not there raises here, or when it is asked

        def ask(handle: int, kind: int = 1) -> Any:
            answer = self.devices[handle][fact] if self.started and kind == 1 else None
            if fact == "pids":
                return [SimpleNamespace(pid=pid, usedGpuMemory=None) for pid in answer]
            return answer() if callable(answer) else answer

        return ask


def full(**changes: Any) -> dict[str, Any]:
    facts = {"name": "NVIDIA H100", "clock": 1208, "max": 1980, "reasons": POWER, "pids": [ME]}
    return facts | changes


@pytest.fixture(autouse=True)
def _not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "_ready", None)
    monkeypatch.setitem(sys.modules, "pynvml", None)  # as if not installed


def install(monkeypatch: pytest.MonkeyPatch, *devices: dict[str, Any]) -> FakeNvml:
    module = FakeNvml(*devices)
    monkeypatch.setitem(sys.modules, "pynvml", module)
    return module


@pytest.mark.parametrize(
    ("mask", "words"),
    [(0x0, ()), (IDLE, ("idle",)), (POWER | HEAT, ("power cap", "heat")),
     (0x8 | 0x40, ("hardware slowdown", "heat, by hardware")),
     (0x2 | 0x10, ("a clock limit was set", "kept in step with other GPUs")),
     (0x80 | 0x100, ("power brake", "display clocks")),
     (0x200 | 0x400, ("board limit", "reliability limit")), (1 << 40, ())],
)  # fmt: skip
def test_a_gpu_tells_its_clocks_and_in_words_why_they_are_no_higher(
    monkeypatch: pytest.MonkeyPatch, mask: int, words: tuple[str, ...]
) -> None:
    install(monkeypatch, full(reasons=mask))
    assert query_gpus() == (Gpu("NVIDIA H100", 1208, 1980, words, ours=True, others=0),)


def test_older_bindings_have_other_names_and_give_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = SimpleNamespace(total=2**30)
    module: Any = install(monkeypatch, full(name=b"H100", memory=memory))
    module.asked = {**ASKED, "nvmlDeviceGetCurrentClocksThrottleReasons": "reasons"}
    del module.asked["nvmlDeviceGetCurrentClocksEventReasons"]
    module.nvmlSystemGetDriverVersion = lambda: b"570.86.10"
    (gpu,) = query_gpus()
    assert (gpu.name, gpu.reasons, gpu.memory) == ("H100", ("power cap",), 2**30)
    assert nvml.query_gpu_driver() == "570.86.10"


def test_other_processes_are_counted_on_each_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, full(pids=[]), full(pids=[1, ME, 2]), full(pids=[1]))
    assert [(gpu.ours, gpu.others) for gpu in query_gpus()] == [(False, 0), (True, 2), (False, 1)]
    install(monkeypatch, full(pids=[ME + 1]))  # in a container: numbers of the host
    monkeypatch.setattr(nvml, "_ready", None)
    assert [(gpu.ours, gpu.others) for gpu in query_gpus()] == [(None, None)]


@pytest.mark.parametrize(("mode", "sliced"), [([1, 1], True), ([0, 1], False), ([0, 0], False)])
def test_a_gpu_that_is_cut_into_slices_says_so(
    monkeypatch: pytest.MonkeyPatch, mode: list[int], sliced: bool
) -> None:
    install(monkeypatch, full(mig=mode))
    (gpu,) = query_gpus()
    assert gpu.sliced is sliced


@pytest.mark.parametrize("missing", ["name", "clock", "max", "reasons", "pids"])
def test_what_is_not_supported_is_not_told(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    install(monkeypatch, {key: fact for key, fact in full().items() if key != missing})
    (gpu,) = query_gpus()
    told = {"name": gpu.name == "NVIDIA H100", "clock": gpu.clock is not None,
            "max": gpu.max_clock is not None, "reasons": bool(gpu.reasons),
            "pids": gpu.others is not None}  # fmt: skip
    assert [name for name, known in told.items() if not known] == [missing]


def test_a_driver_that_is_not_there_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml.load_gpu_driver()
    assert (query_gpus(), nvml.query_gpu_driver()) == ((), "")  # the binding is not installed
    assert Meter(FakeClock(), gpus=True).read().gpus == ()
    monkeypatch.setattr(nvml, "_ready", None)
    install(monkeypatch, full())
    monkeypatch.delattr(FakeNvml, "nvmlInit")  # as it fails
    nvml.load_gpu_driver()
    assert query_gpus() == ()


def test_the_meter_asks_only_when_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    module = install(monkeypatch, full())
    assert Meter(FakeClock()).read().gpus == ()
    assert module.started == 0
    meter = Meter(FakeClock(), gpus=True)
    assert module.started == 1  # before anything is timed
    assert [gpu.name for gpu in meter.read().gpus] == ["NVIDIA H100"]
    assert module.started == 1
