"""Accelerators, as far as PyTorch's functions tell: which are in use, and what is waited for."""

import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.adapters.torch import Torch, accelerators
from ipyjaxbench.device.protocol import ArrayInspector, MemoryMeter
from ipyjaxbench.frameworks import MutableState
from ipyjaxbench.timing.protocol import Profiler

FIRST, SECOND, THIRD = (torch.device("cuda", index) for index in range(3))


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Three, of which the second is the current one, and the third holds memory."""
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda index: (0, 0, 512)[index])
    monkeypatch.setattr(torch.cuda, "get_allocator_backend", lambda: "native")
    monkeypatch.setattr(accelerators, "_in_use", set())
    monkeypatch.delenv("PYTORCH_NO_CUDA_MEMORY_CACHING", raising=False)
    return monkeypatch


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What is waited for."""
    waited: list[object] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    monkeypatch.setattr(torch.mps, "synchronize", lambda: waited.append("mps"))
    return waited


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


UNSUPPORTED = "CUDAPluggableAllocator does not yet support getDeviceStats. If you need it, please"


def have_allocator(patch: pytest.MonkeyPatch, name: str) -> None:
    """Memory of CUDA's devices is taken from this allocator, as far as its functions tell."""

    def uncounted(_: object) -> int:
        if name == "pluggable":
            raise RuntimeError(UNSUPPORTED)
        return 0

    if name == "uncached":
        patch.setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")
    else:
        patch.setattr(torch.cuda, "get_allocator_backend", lambda: name)
    for function in ("memory_reserved", "memory_allocated", "memory_stats"):
        patch.setattr(torch.cuda, function, uncounted)


@pytest.mark.parametrize(("allocator", "has_context", "used", "bytes_used"), [
    ("cudaMallocAsync", None, [SECOND], 0),
    ("pluggable", bool, [SECOND, THIRD], None),
    ("uncached", bool, [SECOND, THIRD], None),
    ("uncached", None, [FIRST, SECOND, THIRD], None),
])  # fmt: skip
def test_where_an_allocator_counts_nothing_gpus_with_a_context_are_in_use(
    gpus: pytest.MonkeyPatch, waited: list[object], allocator: str,
    has_context: Callable[[int], bool] | None, used: list[object], bytes_used: int | None,
) -> None:  # fmt: skip
    """A version that does not tell of contexts has all in use, so that no work is missed."""
    have_allocator(gpus, allocator)
    gpus.setattr(accelerators, "_has_context", has_context)
    Torch().drain()
    assert waited == used
    assert accelerators.used_memory(SECOND) == bytes_used
    (peak,) = Torch().capability(MemoryMeter).measure(lambda: pytest.fail("it is not called"))
    assert peak.peak is None
    assert peak.reason == f"PyTorch's profiler does not see this allocator ({allocator})"


def test_work_on_one_stream_in_use_is_work_that_runs(gpus: pytest.MonkeyPatch) -> None:
    done: set[int] = set()
    streams = lambda device: SimpleNamespace(query=lambda: device.index in done)  # noqa: E731
    gpus.setattr(torch.cuda, "current_stream", streams)
    assert Torch().is_running() is True
    done.add(2)
    assert Torch().is_running() is True
    done.add(1)
    assert Torch().is_running() is None


def test_a_macs_gpu_and_xla_have_one_device_each_without_streams(
    monkeypatch: pytest.MonkeyPatch, waited: list[object]
) -> None:
    xla = SimpleNamespace(sync=lambda *, wait: waited.append(("xla", wait)))
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
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
    gpus.setattr("ipyjaxbench.adapters.torch.framework.host_memory", lambda: 7)

    def lost(_: object) -> tuple[int, int]:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    gpus.setattr(torch.cuda, "mem_get_info", lost)
    assert Torch().free_memory() == 7
    gpus.setattr(torch.cuda, "is_initialized", lambda: False)
    gpus.setattr(torch.backends.mps, "is_available", lambda: True)
    assert Torch().free_memory() == 7


@pytest.mark.parametrize("has_driver", [True, False])
def test_gpus_are_waited_for_by_their_driver_where_it_waits_for_all(
    gpus: pytest.MonkeyPatch, waited: list[object], has_driver: bool
) -> None:
    asked: list[int] = []

    def find(number: int) -> object:
        asked.append(number)
        return SimpleNamespace(wait=lambda: waited.append("driver")) if has_driver else None

    gpus.setattr("ipyjaxbench.adapters.shared.gpu_driver.find_driver", find)
    adapter = Torch()
    adapter.prepare()
    adapter.synchronize()
    assert asked == [2]
    assert waited == (["driver"] if has_driver else [SECOND, THIRD])


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
    assert [locate("t", torch.ones(n)).memory for n in (2, 3)] == ["pinned host", ""]
    gpus.setattr(torch.cuda, "is_initialized", lambda: False)
    assert locate("t", torch.ones(2)).memory == ""
