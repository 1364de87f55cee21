"""Where TensorFlow's tensors and variables live, on two virtual devices in a process of its own."""

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context as tf_context

from ipyjaxbench.adapters.tensorflow import TensorFlow, devices, framework, gpu_memory
from ipyjaxbench.adapters.tensorflow.devices import name_of
from ipyjaxbench.adapters.tensorflow.microbenchmarks import TensorFlowProbe
from ipyjaxbench.device.locate import locate, survey
from ipyjaxbench.device.memory_settings import MemoryRequest
from ipyjaxbench.device.protocol import ArrayInspector, DeviceInventory
from ipyjaxbench.host import Gpu as NvidiaGpu, usable_cpus

TWO = """
import json
import tensorflow as tf
import keras
from ipyjaxbench.device.locate import locate, survey
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.usercode.snippet import Source

def home():
    return next(each for each in survey({}).homes if each.framework == "tensorflow")

cpu = tf.config.list_physical_devices()[0]
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
before = home().started
tf.ones(1)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    mirrored = tf.Variable(tf.ones((4, 2)), name="w")
    summed = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ,
                         aggregation=tf.VariableAggregation.SUM, trainable=True)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, name="head")])
    scoped = home().texts
replicas = strategy.run(lambda: tf.ones(3))
with tf.device("CPU:1"):
    second = tf.ones(3)
    chosen = home()
values = {"mirrored": mirrored, "summed": summed, "model": model, "replicas": replicas,
          "second": second}
found = locate(values)
copied, _ = transfer_code(Source.plain('''
with tf.device("CPU:1"):
    y = tf.identity(x)
    z = x + y
with tf.device("CPU:0"):
    w = tf.matmul(x, x)
'''), {"tf": tf, "x": tf.ones((8, 8))})
print(json.dumps([
    [before, home().started, [d.name for d in home().devices], home().default, home().why],
    [chosen.default, chosen.why],
    list(home().texts), list(scoped),
    {each.name: [list(each.devices), each.sharding and each.sharding.describe(), each.layout]
     for each in found.arrays},
    {name: list(held) for name, held in found.by_device().items()},
    str(found),
    [[t.line, t.source, t.target, t.copied, t.asked] for t in copied.transfers],
]))
"""


@pytest.fixture(scope="module")
def two() -> Any:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TWO], capture_output=True, text=True, check=True,
        timeout=300,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def test_devices_their_default_and_a_strategy_are_told_once_it_has_started(two: Any) -> None:
    virtual = "2 virtual CPUs on 1 physical (tf.config.set_logical_device_configuration)"
    assert two[:3] == [
        [False, True, ["cpu:0", "cpu:1"], "cpu:0", ""], ["cpu:1", "tf.device"], [virtual],
    ]  # fmt: skip
    assert "MirroredStrategy with 2 replicas is active" in two[3]


def test_each_array_is_told_with_its_devices_and_its_copies(two: Any) -> None:
    both, replicated = ["cpu:0", "cpu:1"], "replicated on 2 devices"
    assert two[4] == {
        "mirrored": [both, replicated, "variable 'w'"],
        "summed": [both, "partial sum over 'replicas' (2)", "variable"],
        "model.head.kernel": [both, replicated, "variable"],
        "model.head.bias": [both, replicated, "variable"],
        "replicas.values[0]": [["cpu:0"], None, ""],
        "replicas.values[1]": [["cpu:1"], None, ""],
        "second": [["cpu:1"], None, ""],
    }


def test_bytes_are_counted_on_each_device(two: Any) -> None:
    copied = 4 * (4 * 2 + 1 + 2 * 3 + 3)
    assert two[5] == {"cpu:0": [5, copied + 12], "cpu:1": [6, copied + 12 + 12]}
    assert max(map(len, two[6].splitlines())) <= 80


def test_copies_between_devices_are_told_with_both(two: Any) -> None:
    assert two[7] == [[3, "cpu:0", "cpu:1", 256, True], [4, "cpu:0", "cpu:1", 256, False]]


def names(value: object) -> list[str]:
    return [each.name for each in locate({"x": value}).arrays]


class Net(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [tf.Variable([1.0, 2.0]), {"k": tf.Variable(3.0), "a b": tf.Variable(4.0)}]
        self.bias = tf.Variable(2.0, trainable=False)

    def __call__(self, x: Any) -> Any:
        return x


def test_variables_of_a_module_are_told_as_a_person_would_type_them() -> None:
    found = locate({"net": Net()})
    assert {each.name: each.layout for each in found.arrays} == {
        "net.bias": "variable, not trainable",
        "net.layers[0]": "variable",
        "net.layers[1].k": "variable",
        "net.layers[1]['a b']": "variable",
    }


def test_tensors_that_are_made_of_several_are_told_part_by_part() -> None:
    assert names(tf.ragged.constant([[1, 2], [3]])) == [
        "x.flat_values", "x.nested_row_splits[0]",
    ]  # fmt: skip
    assert names(tf.sparse.from_dense([[1, 0]])) == ["x.indices", "x.values", "x.dense_shape"]
    assert names(tf.IndexedSlices(tf.ones(2), tf.constant([0, 1]))) == ["x.values", "x.indices"]


def test_a_symbolic_tensor_has_neither_device_nor_bytes() -> None:
    seen = []

    @tf.function
    def f(x: Any) -> Any:
        seen.append(x)
        return x

    f(tf.ones(3))
    (found,) = locate({"x": seen[0]}).arrays
    assert (found.devices, found.nbytes) == ((), 0)
    assert "symbolic tensor of a graph, no values" in str(locate({"x": seen[0]}))


# GPUs, as far as TensorFlow's functions tell of them


class Gpu:
    device_type = "GPU"

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine with one GPU."""
    tf.ones(1)
    config = tf.config
    monkeypatch.delenv("TF_FORCE_GPU_ALLOW_GROWTH", raising=False)
    monkeypatch.setattr(config, "list_logical_devices", lambda: [Gpu("/device:GPU:0")])
    monkeypatch.setattr(config, "get_visible_devices", lambda *_: [Gpu("/physical_device:GPU:0")])
    monkeypatch.setattr(config, "get_logical_device_configuration", lambda _: None)
    monkeypatch.setattr(config.experimental, "get_memory_growth", lambda _: None)
    monkeypatch.setattr(
        config.experimental, "get_memory_info",
        lambda name: {"current": 2**30, "peak": 2**31} if name == "GPU:0" else None,
    )  # fmt: skip
    monkeypatch.setattr(
        config.experimental, "get_device_details",
        lambda _: {"device_name": "NVIDIA H100", "compute_capability": (9, 0)},
    )  # fmt: skip
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


def test_what_was_chosen_for_its_memory_is_told(gpu: pytest.MonkeyPatch) -> None:
    gpu.setattr(tf.config.experimental, "get_memory_growth", lambda _: True)
    assert home().texts == ("TensorFlow allocates GPU memory on demand and keeps it",)
    gpu.setattr(tf.config.experimental, "get_memory_growth", lambda _: None)
    gpu.setenv("TF_FORCE_GPU_ALLOW_GROWTH", "True")
    assert home().texts == ("TensorFlow allocates GPU memory on demand and keeps it",)
    gpu.delenv("TF_FORCE_GPU_ALLOW_GROWTH")
    part = tf.config.LogicalDeviceConfiguration(memory_limit=1024)
    gpu.setattr(tf.config, "get_logical_device_configuration", lambda _: [part])
    assert home().texts == ()
    assert home().devices[0].limit == 2**30


def test_each_of_several_gpus_is_told_by_its_number(gpu: pytest.MonkeyPatch) -> None:
    logical = [Gpu(f"/device:GPU:{number}") for number in (0, 1)]
    physical = [Gpu(f"/physical_device:GPU:{number}") for number in (0, 1)]
    gpu.setattr(tf.config, "list_logical_devices", lambda: logical)
    gpu.setattr(tf.config, "get_visible_devices", lambda *_: physical)
    gpu.setattr(tf.config.experimental, "get_memory_info", lambda _: {})
    gpu.setattr(
        tf.config.experimental, "get_device_details", lambda each: {"device_name": each.name[-1:]}
    )
    assert [(each.name, each.kind) for each in home().devices] == [("gpu:0", "0"), ("gpu:1", "1")]
    # Once they are cut, a number says no more which of them a device is a part of.
    part = tf.config.LogicalDeviceConfiguration(memory_limit=1024)
    gpu.setattr(tf.config, "get_logical_device_configuration", lambda _: [part])
    assert [(each.kind, each.limit) for each in home().devices] == [("", 2**30)] * 2


def test_a_device_of_others_that_tells_no_memory_is_not_taken_for_lost(
    gpu: pytest.MonkeyPatch,
) -> None:
    other = Gpu("/device:NPU:0")
    other.device_type = "NPU"

    def unknown(_: str) -> None:
        raise ValueError("no such device")

    gpu.setattr(tf.config, "list_logical_devices", lambda: [other])
    gpu.setattr(tf.config, "get_visible_devices", lambda *_: [])
    gpu.setattr(tf.config.experimental, "get_memory_info", unknown)
    assert (home().devices[0].name, home().texts) == ("npu:0", ())


@pytest.mark.parametrize(
    ("name", "expected"),
    [("", "cpu:0"), ("/device:GPU:1", "gpu:1"), ("/device:GPU", "gpu:0"),
     ("/job:localhost/replica:0/task:0/device:CPU:1", "cpu:1")],
)  # fmt: skip
def test_a_device_has_the_last_parts_of_its_name(name: str, expected: str) -> None:
    assert name_of(name) == expected


def test_all_cpus_compute_unless_fewer_were_set(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = TensorFlow().capability(DeviceInventory).threads
    monkeypatch.setattr(tf.config.threading, "get_intra_op_parallelism_threads", lambda: 0)
    assert threads() == usable_cpus()
    monkeypatch.setattr(tf.config.threading, "get_intra_op_parallelism_threads", lambda: 3)
    assert threads() == 3


def test_precision_is_set_for_a_while() -> None:
    enabled = tf.config.experimental.tensor_float_32_execution_enabled
    before = enabled()
    with TensorFlow().capability(DeviceInventory).align_settings(1):
        assert not enabled()
    assert enabled() is before is True


def test_before_it_starts_the_choice_is_still_there(gpu: pytest.MonkeyPatch) -> None:
    gpu.setattr("ipyjaxbench.adapters.tensorflow.devices.query_gpus", lambda: (NvidiaGpu("H100"),))
    gpu.setattr(tf.test, "is_built_with_cuda", lambda: True)
    (words,) = home(started=False).texts
    assert words.startswith(
        "TensorFlow will preallocate most of the memory of 1 GPU at its first use."
    )
    assert words.endswith("set TF_FORCE_GPU_ALLOW_GROWTH=true in the environment now")
    gpu.setattr(tf_context.context(), "_memory_growth_map", {"GPU:0": True})
    assert home(started=False).texts == ()
    gpu.setattr(tf_context.context(), "_memory_growth_map", {"GPU:0": False})
    assert len(home(started=False).texts) == 1
    gpu.setattr(tf.test, "is_built_with_cuda", lambda: False)
    assert home(started=False).texts == ()
    gpu.setattr(tf.test, "is_built_with_cuda", lambda: True)
    gpu.setenv("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    assert home(started=False).texts == ()


def test_a_gpu_that_is_lost_is_told_in_one_line(gpu: pytest.MonkeyPatch) -> None:
    def lost(_: str) -> None:
        raise ValueError("Failed parsing device name: GPU:0\nmore")

    gpu.setattr(tf.config.experimental, "get_memory_info", lost)
    assert home().texts[0] == (
        "gpu:0 does not respond: ValueError: Failed parsing device name: GPU:0"
    )


def set_memory(
    *, started: bool = False, prealloc: bool = True, fraction: float | None = None
) -> Any:
    (found,) = gpu_memory.set_memory(MemoryRequest(prealloc, fraction), started=started)
    return found


def test_growth_and_limits_are_set_before_it_starts(gpu: pytest.MonkeyPatch) -> None:
    growth: list[bool] = []
    limits: list[float] = []
    config = tf.config.experimental
    gpu.setattr(config, "set_memory_growth", lambda _, enable: growth.append(enable))
    gpu.setattr(
        tf.config, "set_logical_device_configuration",
        lambda _, cuts: limits.extend(cut.memory_limit for cut in cuts),
    )  # fmt: skip
    drivers = "ipyjaxbench.adapters.tensorflow.gpu_memory.query_gpus"
    gpu.setattr(drivers, lambda: (NvidiaGpu("H100", memory=80 * 2**30),))
    grows, limited = set_memory(prealloc=False), set_memory(fraction=0.5)
    assert grows.words == "allocates memory of GPU:0 on demand"
    assert limited.words == "limited to 40.0 GiB of GPU:0"
    first = "tf.config.list_physical_devices('GPU')[0]"
    set_growth = "tf.config.experimental.set_memory_growth"
    assert grows.undo == f"{set_growth}({first}, False)  # before first use"
    assert limited.undo.startswith(f"tf.config.set_logical_device_configuration({first}, [")
    both = gpu_memory.set_memory(MemoryRequest(prealloc=False, fraction=0.5), started=False)
    assert [each.words for each in both] == [
        "limited to 40.0 GiB of GPU:0",
        "a fixed share is preallocated: --no-prealloc has no effect with --mem-fraction",
    ]  # fmt: skip
    limits.pop()
    several = NvidiaGpu("H100", memory=80 * 2**30), NvidiaGpu("A100", memory=40 * 2**30)
    for unlike in (several, ()):
        gpu.setattr(drivers, lambda unlike=unlike: unlike)
        assert set_memory(fraction=0.5).words.startswith("memory size of GPU:0 unknown.")
    assert set_memory(started=True, prealloc=False).words.startswith("too late")
    assert (growth, limits) == ([True], [40 * 2**10])


def test_gpus_that_were_cut_before_stay_so(gpu: pytest.MonkeyPatch) -> None:
    part = tf.config.LogicalDeviceConfiguration(memory_limit=1024)
    gpu.setattr(tf.config, "get_logical_device_configuration", lambda _: [part])
    is_split = "GPU:0 is already split into logical devices"
    assert set_memory(fraction=0.5).words == f"{is_split}; unchanged"
    found = set_memory(prealloc=False)
    assert (found.words, found.undo) == (f"{is_split}, which cannot allocate on demand", "")


def test_without_a_gpu_nothing_is_set() -> None:
    assert set_memory(prealloc=False).words == "sees no GPU; nothing changed"


def test_without_a_gpu_nothing_is_said_of_its_memory() -> None:
    tf.ones(1)
    (found,) = (each for each in survey({}).homes if each.framework == "tensorflow")
    assert (found.words, found.default) == ((), "cpu:0")


def test_numbers_are_given_to_numpy_with_a_type_that_it_has() -> None:
    to_numpy = TensorFlow().capability(ArrayInspector).to_numpy
    halves = to_numpy(tf.fill((2,), tf.constant(0.5, tf.bfloat16)))
    assert (halves.dtype, halves.tolist()) == (np.float32, [0.5, 0.5])
    assert to_numpy(tf.constant([1], tf.int8)).dtype == np.int8
    seen: list[Any] = []
    tf.function(lambda x: seen.append(to_numpy(x)))(tf.ones(1))
    assert seen == [None]


# The work that measures peaks


def test_work_of_a_probe_is_waited_for_where_python_may_run_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[int] = []
    monkeypatch.setattr(tf.test.experimental, "sync_devices", lambda: waited.append(1))
    inventory = TensorFlow().capability(DeviceInventory)
    inventory.probe("cpu:0").smallest_operation()()
    assert waited == []
    monkeypatch.setattr(devices, "may_run_ahead", lambda: True)
    assert float(inventory.probe("cpu:0").smallest_operation()()) == -1
    assert waited == [1]
    with tf.Graph().as_default():
        assert inventory.probe("cpu:0") is None


def test_where_operations_run_ahead_all_devices_are_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[int] = []
    monkeypatch.setattr(tf.test.experimental, "sync_devices", lambda: waited.append(1))
    adapter = TensorFlow()
    adapter.drain()
    assert waited == []
    monkeypatch.setattr(framework, "may_run_ahead", lambda: True)
    adapter.drain()
    wait = adapter.waiter(None, [])
    assert wait is not None
    wait(None)
    assert waited == [1, 1]
    assert (adapter.runs_ahead(), adapter.is_running()) == (True, None)
    with tf.Graph().as_default():
        assert not adapter.runs_ahead()
    monkeypatch.setattr(framework, "host_memory", lambda: 7)
    assert adapter.free_memory() == 7


def test_a_gpu_that_does_not_round_has_peaks_of_its_own() -> None:
    assert TensorFlowProbe("gpu:0", None).settings == ""
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        settings = [TensorFlowProbe(name, None).settings for name in ("cpu:0", "gpu:0")]
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(True)
    assert settings == ["", "TensorFloat-32 off"]


def test_a_probe_adds_in_place_and_sums_numbers_of_8_bits_up_in_32() -> None:
    probe = TensorFlowProbe("cpu:0", None)
    (_, moved), (_, read) = probe.streams(4096)
    assert (moved, read) == (3 * 4096, 4096)
    assert probe.product("int8", 8)().dtype == tf.int32  # type: ignore[attr-defined]
