"""PyTorch's devices: what is told of them, set, and done to measure their peaks."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.adapters.torch import Torch, accelerators, devices
from ipyjaxbench.adapters.torch.microbenchmarks import TorchProbe
from ipyjaxbench.adapters.torch.precision import matmul_precision
from ipyjaxbench.device.devices import Device
from ipyjaxbench.device.locate import survey
from ipyjaxbench.device.memory_settings import MemoryRequest
from ipyjaxbench.device.protocol import DeviceInventory
from ipyjaxbench.host import Gpu


def inventory() -> Any:
    return Torch().capability(DeviceInventory)


def home() -> Any:
    return next(each for each in survey({}).homes if each.framework == "torch")


def test_the_default_device_is_told_with_what_made_it() -> None:
    assert (home().default, home().why) == ("cpu", "")
    with torch.device("meta"):
        assert (home().default, home().why) == ("meta", "with torch.device")
    with torch.device("meta"), torch.device("cpu"):
        assert home().default == "cpu"
    torch.set_default_device("cuda")  # asking PyTorch for it would start CUDA
    try:
        assert (home().default, home().why) == ("cuda", "torch.set_default_device")
        assert "default cuda (torch.set_default_device)" in str(survey({}))
    finally:
        torch.set_default_device(None)


STATS = {
    "allocated_bytes.all.current": 2 * 2**30, "allocated_bytes.all.peak": 5 * 2**30,
    "reserved_bytes.all.current": 6 * 2**30, "inactive_split_bytes.all.current": 1 * 2**30,
}  # fmt: skip
VARIABLES = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
QUERY = "ipyjaxbench.adapters.torch.devices.query_gpus"


H100 = SimpleNamespace(name="NVIDIA H100 80GB HBM3", major=9, minor=0, total_memory=80 * 2**30)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine whose one GPU PyTorch has used, as far as its functions tell."""
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: H100)
    monkeypatch.setattr(torch.cuda, "memory_stats", lambda _: STATS)
    monkeypatch.setattr(torch.cuda, "_get_nvml_device_index", lambda index: index)
    monkeypatch.setattr(torch.cuda, "get_allocator_backend", lambda: "native")
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    for name in (*VARIABLES, "PYTORCH_NO_CUDA_MEMORY_CACHING"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(QUERY, lambda: (Gpu("H100", others=2),))
    return monkeypatch


def test_a_gpu_is_told_with_what_the_allocator_holds_of_it(gpu: pytest.MonkeyPatch) -> None:
    device = home().devices[1]
    assert (device.name, device.used, device.limit) == ("cuda:0", 2 * 2**30, 80 * 2**30)
    assert device.kind == "NVIDIA H100 80GB HBM3, compute capability 9.0"
    text = " ".join(str(survey({})).split())
    for words in (
        "2.00 GiB of 80.0 GiB in use, peak use 5.00 GiB, 2 other processes use it",
        "cuda:0: PyTorch's allocator reserved 6.00 GiB, tensors use 2.00 GiB; torch.cuda.empty",
        "torch.cuda.empty_cache() frees up to 3.00 GiB",
        "cuda:0: 1.00 GiB are lost to fragmentation. To reduce it, set",
        "expandable_segments:True in the environment and restart",
    ):  # fmt: skip
        assert words in text
    assert "other processes on the GPUs" not in text


def test_what_does_not_answer_of_a_gpu_is_told_in_one_line(gpu: pytest.MonkeyPatch) -> None:
    def lost(_: int) -> None:
        raise RuntimeError("CUDA error: an illegal access\nmore\nmore")

    gpu.setattr(QUERY, lambda: ())
    assert home().devices[1].users is None
    unknown = "other processes on the GPUs are unknown: NVML (nvidia-ml-py) gives no answer"
    assert unknown in home().texts
    gpu.setattr(torch.cuda, "memory_stats", lost)
    (words,) = (words for words in home().texts if "cuda:0" in words)
    assert words == "cuda:0 does not respond: RuntimeError: CUDA error: an illegal access"
    assert [device.name for device in home().devices] == ["cpu", "cuda:0"]


def test_gpus_that_were_not_used_yet_are_left_alone(gpu: pytest.MonkeyPatch) -> None:
    gpu.setattr(torch.cuda, "is_initialized", lambda: False)
    assert [device.name for device in home().devices] == ["cpu"]
    assert home().texts == (
        "1 GPU, not initialized by PyTorch yet; `devices(start=True)` shows them",
    )
    gpu.setattr(QUERY, lambda: ())
    assert home().texts == ()


def test_accelerators_of_all_kinds_are_listed_with_their_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stats(name: str) -> dict[str, int]:
        if name == "xpu:1":
            raise RuntimeError("lost")
        return {"allocated_bytes.all.current": 3, "allocated_bytes.all.peak": 5}

    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.xpu, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.xpu, "device_count", lambda: 2)
    monkeypatch.setattr(torch.xpu, "memory_stats", stats)
    properties = SimpleNamespace(name="Arc", total_memory=16)
    monkeypatch.setattr(torch.xpu, "get_device_properties", lambda _: properties)
    found = inventory().devices()
    arc = Device("xpu:0", "Arc", used=3, peak=5, limit=16)
    assert found.devices == (Device("cpu"), arc, Device("xpu:1"), Device("mps:0"))
    assert found.words == ()


def test_what_can_look_for_devices_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for each in ("cuda", "xpu"):
        monkeypatch.setattr(getattr(torch, each), "init", partial(started.append, each))
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
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    found = [*devices._allocator("cuda:0", stats)]
    assert [note.code for note in found] == codes
    assert not codes or found[0].text.endswith(f"frees up to {freed}")


CUDA, HIP, BOTH = VARIABLES
EXPANDABLE, SPLIT = "expandable_segments:True", "max_split_size_mb:512"


@pytest.mark.parametrize(("hip", "knows_both", "variables", "advice"), [
    (None, True, {}, f"{CUDA}={EXPANDABLE}"),
    (None, True, {CUDA: EXPANDABLE}, None),
    (None, True, {CUDA: f"{SPLIT}, expandable_segments : True"}, None),
    (None, True, {CUDA: SPLIT}, f"{CUDA}={SPLIT},{EXPANDABLE}"),
    (None, True, {BOTH: EXPANDABLE}, None),
    (None, False, {BOTH: EXPANDABLE}, f"{CUDA}={EXPANDABLE}"),
    (None, True, {BOTH: SPLIT}, f"{BOTH}={SPLIT},{EXPANDABLE}"),
    (None, True, {CUDA: SPLIT, BOTH: EXPANDABLE}, f"{CUDA}={SPLIT},{EXPANDABLE}"),
    (None, True, {HIP: EXPANDABLE}, f"{CUDA}={EXPANDABLE}"),
    ("6.4", True, {HIP: EXPANDABLE}, None),
])  # fmt: skip
def test_what_is_set_of_the_allocator_is_not_advised_and_not_lost(
    monkeypatch: pytest.MonkeyPatch, hip: str | None, knows_both: bool,
    variables: dict[str, str], advice: str | None,
) -> None:  # fmt: skip
    monkeypatch.setattr(torch.version, "hip", hip)
    monkeypatch.setattr(devices, "_KNOWS_NEUTRAL_NAME", knows_both)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    _, *found = devices._allocator("cuda:0", STATS)
    told = [f"set {advice} in the environment and restart" in note.text for note in found]
    assert told == [True] * (advice is not None)


@pytest.mark.parametrize("allocator", ["pluggable", "uncached"])
def test_an_allocator_that_counts_nothing_is_no_lost_gpu(
    gpu: pytest.MonkeyPatch, allocator: str
) -> None:
    """RMM's refuses to tell; without a cache PyTorch tells that nothing is in use."""
    gpu.setattr(accelerators, "allocator", lambda _: allocator)
    gpu.setattr(torch.cuda, "memory_stats", lambda _: pytest.fail("it is not asked"))
    device = home().devices[1]
    assert (device.used, device.peak, device.limit, device.users) == (None, None, 80 * 2**30, 2)
    assert device.kind.startswith("NVIDIA H100")
    assert not any("respond" in text or "reserved" in text for text in home().texts)


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
    assert probe._add_wait(number.neg_)() is number
    assert seen == [-1]  # after its work


def test_numbers_of_8_bits_are_multiplied_by_the_operation_of_each_device() -> None:
    assert inventory().probe("cpu").product("int8", 8)().dtype == torch.int8
    on_accelerator = TorchProbe(torch.device("meta"), lambda: None)
    assert not on_accelerator.on_host
    assert on_accelerator.product("int8", 32)().dtype == torch.int32
    assert on_accelerator.product("float16", 32)().dtype == torch.float16
