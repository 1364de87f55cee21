"""Accelerators, as far as PyTorch's functions tell: which are in use, and what is waited for."""

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.adapters.torch import Torch, accelerators, devices
from ipyjaxbench.adapters.torch.microbenchmarks import TorchProbe
from ipyjaxbench.adapters.torch.precision import matmul_precision
from ipyjaxbench.device.devices import Device
from ipyjaxbench.device.memory_settings import MemoryRequest
from ipyjaxbench.device.protocol import ArrayInspector, DeviceInventory
from ipyjaxbench.frameworks import MutableState
from ipyjaxbench.timing.protocol import Profiler

SECOND, THIRD = torch.device("cuda", 1), torch.device("cuda", 2)


def inventory() -> Any:
    return Torch().capability(DeviceInventory)


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Three, of which the second is the current one, and the third holds memory."""
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda index: (0, 0, 512)[index])
    return monkeypatch


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What is waited for."""
    waited: list[object] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    monkeypatch.setattr(torch.mps, "synchronize", lambda: waited.append("mps"))
    return waited


def on_a_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)


def test_gpus_in_use_are_the_current_one_and_those_that_hold_memory(
    gpus: pytest.MonkeyPatch, waited: list[object]
) -> None:
    assert [*accelerators.used_accelerators()] == [SECOND, THIRD]
    assert Torch().runs_ahead()
    Torch().drain()
    assert waited == [SECOND, THIRD]
    gpus.setattr(torch.cuda, "is_initialized", lambda: False)
    assert [*accelerators.used_accelerators()] == []
    assert (Torch().runs_ahead(), Torch().is_running()) == (False, False)


@pytest.mark.parametrize(
    ("done", "is_running"), [({1, 2}, None), ({1}, True), ({2}, True), (set(), True)]
)
def test_work_on_one_stream_in_use_is_work_that_runs(
    gpus: pytest.MonkeyPatch, done: set[int], is_running: bool | None
) -> None:
    def current_stream(device: torch.device) -> Any:
        return SimpleNamespace(query=lambda: device.index in done)

    gpus.setattr(torch.cuda, "current_stream", current_stream)
    assert Torch().is_running() is is_running


def test_a_macs_gpu_and_xla_have_one_device_each_without_streams(
    monkeypatch: pytest.MonkeyPatch, waited: list[object]
) -> None:
    xla = SimpleNamespace(sync=lambda *, wait: waited.append(("xla", wait)))
    on_a_mac(monkeypatch)
    monkeypatch.setitem(sys.modules, "torch_xla", xla)
    assert [*accelerators.used_accelerators()] == [torch.device("mps", 0), torch.device("xla", 0)]
    Torch().drain()
    assert waited == ["mps", ("xla", True)]
    assert not accelerators.is_busy(torch.device("xla", 0))
    assert Torch().is_running() is None
    ran: list[int] = []
    profile = Torch().capability(Profiler).profile(lambda: ran.append(1))
    assert (profile.reason, ran) == ("PyTorch's profiler does not see mps, xla", [])


def test_values_are_waited_for_on_their_devices_once_each(
    gpus: pytest.MonkeyPatch, waited: list[object]
) -> None:
    on_second = SimpleNamespace(device=SECOND)
    wait = Torch().waiter(None, [on_second, torch.ones(1), on_second])
    assert wait is not None
    wait(None)
    assert waited == [SECOND]
    assert Torch().waiter(None, [torch.ones(1), torch.ones(1, device="meta")]) is None


def test_the_free_memory_is_that_of_the_fullest_gpu_in_use(gpus: pytest.MonkeyPatch) -> None:
    gpus.setattr(torch.cuda, "mem_get_info", lambda device: (100 - device.index, 1000))
    assert Torch().free_memory() == 98
    gpus.setattr(torch.cuda, "is_initialized", lambda: False)
    on_a_mac(gpus)
    gpus.setattr("ipyjaxbench.adapters.torch.framework.host_memory", lambda: 7)
    assert Torch().free_memory() == 7


def test_generators_of_gpus_in_use_are_put_back(gpus: pytest.MonkeyPatch) -> None:
    of_each = tuple(torch.Generator().manual_seed(seed) for seed in range(3))
    gpus.setattr(torch.cuda, "default_generators", of_each)
    before = [generator.get_state() for generator in of_each]
    restore = Torch().capability(MutableState).random_state([])
    assert restore is not None
    for generator in of_each:
        torch.rand(1, generator=generator)
    restore()
    same = [torch.equal(g.get_state(), b) for g, b in zip(of_each, before, strict=True)]
    assert same == [False, True, True]


def test_pinned_memory_is_told_where_gpus_are_in_use(gpus: pytest.MonkeyPatch) -> None:
    gpus.setattr(torch.Tensor, "is_pinned", lambda self: self.numel() == 2)
    locate = Torch().capability(ArrayInspector).locate
    assert locate("t", torch.ones(2)).memory == "pinned host"
    assert locate("t", torch.ones(3)).memory == ""
    gpus.setattr(torch.cuda, "is_initialized", lambda: False)
    assert locate("t", torch.ones(2)).memory == ""


# The inventory


def test_accelerators_of_all_kinds_are_listed_with_their_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stats(name: str) -> dict[str, int]:
        if name == "xpu:1":
            raise RuntimeError("lost")
        return {"allocated_bytes.all.current": 3, "allocated_bytes.all.peak": 5}

    on_a_mac(monkeypatch)
    monkeypatch.setattr(torch.xpu, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.xpu, "device_count", lambda: 2)
    monkeypatch.setattr(torch.xpu, "memory_stats", stats)
    properties = SimpleNamespace(name="Arc", total_memory=16)
    monkeypatch.setattr(torch.xpu, "get_device_properties", lambda _: properties)
    found = inventory().devices()
    assert found.devices == (
        Device("cpu"),
        Device("xpu:0", "Arc", used=3, peak=5, limit=16),
        Device("xpu:1"),
        Device("mps:0"),
    )
    assert found.words == ()


def test_what_can_look_for_devices_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "init", lambda: started.append("cuda"))
    monkeypatch.setattr(torch.xpu, "init", lambda: started.append("xpu"))
    assert inventory().start() is True
    assert started == ["cuda"]


@pytest.mark.parametrize(
    ("cuda", "driver", "words"),
    [("12.4", 13010, "built for CUDA 12.4; the driver supports up to 13.1"),
     ("12.4", 0, "built for CUDA 12.4"), (None, 0, "built for ROCm 6.4")],
)  # fmt: skip
def test_the_version_of_the_driver_is_told_where_there_is_one(
    cuda: str | None, driver: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.version, "hip", "6.4")
    monkeypatch.setattr(torch._C, "_cuda_getDriverVersion", lambda: driver, raising=False)
    note = devices._version()
    assert (note.code, note.text) == ("gpu-driver", words)


@pytest.mark.parametrize(
    ("held", "codes", "freed"),
    [
        ({}, [], ""),
        ({"reserved_bytes": 0, "allocated_bytes": 5}, [], ""),
        ({"reserved_bytes": 1000, "inactive_split_bytes": 99}, ["memory-reserved"], "901 B"),
        ({"reserved_bytes": 1000, "inactive_split_bytes": 101, "allocated_bytes": 990},
         ["memory-reserved", "memory-fragmented"], "0 B"),
    ],
)  # fmt: skip
def test_pieces_are_told_from_a_tenth_of_what_is_reserved_on(
    held: dict[str, int], codes: list[str], freed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stats = {f"{name}.all.current": nbytes for name, nbytes in held.items()}
    monkeypatch.delenv("PYTORCH_CUDA_ALLOC_CONF", raising=False)
    found = [*devices._allocator("cuda:0", stats)]
    assert [note.code for note in found] == codes
    assert not codes or found[0].text.endswith(f"frees up to {freed}")
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    assert [note.code for note in devices._allocator("cuda:0", stats)] == codes[:1]


def set_memory(**request: Any) -> list[Any]:
    return [*inventory().set_memory(MemoryRequest(**request))]


@pytest.mark.parametrize("ask", [None, lambda _: 0.9])
def test_a_share_of_each_gpu_is_set_at_any_time(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that does not tell the share of before had all."""
    assert set_memory() == []
    (setting,) = set_memory(fraction=0.5)
    assert (setting.words, setting.undo) == ("sees no GPU; nothing changed", "")
    calls: list[tuple[float, int]] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_per_process_memory_fraction", ask, raising=False)
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", lambda *a: calls.append(a))
    first, second = set_memory(fraction=0.25)
    assert calls == [(0.25, 0), (0.25, 1)]
    assert first.words == "limited to 25% of cuda:0 from now on; keeps what it already has"
    before = 0.9 if ask else 1.0
    assert second.undo == f"torch.cuda.set_per_process_memory_fraction({before}, 1)"


def test_threads_and_precision_are_set_for_a_while() -> None:
    threads, matmul = torch.get_num_threads(), torch.backends.mkldnn.matmul
    assert inventory().threads() == threads
    torch.set_float32_matmul_precision("medium")
    try:
        with inventory().align_settings(threads + 1):
            assert (torch.get_num_threads(), matmul_precision()) == (threads + 1, "highest")
        assert (torch.get_num_threads(), matmul_precision()) == (threads, "medium")
        torch.set_float32_matmul_precision("highest")
        matmul.fp32_precision = "bf16"  # of a backend alone
        with inventory().align_settings(threads):
            assert (matmul.fp32_precision, matmul_precision()) == ("ieee", "highest")
        assert (matmul.fp32_precision, matmul_precision()) == ("bf16", "mixed")
        assert inventory().probe("cpu").settings == "float32 matmul precision: mixed"
    finally:
        torch.set_float32_matmul_precision("highest")  # of all backends
    assert inventory().probe("cpu").settings == ""


# The work that measures peaks


def test_work_of_a_probe_is_waited_for_where_python_may_run_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[torch.device] = []
    monkeypatch.setattr(accelerators, "synchronize", waited.append)
    assert float(inventory().probe("cpu").smallest_operation()()) == -1
    assert [moved for _, moved in inventory().probe("cpu").streams(4096)] == [2 * 4096, 4096]
    assert waited == []
    result = inventory().probe("meta").smallest_operation()()
    assert result.device.type == "meta"
    assert waited == [torch.device("meta")]
    seen, number = [], torch.ones(())
    probe = TorchProbe(torch.device("cpu"), lambda: seen.append(float(number)))
    make: Callable[[Any], Any] = probe._add_wait
    assert make(number.neg_)() is number
    assert seen == [-1]  # after its work


def test_numbers_of_8_bits_are_multiplied_by_the_operation_of_each_device() -> None:
    assert inventory().probe("cpu").product("int8", 8)().dtype == torch.int8
    on_accelerator = TorchProbe(torch.device("meta"), lambda: None)
    assert not on_accelerator.on_host
    assert on_accelerator.product("int8", 32)().dtype == torch.int32
    assert on_accelerator.product("float16", 32)().dtype == torch.float16
