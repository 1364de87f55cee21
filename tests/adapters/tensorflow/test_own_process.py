"""What is told in a process of its own, from before TensorFlow is used; then on two devices."""

import json
import subprocess
import sys
from typing import Any

import pytest
import tensorflow as tf  # noqa: F401  before a test: it changes settings of the process

#: Each step leaves TensorFlow further than before.
ALONE = """
import json, threading, time
import tensorflow as tf
from tensorflow.python.eager import context
import jax
import keras
from jax._src import xla_bridge
import ipyjaxbench
from ipyjaxbench.adapters.tensorflow import TensorFlow, asynchronous
from ipyjaxbench.device.locate import locate
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.usercode.snippet import Source

def started():
    handle = context._context is not None and context._context._context_handle is not None
    return handle, xla_bridge.backends_are_initialized()

def noted(code="tf.sin(a)"):
    found = ipyjaxbench.measure_code(code, dict(tf=tf, a=tf.ones(3)), number=1, repeat=2)
    return [(n.mark, n.text) for n in found.notes]

def home():
    return next(h for h in ipyjaxbench.devices().homes if h.framework == "tensorflow")

told = {}
found = ipyjaxbench.devices()
ipyjaxbench.measure_code("1 + 1", {}, budget=0.02)
told["looking"] = [{h.framework: [h.started, h.devices] for h in found.homes}, started()]
told["text"] = " ".join(str(found).split())
cpu = tf.config.list_physical_devices()[0]  # may still be set up
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
found = ipyjaxbench.devices(start=True)
told["starting"] = [[[h.framework, h.started, len(h.devices) > 0] for h in found.homes], started()]

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
told["homes"] = [[d.name for d in home().devices], [*home().texts], [*scoped]]
told["default"] = [(each.default, each.why) for each in (home(), chosen)]
found = locate({"mirrored": mirrored, "summed": summed, "model": model, "replicas": replicas,
                "second": second})
told["arrays"] = {each.name: [each.devices, each.sharding and each.sharding.describe(), each.layout]
                  for each in found.arrays}
told["bytes"] = found.by_device()
copied, _ = transfer_code(Source.plain('''
with tf.device("CPU:1"):
    y = tf.identity(x)
    z = x + y
with tf.device("CPU:0"):
    w = tf.matmul(x, x)
'''), {"tf": tf, "x": tf.ones((8, 8))})
told["copied"] = [[t.line, t.source, t.target, t.copied, t.asked] for t in copied.transfers]

tf.debugging.set_log_device_placement(True)
told["logged"] = noted()
tf.debugging.set_log_device_placement(False)
tf.config.experimental.enable_op_determinism()
told["deterministic"] = noted()
tf.config.experimental.set_synchronous_execution(False)
late = lambda: tf.py_function(lambda: time.sleep(0.02) or 1.0, [], tf.float32)
kept = ipyjaxbench.measure_code("late()", dict(late=late), budget=0.1)
gone = ipyjaxbench.measure_code("late(); None", dict(late=late), budget=0.1)
told["late"] = [kept.waited, kept.floor > 0.01, gone.floor > 0.01]
told["asking"] = []
for absent in ((), ("TFE_OfAnotherVersion",)):
    asynchronous._ASK += absent
    asynchronous.asks_without_waiting.cache_clear()
    go_on, over = threading.Event(), []
    held = lambda go_on=go_on, over=over: go_on.wait(1) or over.append(1) or 1.0
    tf.py_function(held, [], tf.float32)  # it may begin when the next one is there
    adapter = TensorFlow()
    told["asking"].append([adapter.runs_ahead(), len(over), len(adapter.gaps)])
    go_on.set()
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def alone() -> Any:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ALONE], capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_looking_starts_neither_tensorflow_nor_the_jax_that_it_imports(alone: Any) -> None:
    nothing = {"jax": [False, []], "tensorflow": [False, []]}
    assert alone["looking"] == [nothing, [False, False]]
    words = "imported but not initialized; `devices(start=True)` lists its devices"
    assert alone["text"].count(words) == 2
    all_of_them = [["jax", True, True], ["tensorflow", True, True]]
    assert alone["starting"] == [all_of_them, [True, True]]


def test_devices_their_default_and_a_strategy_are_told_once_it_has_started(alone: Any) -> None:
    virtual = "2 virtual CPUs on 1 physical (tf.config.set_logical_device_configuration)"
    names, words, scoped = alone["homes"]
    assert (names, words) == (["cpu:0", "cpu:1"], [virtual])
    assert alone["default"] == [["cpu:0", ""], ["cpu:1", "tf.device"]]
    assert "MirroredStrategy with 2 replicas is active" in scoped


def test_each_array_is_told_with_its_copies_and_what_is_copied_between_devices(alone: Any) -> None:
    both, replicated = ["cpu:0", "cpu:1"], "replicated on 2 devices"
    assert alone["arrays"] == {
        "mirrored": [both, replicated, "variable 'w'"],
        "summed": [both, "partial sum over 'replicas' (2)", "variable"],
        "model.head.kernel": [both, replicated, "variable"],
        "model.head.bias": [both, replicated, "variable"],
        "replicas.values[0]": [["cpu:0"], None, ""],
        "replicas.values[1]": [["cpu:1"], None, ""],
        "second": [["cpu:1"], None, ""],
    }
    copied = 4 * (4 * 2 + 1 + 2 * 3 + 3)
    assert alone["bytes"] == {"cpu:0": [5, copied + 12], "cpu:1": [6, copied + 12 + 12]}
    assert alone["copied"] == [
        [3, "cpu:0", "cpu:1", 256, True], [4, "cpu:0", "cpu:1", 256, False],
    ]  # fmt: skip


def test_what_is_set_for_all_of_the_process_is_told(alone: Any) -> None:
    logged, slower = "every operation is logged", "some operations use slower algorithms"
    assert alone["logged"] == [["!", f"tf.debugging.set_log_device_placement is on: {logged}."]]
    module = "tf.config.experimental.enable_op_determinism"
    assert alone["deterministic"] == [["·", f"{module} is on: {slower}."]]


def test_the_async_executor_is_waited_for_and_asking_waits_for_none(alone: Any) -> None:
    assert alone["late"] == [True, True, True]
    assert alone["asking"] == [[True, 0, 0], [True, 1, 1]]  # one version cannot be asked
