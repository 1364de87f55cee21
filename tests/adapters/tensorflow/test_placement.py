"""Where TensorFlow's tensors and variables live, on two virtual devices in a process of its own."""

import json
import subprocess
import sys
from typing import Any

import pytest
import tensorflow as tf

from ipyjaxbench.adapters.tensorflow import TensorFlow, gpu_memory
from ipyjaxbench.device.locate import locate, survey
from ipyjaxbench.device.memory import MemoryRequest
from ipyjaxbench.device.protocol import DeviceInventory
from ipyjaxbench.host import Gpu as NvidiaGpu

TWO = """
import json
import tensorflow as tf
import keras
from ipyjaxbench.device.locate import locate, survey

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
print(json.dumps([
    [before, home().started, [d.name for d in home().devices], home().default, home().why],
    [chosen.default, chosen.why],
    list(home().texts), list(scoped),
    {each.name: [list(each.devices), each.sharding and each.sharding.describe(), each.layout]
     for each in found.arrays},
    {name: list(held) for name, held in found.by_device().items()},
    str(found),
]))
"""


@pytest.fixture(scope="module")
def two() -> Any:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TWO], capture_output=True, text=True, check=True,
        timeout=300,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def test_virtual_devices_are_told_once_it_has_started(two: Any) -> None:
    assert two[0] == [False, True, ["cpu:0", "cpu:1"], "cpu:0", "there is no GPU"]
    assert two[2] == ["2 virtual CPUs on 1, by tf.config.set_logical_device_configuration"]


def test_the_default_device_is_that_of_the_scope(two: Any) -> None:
    assert two[1] == ["cpu:1", "tf.device"]


def test_a_strategy_in_scope_is_told(two: Any) -> None:
    assert "MirroredStrategy with 2 replicas is in scope" in two[3]


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


def test_weights_of_keras_are_told_by_their_paths() -> None:
    import keras

    block = keras.Sequential([keras.layers.Dense(3, name="first")], name="block")
    model = keras.Sequential([keras.Input((2,)), block, keras.layers.Dense(1, name="last")])
    optimizer = keras.optimizers.SGD(momentum=0.9)
    optimizer.build(model.trainable_variables)
    assert names(model) == [
        "x.block.first.kernel", "x.block.first.bias", "x.last.kernel", "x.last.bias",
    ]  # fmt: skip
    assert names(model.weights[0]) == ["x.value"]
    found = names(optimizer)
    assert found[:2] == ["x.iteration", "x.learning_rate"]
    assert len(found) == 6
    kernel = model.weights[0]
    shared = locate({"m": model, "w": kernel, "v": kernel.value}).arrays[-2:]
    assert [each.of for each in shared] == ["m.block.first.kernel"] * 2


def test_a_symbolic_tensor_has_neither_device_nor_bytes() -> None:
    seen = []

    @tf.function
    def f(x: Any) -> Any:
        seen.append(x)
        return x

    f(tf.ones(3))
    (found,) = locate({"x": seen[0]}).arrays
    assert (found.devices, found.nbytes) == ((), 0)
    assert "symbolic: a part of a graph, without numbers" in str(locate({"x": seen[0]}))


FRESH = """
import tensorflow as tf
from tensorflow.python.eager import context
import jax
from jax._src import xla_bridge
import ipyjaxbench

def started():
    handle = context._context is not None and context._context._context_handle is not None
    return handle, xla_bridge.backends_are_initialized()

found = ipyjaxbench.devices()
print({each.framework: (each.started, each.devices) for each in found.homes}, started())
print(" ".join(str(found).split()))
gpus = tf.config.list_physical_devices("GPU")  # may still be set up
tf.config.threading.set_inter_op_parallelism_threads(3)
found = ipyjaxbench.devices(start=True)
print([(each.framework, each.started, len(each.devices) > 0) for each in found.homes], started())
"""


def test_looking_starts_neither_tensorflow_nor_the_jax_that_it_imports() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FRESH], capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    nothing, text, all_of_them = done.stdout.splitlines()[-3:]
    assert nothing == "{'jax': (False, ()), 'tensorflow': (False, ())} (False, False)"
    assert text.count("imported, not started: it has not looked for devices yet (--start)") == 2
    assert all_of_them == "[('jax', True, True), ('tensorflow', True, True)] (True, True)"


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
    assert words.startswith("TensorFlow took most of each GPU's memory when it started.")
    assert words.endswith("too late in this process")
    assert (home().default, home().why) == ("gpu:0", "the first GPU")


def test_what_was_chosen_for_its_memory_is_told(gpu: pytest.MonkeyPatch) -> None:
    gpu.setattr(tf.config.experimental, "get_memory_growth", lambda _: True)
    assert home().texts == (
        "TensorFlow takes a GPU's memory as it needs it, and keeps what it took",
    )
    gpu.setattr(tf.config.experimental, "get_memory_growth", lambda _: None)
    part = tf.config.LogicalDeviceConfiguration(memory_limit=1024)
    gpu.setattr(tf.config, "get_logical_device_configuration", lambda _: [part])
    assert home().texts == ()
    assert home().devices[0].limit == 2**30


def test_before_it_starts_the_choice_is_still_there(gpu: pytest.MonkeyPatch) -> None:
    gpu.setattr("ipyjaxbench.adapters.tensorflow.devices.query_gpus", lambda: (NvidiaGpu("H100"),))
    gpu.setattr(tf.test, "is_built_with_cuda", lambda: True)
    (words,) = home(started=False).texts
    assert words.startswith("TensorFlow will take most of the memory of 1 GPU at its first use.")
    assert words.endswith("still possible in this process")
    gpu.setenv("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    assert home(started=False).texts == ()


def test_a_gpu_that_is_lost_is_told_in_one_line(gpu: pytest.MonkeyPatch) -> None:
    def lost(_: str) -> None:
        raise ValueError("Failed parsing device name: GPU:0\nmore")

    gpu.setattr(tf.config.experimental, "get_memory_info", lost)
    assert home().texts[0] == (
        "gpu:0 does not answer: ValueError: Failed parsing device name: GPU:0"
    )


def told(*, started: bool = False, prealloc: bool = True, fraction: float | None = None) -> Any:
    (found,) = gpu_memory.set_memory(MemoryRequest(prealloc, fraction), started=started)
    return found


def test_growth_and_limits_are_set_before_it_starts(gpu: pytest.MonkeyPatch) -> None:
    growth: list[bool] = []
    limits: list[float] = []
    gpu.setattr(
        tf.config.experimental, "set_memory_growth", lambda _, enable: growth.append(enable)
    )
    gpu.setattr(
        tf.config, "set_logical_device_configuration",
        lambda _, cuts: limits.extend(cut.memory_limit for cut in cuts),
    )  # fmt: skip
    drivers = "ipyjaxbench.adapters.tensorflow.gpu_memory.query_gpus"
    gpu.setattr(drivers, lambda: (NvidiaGpu("H100", memory=80 * 2**30),))
    assert told(prealloc=False).words == "takes memory of GPU:0 as it needs it"
    assert told(fraction=0.5).words == "may take 40.0 GiB of GPU:0"
    gpu.setattr(drivers, lambda: ())
    assert told(fraction=0.5).words.startswith("it is not told how much memory GPU:0 has.")
    assert told(started=True, prealloc=False).words.startswith("too late")
    assert (growth, limits) == ([True], [40 * 2**10])


def test_gpus_that_were_cut_before_stay_so(gpu: pytest.MonkeyPatch) -> None:
    part = tf.config.LogicalDeviceConfiguration(memory_limit=1024)
    gpu.setattr(tf.config, "get_logical_device_configuration", lambda _: [part])
    assert told(fraction=0.5).words == "GPU:0 was cut into devices before, and stays so"
    assert told(prealloc=False).undo == ""


def test_without_a_gpu_nothing_is_set() -> None:
    assert told(prealloc=False).words == "sees no GPU here: nothing was set"


def test_without_a_gpu_nothing_is_said_of_its_memory() -> None:
    tf.ones(1)
    (found,) = (each for each in survey({}).homes if each.framework == "tensorflow")
    assert (found.words, found.default) == ((), "cpu:0")
