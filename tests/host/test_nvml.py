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


class NVMLError(Exception):
    """As in pynvml: raised with a number, and shown as words."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return {3: "Not Supported", 9: "Driver Not Loaded"}[self.value]


class FakeNvml(ModuleType):
    """Some of its functions; GPUs are what they tell, and their handles are their numbers."""

    def __init__(self, *devices: dict[str, Any]) -> None:
        super().__init__("pynvml")
        self.NVMLError = NVMLError
        self.devices = devices
        self.started = 0

    def nvmlInit(self) -> None:
        self.started += 1

    def _answer(self, handle: int, fact: str) -> Any:
        if not self.started:
            raise NVMLError(1)
        if fact not in self.devices[handle]:
            raise NVMLError(3)
        return self.devices[handle][fact]

    def nvmlDeviceGetCount(self) -> int:
        return len(self.devices)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetName(self, handle: int) -> Any:
        return self._answer(handle, "name")

    def nvmlDeviceGetClockInfo(self, handle: int, type: int) -> Any:
        return self._answer(handle, "clock") if type == 1 else None

    def nvmlDeviceGetMaxClockInfo(self, handle: int, type: int) -> Any:
        return self._answer(handle, "max") if type == 1 else None

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: int) -> Any:
        return self._answer(handle, "reasons")

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: int) -> Any:
        return self._answer(handle, "energy")()

    def nvmlDeviceGetComputeRunningProcesses(self, handle: int) -> Any:
        pids = self._answer(handle, "pids")
        return [SimpleNamespace(pid=pid, usedGpuMemory=None) for pid in pids]


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


def test_all_that_a_gpu_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, full())
    assert query_gpus() == (Gpu("NVIDIA H100", 1208, 1980, ("power cap",), ours=True, others=0),)


@pytest.mark.parametrize(
    ("mask", "words"),
    [(0x0, ()), (IDLE, ("idle",)), (POWER | HEAT, ("power cap", "heat")),
     (0x8 | 0x40, ("hardware slowdown", "heat, by hardware")),
     (0x2 | 0x10, ("a clock limit was set", "kept in step with other GPUs")),
     (0x80 | 0x100, ("power brake", "display clocks")),
     (0x200 | 0x400, ("board limit", "reliability limit")), (1 << 40, ())],
)  # fmt: skip
def test_reasons_are_words(
    monkeypatch: pytest.MonkeyPatch, mask: int, words: tuple[str, ...]
) -> None:
    install(monkeypatch, full(reasons=mask))
    assert query_gpus()[0].reasons == words


def test_reasons_have_another_name_in_older_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    module = install(monkeypatch, full())
    old = module.nvmlDeviceGetCurrentClocksEventReasons
    monkeypatch.delattr(FakeNvml, "nvmlDeviceGetCurrentClocksEventReasons")
    module.nvmlDeviceGetCurrentClocksThrottleReasons = old  # type: ignore[attr-defined]
    assert query_gpus()[0].reasons == ("power cap",)


def test_other_processes_are_counted_on_each_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, full(pids=[]), full(pids=[1, ME, 2]), full(pids=[1]))
    assert [(gpu.ours, gpu.others) for gpu in query_gpus()] == [(False, 0), (True, 2), (False, 1)]
    install(monkeypatch, full(pids=[ME + 1]))  # in a container: numbers of the host
    monkeypatch.setattr(nvml, "_ready", None)
    assert [(gpu.ours, gpu.others) for gpu in query_gpus()] == [(None, None)]


@pytest.mark.parametrize("missing", ["name", "clock", "max", "reasons", "pids"])
def test_what_a_gpu_does_not_support_is_not_told(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    facts = full()
    del facts[missing]
    install(monkeypatch, facts)
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
    module = install(monkeypatch, full())

    def refuse() -> None:
        raise NVMLError(9)

    monkeypatch.setattr(module, "nvmlInit", refuse)
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


def test_the_driver_and_the_memory_of_a_gpu_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeNvml({"name": b"H100"})  # bytes in older bindings
    fake.nvmlSystemGetDriverVersion = lambda: b"570.86.10"  # type: ignore[attr-defined]
    fake.nvmlDeviceGetMemoryInfo = lambda _: SimpleNamespace(total=2**30)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    assert nvml.query_gpu_driver() == "570.86.10"
    assert [(gpu.name, gpu.memory) for gpu in query_gpus()] == [("H100", 2**30)]
