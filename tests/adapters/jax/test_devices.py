"""What is told of JAX's devices, with stand-ins for those that this machine lacks."""

import os
from types import SimpleNamespace
from typing import Any

import jax
import pytest

from ipyjaxbench.adapters.jax import devices, gpu_memory
from ipyjaxbench.device.devices import Device
from ipyjaxbench.device.memory_settings import MemoryRequest, MemorySetting, too_late
from ipyjaxbench.device.protocol import DeviceInventory
from ipyjaxbench.host.nvml import Gpu
from ipyjaxbench.reports.note import Note
from tests.loads import named


def inventory() -> Any:
    return named("jax").capability(DeviceInventory)


def gpu(**more: Any) -> Any:
    facts = {
        "platform": "gpu", "id": 1, "local_hardware_id": 1, "process_index": 2,
        "device_kind": "NVIDIA H100", "compute_capability": "9.0", "coords": None,
        "memory_stats": lambda: {"bytes_in_use": 10, "peak_bytes_in_use": 20, "bytes_limit": 30},
    }  # fmt: skip
    return SimpleNamespace(**(facts | more))


GPUS = (Gpu("a", others=0), Gpu("b", others=3))


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        *("CUDA_VISIBLE_DEVICES", "XLA_PYTHON_CLIENT_PREALLOCATE", "XLA_CLIENT_MEM_FRACTION"),
        *("XLA_PYTHON_CLIENT_MEM_FRACTION", "JAX_PLATFORMS", "JAX_PLATFORM_NAME"),
        "XLA_PYTHON_CLIENT_ALLOCATOR",
    ):
        monkeypatch.delenv(name, raising=False)


TPU = {"platform": "tpu", "device_kind": "TPU v4", "compute_capability": "", "coords": [0, 1, 2],
       "memory_stats": lambda: None}  # fmt: skip
CPU = {"platform": "cpu", "device_kind": "cpu", "compute_capability": "", "memory_stats": dict}


def test_a_device_is_told_as_far_as_it_tells() -> None:
    kind = "NVIDIA H100, compute capability 9.0"
    for facts, device in (
        ({}, Device("gpu:1", kind, process=2, used=10, peak=20, limit=30, users=3)),
        (TPU, Device("tpu:1", "TPU v4", process=2, coordinates=(0, 1, 2))),
        (CPU, Device("cpu:1", process=2)),
    ):
        assert devices._device(gpu(**facts), GPUS) == (device, [])


def test_a_gpu_has_the_number_of_this_process_and_work_is_made_for_it_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of_job = gpu(id=9, local_hardware_id=1)
    with monkeypatch.context() as patch:
        patch.setattr(devices, "local_devices", lambda: [of_job])
        assert inventory().chip("gpu:9") == "gpu:1"
    assert inventory().chip("tpu:3") == "tpu:3"
    assert inventory().chip("cpu:3") == "cpu"
    assert inventory().probe("cpu:0") is not None
    assert inventory().probe("cpu:99") is None


def test_who_else_uses_a_gpu_is_told_where_its_number_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for more, users in (
        ({}, 3), ({"local_hardware_id": 0}, 0), ({"local_hardware_id": 2}, None),
        ({"local_hardware_id": None}, None), ({"platform": "tpu"}, None), ({"platform": "rocm"}, 3),
    ):  # fmt: skip
        assert devices._users(gpu(**more), GPUS) == users
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")  # they are numbered anew
    assert devices._users(gpu(), GPUS) is None


def pool(**changed: int) -> Any:
    """A device whose pool was never used for more than a tenth."""
    stats = {"pool_bytes": 100, "bytes_limit": 100, "peak_bytes_in_use": 10}
    return gpu(memory_stats=lambda: stats | changed)


def lost(*_: Any) -> Any:
    raise RuntimeError("INTERNAL: the device is lost")


@pytest.mark.parametrize(("variables", "device", "told"), [
    ({}, gpu(), "JAX preallocated 75% of each GPU"),
    ({"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.5"}, gpu(), "JAX preallocated 50% of each GPU"),
    ({"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.5", "XLA_CLIENT_MEM_FRACTION": ".3"}, pool(),
     "JAX preallocated 30% of each GPU"),
    ({"XLA_CLIENT_MEM_FRACTION": "half"}, pool(), "JAX preallocated most of each GPU"),
    ({"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}, gpu(), "JAX allocates GPU memory on demand and k"),
    ({"XLA_PYTHON_CLIENT_PREALLOCATE": "0"}, gpu(memory_stats=lost), "JAX allocates GPU memory on"),
    # Variables that were set or deleted since JAX has started.
    ({"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}, pool(), "JAX preallocated 75% of each GPU"),
    ({}, pool(pool_bytes=90), "JAX allocates GPU memory on demand and keeps it"),
    # It has grown to the limit.
    ({"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}, pool(peak_bytes_in_use=70), "JAX allocates GPU"),
    ({"XLA_PYTHON_CLIENT_ALLOCATOR": "Platform"}, gpu(memory_stats=lambda: None),
     "JAX allocates GPU memory on demand and gives it back at once"),
    ({"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async"}, gpu(), "JAX preallocated 75% of each GPU"),
    ({"XLA_PYTHON_CLIENT_ALLOCATOR": "vmm"}, gpu(), None),
])  # fmt: skip
def test_how_much_of_a_gpu_jax_took_is_told(
    variables: dict[str, str], device: Any, told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_memory, "query_gpu_driver", lambda: "570.1")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    driver, *memory = gpu_memory.memory_notes([device])
    assert driver == Note("gpu-driver", "NVIDIA driver 570.1")
    assert [note.text.startswith(told or "") for note in memory] == [True] * (told is not None)
    monkeypatch.setattr(gpu_memory, "query_gpu_driver", str)
    assert [*gpu_memory.memory_notes([device])] == memory


def test_gpus_are_known_by_backends_that_were_started_and_threads_by_a_flag(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for platforms, has_gpus in (("cpu",), False), (("cpu", "cuda"), True), (("rocm",), True):
        with monkeypatch.context() as patch:
            patch.setattr(devices.xla_bridge, "backends", lambda of=platforms: dict.fromkeys(of))
            assert devices.has_gpus() is has_gpus
    monkeypatch.setattr(devices, "usable_cpus", lambda: 7)
    for flag, threads in ("", 7), ("=true", 7), ("=false", 1):
        monkeypatch.setenv("XLA_FLAGS", f"--xla_cpu_multi_thread_eigen{flag}")
        assert inventory().threads() == threads


def test_before_jax_has_started_nothing_is_asked_and_memory_can_be_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert len(jax.devices()) == devices.count_devices()
    assert devices.count_missing([*jax.devices(), object()]) == 1
    with monkeypatch.context() as patch:
        patch.setattr(devices.xla_bridge, "backends_are_initialized", lambda: False)
        assert devices.count_devices() == 0
        assert devices.count_missing([object()]) == 0
        assert inventory().devices().devices == ()
    request = MemoryRequest(prealloc=False)
    started = "initialized without a GPU; nothing to change"
    assert [*inventory().set_memory(request)] == [MemorySetting("jax", started)]
    monkeypatch.setattr(devices, "has_gpus", lambda: True)
    assert [*inventory().set_memory(request)] == [too_late("jax", request)]
    monkeypatch.setattr(devices, "has_started", lambda: False)
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "true")  # is put back
    (setting,) = inventory().set_memory(request)
    assert setting != too_late("jax", request)
    assert os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"


def test_why_a_device_is_the_default_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with jax.default_device("cpu"):
        name, why = devices._default()
    assert name == "cpu"
    assert why in ("with jax.default_device", "jax_default_device")
    before = jax.config.jax_platforms
    jax.config.update("jax_platforms", None)
    try:
        assert devices._default() == ("cpu:0", "")
        jax.config.update("jax_platforms", "cpu")
        assert devices._default() == ("cpu:0", "jax_platforms='cpu'")
    finally:
        jax.config.update("jax_platforms", before)
    for variable in ("JAX_PLATFORM_NAME", "JAX_PLATFORMS"):
        monkeypatch.setenv(variable, "cpu")
        assert devices._default() == ("cpu:0", f"{variable}=cpu")


def test_precision_is_aligned_for_a_while() -> None:
    with inventory().align_settings(1):
        assert jax.config.jax_default_matmul_precision == "highest"
    assert jax.config.jax_default_matmul_precision is None
