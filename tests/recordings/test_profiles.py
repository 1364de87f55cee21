"""Files of an H100's profilers and what its allocators said; each figure was added up by hand."""

import gzip
import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from ipyjaxbench.adapters.jax import devices as jax_devices, profiler as jax_profiler
from ipyjaxbench.adapters.shared.clock_marks import ClockMarks
from ipyjaxbench.adapters.torch import devices as torch_devices
from ipyjaxbench.adapters.torch.profiler import operations, replays_graphs
from ipyjaxbench.timing import Interval
from ipyjaxbench.timing.device_time import ProfiledPass, profiled_pass
from ipyjaxbench.usercode import describe_error

H100 = Path(__file__).parent / "h100"
GEMM = "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x256x32"
_KINDS = {"kernel": "CUDA", "gpu_memcpy": "CUDA", "gpu_memset": "CUDA", "cpu_op": "CPU",
          "cuda_runtime": "CPU"}  # fmt: skip


def unpacked(name: str) -> bytes:
    return gzip.decompress((H100 / f"{name}.gz").read_bytes())


def jax_pass(run: str, folder: Path) -> tuple[ProfiledPass, tuple[Interval, ...]]:
    """What the file of `jax.profiler` holds, as it is read after a profiled pass."""
    (folder / "vm.xplane.pb").write_bytes(unpacked(f"jax_{run}.xplane.pb"))
    found = jax_profiler._read(folder, ClockMarks(lambda _: nullcontext()), sources=False)
    return profiled_pass("jax", 1, 1.0, [found.intervals]), found.intervals


def torch_pass(run: str) -> ProfiledPass:
    """What `torch.profiler` exported, as the events that it was made of."""
    events = [
        SimpleNamespace(
            id=0,
            name=each["name"],
            is_user_annotation=False,
            thread=each["tid"],
            device_type=SimpleNamespace(name=_KINDS[each["cat"]]),
            device_index=each["args"].get("device", 0),
            device_resource_id=each["args"].get("stream", 0),
            time_range=SimpleNamespace(start=each["ts"], end=each["ts"] + each["dur"]),
        )
        for each in json.loads(unpacked(f"torch_{run}.trace.json"))["traceEvents"]
        if each.get("cat") in _KINDS
    ]
    intervals = operations(events, {})
    return profiled_pass("torch", 1, 1.0, [intervals], replayed=replays_graphs(events))


@pytest.mark.parametrize(
    ("run", "launches", "busy", "streams"),
    [
        ("matmul", 10, 266.919, 1),  # 5 calls: a product and a tanh that begins before it ends
        ("queued", 8, 213.063, 1),  # 4 calls, each of the one before
        ("scan", 189, 1908.614, 1),  # 3 calls of 10 turns
        ("copies", 12, 2148.977, 4),  # 3 times to the device and back
    ],
)
def test_busy_time_and_launches_of_jax(
    run: str, launches: int, busy: float, streams: int, tmp_path: Path
) -> None:
    found, intervals = jax_pass(run, tmp_path)
    assert found.devices.keys() == {"gpu:0"}
    assert found.launches == launches
    assert found.busy * 1e6 == pytest.approx(busy, abs=0.02)
    assert len({each.line for each in intervals}) == streams


def test_a_kernel_that_begins_before_another_ends_takes_its_time_once(tmp_path: Path) -> None:
    found, _ = jax_pass("matmul", tmp_path)
    product, tanh = found.operations
    assert product.name.startswith(GEMM)
    assert (product.count, product.seconds * 1e6) == (5, pytest.approx(213.029, abs=0.02))
    assert (tanh.name, tanh.count) == ("wrapped_tanh", 5)
    assert tanh.seconds * 1e6 == pytest.approx(53.890, abs=0.02)
    assert found.worked == pytest.approx(found.busy)


def test_copies_to_the_gpu_and_back_are_told_apart(tmp_path: Path) -> None:
    found, _ = jax_pass("copies", tmp_path)
    copies = {each.name: each for each in found.operations if each.name.startswith("Memcpy")}
    assert {name: each.count for name, each in copies.items()} == {"MemcpyH2D": 3, "MemcpyD2H": 3}
    assert copies["MemcpyH2D"].seconds * 1e6 == pytest.approx(1060.728, abs=0.02)
    assert copies["MemcpyD2H"].seconds * 1e6 == pytest.approx(928.373, abs=0.02)


def test_each_turn_of_a_scan_is_counted(tmp_path: Path) -> None:
    found, _ = jax_pass("scan", tmp_path)
    counts = {each.name: each.count for each in found.operations}
    assert next(n for name, n in counts.items() if name.startswith(GEMM)) == 30
    assert (counts["wrapped_tanh"], counts["loop_add_fusion"], counts["MemcpyD2D"]) == (30, 30, 6)


@pytest.mark.parametrize(
    ("run", "launches", "busy", "aside", "replayed"),
    [
        ("eager", 12, 1072.222, 0, False),  # 3 times a product, relu, memset and sum
        ("compiled", 3, 358.473, 0, False),
        ("graph", 2, 354.505, 0, True),
        ("copies", 2, 10775.860, 0, False),
        ("side", 2, 343.911, 310.406, False),  # an addition runs beside a product
    ],
)
def test_busy_time_of_torch(
    run: str, launches: int, busy: float, aside: float, replayed: bool
) -> None:
    found = torch_pass(run)
    assert found.devices.keys() == {"cuda:0"}
    assert (found.launches, found.replayed) == (launches, replayed)
    assert found.busy * 1e6 == pytest.approx(busy, abs=0.02)
    assert found.aside * 1e6 == pytest.approx(aside, abs=0.02)


def test_kernels_that_a_compiler_wrote_have_its_names() -> None:
    product, *fused = torch_pass("compiled").operations
    assert "gemm" in product.name
    assert [each.name.split("_")[0] for each in fused] == ["triton", "triton"]


def test_what_jax_holds_of_a_gpu() -> None:
    stats = json.loads(unpacked("memory.json"))["jax"]
    gpu = SimpleNamespace(platform="gpu", id=0, device_kind="NVIDIA H100 80GB HBM3",
                          compute_capability="9.0", process_index=0, local_hardware_id=0,
                          memory_stats=lambda: stats)  # fmt: skip
    found, notes = jax_devices._device(gpu, [])
    assert not notes
    assert found.kind == "NVIDIA H100 80GB HBM3, compute capability 9.0"
    assert (found.used, found.peak, found.limit) == (16_777_216, 184_549_632, 17_003_708_416)


def test_what_torch_holds_of_a_gpu_and_would_give_back(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = json.loads(unpacked("memory.json"))
    known = SimpleNamespace(name="NVIDIA H100 80GB HBM3", major=9, minor=0,
                            total_memory=recorded["mem_get_info"][1])  # fmt: skip
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: known)
    monkeypatch.setattr(torch.cuda, "memory_stats", lambda _: recorded["torch"])
    monkeypatch.setattr(torch.cuda, "get_allocator_backend", lambda: "native")
    found, notes = torch_devices._cuda(0, [])
    assert (found.used, found.peak, found.limit) == (167_773_184, 201_327_616, 85_017_493_504)
    (note,) = notes  # 2 MiB in pieces of 210 are no fragmentation
    assert note.text == (
        "cuda:0: PyTorch's allocator reserved 210 MiB, tensors use 160 MiB; "
        "torch.cuda.empty_cache() frees up to 48.0 MiB"
    )


@pytest.mark.parametrize(
    ("framework", "words"),
    [
        ("jax", "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 3.64TiB"),
        ("torch", "CUDA out of memory. Tried to allocate 3725.29 GiB."),
    ],
)
def test_a_lack_of_memory_is_one_line(framework: str, words: str) -> None:
    name, _, message = json.loads(unpacked("out_of_memory.json"))[framework].partition(": ")
    told = describe_error(type(name, (RuntimeError,), {})(message))
    assert told.removeprefix(f"{__name__}.").startswith(f"{name}: {words}")
    assert len(told) <= 140
    assert "\n" not in told
