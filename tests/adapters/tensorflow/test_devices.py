"""TensorFlow's devices, what it takes of their memory, and the work that measures their peaks."""

from typing import Any

import pytest
import tensorflow as tf
from tensorflow.python.eager import context as tf_context

from ipyjaxbench.adapters.tensorflow import TensorFlow, devices, framework, gpu_memory
from ipyjaxbench.adapters.tensorflow.devices import name_of
from ipyjaxbench.adapters.tensorflow.microbenchmarks import TensorFlowProbe
from ipyjaxbench.device.locate import survey
from ipyjaxbench.device.memory_settings import MemoryRequest
from ipyjaxbench.device.protocol import DeviceInventory
from ipyjaxbench.host import Gpu as NvidiaGpu, usable_cpus


class Device:
    def __init__(self, name: str) -> None:
        self.name, self.device_type = name, name.split(":")[-2]


PART = tf.config.LogicalDeviceConfiguration(memory_limit=1024)


def tell(patch: pytest.MonkeyPatch, **answers: Any) -> None:
    """Have functions of TensorFlow answer."""
    for name, answer in answers.items():
        owner = tf.config if hasattr(tf.config, name) else tf.config.experimental
        patch.setattr(owner, name, answer if callable(answer) else lambda *_, a=answer: a)


def have(patch: pytest.MonkeyPatch, *kinds: str) -> None:
    """There are these devices, each whole."""
    logical, physical = ([Device(f"/{each}device:{kind}") for kind in kinds]
                         for each in ("", "physical_"))  # fmt: skip
    tell(patch, list_logical_devices=logical, get_visible_devices=physical)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine with one GPU."""
    tf.ones(1)
    monkeypatch.delenv("TF_FORCE_GPU_ALLOW_GROWTH", raising=False)
    have(monkeypatch, "GPU:0")
    details = {"device_name": "NVIDIA H100", "compute_capability": (9, 0)}
    tell(monkeypatch, get_logical_device_configuration=None, get_memory_growth=None,
         get_memory_info={"current": 2**30, "peak": 2**31}, get_device_details=details)  # fmt: skip
    return monkeypatch


def home(*, started: bool = True) -> Any:
    framework = TensorFlow()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(framework, "started", lambda: started)
        return framework.capability(DeviceInventory).devices()


def test_a_gpu_is_told_with_what_was_taken_of_it(gpu: pytest.MonkeyPatch) -> None:
    (device,) = home().devices
    assert (device.name, device.used, device.peak) == ("gpu:0", 2**30, 2**31)
    assert device.kind == "NVIDIA H100, compute capability 9.0"
    (words,) = home().texts
    assert words.startswith("TensorFlow preallocated most of each GPU's memory at startup.")
    assert words.endswith("ALLOW_GROWTH=true in the environment before the first use")
    assert (home().default, home().why) == ("gpu:0", "")
    tell(gpu, get_memory_growth=True)
    grows = ("TensorFlow allocates GPU memory on demand and keeps it",)
    assert home().texts == grows
    tell(gpu, get_memory_growth=None)
    gpu.setenv("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    assert home().texts == grows
    gpu.delenv("TF_FORCE_GPU_ALLOW_GROWTH")
    tell(gpu, get_logical_device_configuration=[PART])
    assert (home().texts, home().devices[0].limit) == ((), 2**30)


def test_a_gpu_has_the_number_of_this_process_also_where_not_all_are_visible(
    gpu: pytest.MonkeyPatch,
) -> None:
    inventory = TensorFlow().capability(DeviceInventory)
    whole = [Device(f"/physical_device:GPU:{number}") for number in range(3)]
    have(gpu, "GPU:0", "GPU:1")
    tell(gpu, list_physical_devices=whole, get_visible_devices=whole[1:])
    assert [inventory.chip(name) for name in ("gpu:1", "cpu:1")] == ["gpu:2", "cpu"]
    tell(gpu, list_logical_devices=[Device(f"/device:GPU:{number}") for number in range(4)])
    assert inventory.chip("gpu:3") == "gpu:3"  # two of each


def test_each_of_several_gpus_is_told_by_its_number(gpu: pytest.MonkeyPatch) -> None:
    have(gpu, "GPU:0", "GPU:1")
    tell(gpu, get_device_details=lambda each: {"device_name": each.name[-1:]})
    assert [(each.name, each.kind) for each in home().devices] == [("gpu:0", "0"), ("gpu:1", "1")]
    # Once they are cut, a number says no more which of them a device is a part of.
    tell(gpu, get_logical_device_configuration=[PART])
    assert [(each.kind, each.limit) for each in home().devices] == [("", 2**30)] * 2


@pytest.mark.parametrize("set_growth", [True, None])
@pytest.mark.parametrize(("value", "grows"), [
    ("true", True), ("false", False), ("True", None), ("1", None), ("", None),
])  # fmt: skip
def test_the_environment_decides_where_tensorflow_reads_it(
    gpu: pytest.MonkeyPatch, value: str, grows: bool | None, set_growth: bool | None
) -> None:
    """It compares with two words, and keeps what was set where it finds another one."""
    tell(gpu, get_memory_growth=set_growth)
    gpu.setattr(devices, "query_gpus", lambda: (NvidiaGpu("H100"),))
    gpu.setattr(tf.test, "is_built_with_cuda", lambda: True)
    gpu.setattr(tf_context.context(), "_memory_growth_map", {"GPU:0": set_growth})
    gpu.setenv("TF_FORCE_GPU_ALLOW_GROWTH", value)
    found = bool(set_growth) if grows is None else grows
    (words,) = home().texts
    assert words.startswith("TensorFlow allocates" if found else "TensorFlow preallocated most")
    assert bool(home(started=False).texts) is not found
    tell(gpu, set_memory_growth=lambda *_, **__: None)
    (setting,) = set_memory(prealloc=False)
    in_vain = "TF_FORCE_GPU_ALLOW_GROWTH=false overrides"
    assert setting.words.startswith(in_vain) is (value == "false")


@pytest.mark.parametrize(("kind", "is_told"), [("GPU", True), ("NPU", False)])
def test_a_lost_gpu_is_told(gpu: pytest.MonkeyPatch, kind: str, is_told: bool) -> None:
    """A device of others need not know of memory."""

    def lost(_: str) -> None:
        raise ValueError("Failed parsing device name\nmore")

    have(gpu, f"{kind}:0")
    tell(gpu, get_memory_info=lost)
    texts = ("gpu:0 does not respond: ValueError: Failed parsing device name",) if is_told else ()
    assert (home().devices[0].name, home().texts[:1]) == (f"{kind.lower()}:0", texts)


@pytest.mark.parametrize(("name", "expected"), [
    ("", "cpu:0"), ("/device:GPU:1", "gpu:1"), ("/device:GPU", "gpu:0"),
    ("/job:localhost/replica:0/task:0/device:CPU:1", "cpu:1"),
])  # fmt: skip
def test_a_device_has_the_last_parts_of_its_name(name: str, expected: str) -> None:
    assert name_of(name) == expected


@pytest.mark.parametrize(("chosen", "threads"), [(0, usable_cpus()), (3, 3)])
def test_all_cpus_compute_unless_fewer_were_set(
    monkeypatch: pytest.MonkeyPatch, chosen: int, threads: int
) -> None:
    monkeypatch.setattr(tf.config.threading, "get_intra_op_parallelism_threads", lambda: chosen)
    assert TensorFlow().capability(DeviceInventory).threads() == threads


def test_precision_is_set_for_a_while_and_a_gpu_that_does_not_round_has_peaks_of_its_own() -> None:
    enabled = tf.config.experimental.tensor_float_32_execution_enabled
    assert TensorFlowProbe("gpu:0", None).settings == ""
    with TensorFlow().capability(DeviceInventory).align_settings(1):
        assert not enabled()
        settings = [TensorFlowProbe(name, None).settings for name in ("cpu:0", "gpu:0")]
        assert settings == ["", "TensorFloat-32 off"]
    assert enabled()


def test_before_it_starts_the_choice_is_still_there(gpu: pytest.MonkeyPatch) -> None:
    gpu.setattr(devices, "query_gpus", lambda: (NvidiaGpu("H100"),))
    gpu.setattr(tf.test, "is_built_with_cuda", lambda: True)
    (words,) = home(started=False).texts
    assert words.startswith(
        "TensorFlow will preallocate most of the memory of 1 GPU at its first use."
    )
    assert words.endswith("set TF_FORCE_GPU_ALLOW_GROWTH=true in the environment now")
    for grows in (True, False):
        gpu.setattr(tf_context.context(), "_memory_growth_map", {"GPU:0": grows})
        assert len(home(started=False).texts) == (not grows)
    gpu.setattr(tf.test, "is_built_with_cuda", lambda: False)
    assert home(started=False).texts == ()
    gpu.setattr(tf.test, "is_built_with_cuda", lambda: True)
    gpu.setenv("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    assert home(started=False).texts == ()


def set_memory(
    *, started: bool = False, prealloc: bool = True, fraction: float | None = None
) -> list[Any]:
    return [*gpu_memory.set_memory(MemoryRequest(prealloc, fraction), started=started)]


def test_growth_and_limits_are_set_before_it_starts(gpu: pytest.MonkeyPatch) -> None:
    growth: list[bool] = []
    limits: list[float] = []
    tell(gpu, set_memory_growth=lambda _, enable: growth.append(enable))
    tell(gpu, set_logical_device_configuration=lambda _, cuts: limits.append(cuts[0].memory_limit))
    gpu.setattr(gpu_memory, "query_gpus", lambda: (NvidiaGpu("H100", memory=80 * 2**30),))
    (grows,), (limited, ignored) = (set_memory(prealloc=False, fraction=f) for f in (None, 0.5))
    assert grows.words == "allocates memory of GPU:0 on demand"
    assert limited.words == "limited to 40.0 GiB of GPU:0"
    first = "tf.config.list_physical_devices('GPU')[0]"
    set_growth = "tf.config.experimental.set_memory_growth"
    assert grows.undo == f"{set_growth}({first}, False)  # before first use"
    assert limited.undo.startswith(f"tf.config.set_logical_device_configuration({first}, [")
    assert ignored.words == (
        "a fixed share is preallocated: --no-prealloc has no effect with --mem-fraction"
    )
    several = NvidiaGpu("H100", memory=80 * 2**30), NvidiaGpu("A100", memory=40 * 2**30)
    in_slices = (NvidiaGpu("H100", memory=80 * 2**30, sliced=True),)  # of which one has a part
    for unknown in (several, (), in_slices):
        gpu.setattr(gpu_memory, "query_gpus", lambda unknown=unknown: unknown)
        (found,) = set_memory(fraction=0.5)
        assert found.words.startswith("memory size of GPU:0 unknown.")
    (late,) = set_memory(started=True, prealloc=False)
    assert late.words.startswith("too late")
    tell(gpu, get_logical_device_configuration=[PART])  # they were cut before
    (cut,), (split,) = set_memory(fraction=0.5), set_memory(prealloc=False)
    assert cut.words == "GPU:0 is already split into logical devices; unchanged"
    assert split.words.endswith("into logical devices, which cannot allocate on demand")
    assert (split.undo, growth, limits) == ("", [True], [40 * 2**10])


def test_without_a_gpu_nothing_is_set_or_said_of_its_memory() -> None:
    (found,) = set_memory(prealloc=False)
    assert found.words == "sees no GPU; nothing changed"
    tf.ones(1)
    (found,) = (each for each in survey({}).homes if each.framework == "tensorflow")
    assert (found.words, found.default) == ((), "cpu:0")


def test_devices_that_run_ahead_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[int] = []
    monkeypatch.setattr(tf.test.experimental, "sync_devices", lambda: waited.append(1))
    adapter = TensorFlow()
    probe = adapter.capability(DeviceInventory).probe
    adapter.drain()
    probe("cpu:0").smallest_operation()()
    assert waited == []
    for module in (devices, framework):
        monkeypatch.setattr(module, "may_run_ahead", lambda: True)
    assert float(probe("cpu:0").smallest_operation()()) == -1
    adapter.drain()
    wait = adapter.waiter(None, [])
    assert wait is not None
    wait(None)
    assert waited == [1, 1, 1]
    assert (adapter.runs_ahead(), adapter.is_running()) == (True, None)
    with tf.Graph().as_default():
        assert not adapter.runs_ahead()
        assert probe("cpu:0") is None
    monkeypatch.setattr(framework, "host_memory", lambda: 7)
    assert adapter.free_memory() == 7


def test_a_probe_adds_in_place_and_sums_numbers_of_8_bits_up_in_32() -> None:
    probe = TensorFlowProbe("cpu:0", None)
    (_, moved), (_, read) = probe.streams(4096)
    assert (moved, read) == (3 * 4096, 4096)
    assert probe.product("int8", 8)().dtype == tf.int32  # type: ignore[attr-defined]
