"""The TensorFlow adapter, and `%fwtime`'s promises on real TensorFlow code."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import ipyjaxbench
from ipyjaxbench.adapters.shared.xplane import Event, Line
from ipyjaxbench.adapters.tensorflow import TensorFlow
from ipyjaxbench.adapters.tensorflow.profiler import _name_operations
from ipyjaxbench.frameworks import Framework, loaded
from ipyjaxbench.timing.protocol import Profiler
from tests.adapters.contract import Contract


def _adapter() -> TensorFlow:
    return next(f for f in loaded()[0] if isinstance(f, TensorFlow))


class TestTensorFlow(Contract):
    devices = ("cpu:0",)
    multiplied = ("float32", "bfloat16", "float16", "float64", "int8")

    @pytest.fixture
    def framework(self) -> Framework:
        return _adapter()

    @pytest.fixture
    def array(self) -> object:
        return tf.ones((2, 3))


#: What an import of its own shows, step by step; each step leaves TensorFlow further than before.
ALONE = """
import json, threading, time
import tensorflow as tf
from tensorflow.python.eager import context
import jax
from jax._src import xla_bridge
import ipyjaxbench
from ipyjaxbench.adapters.tensorflow import TensorFlow, asynchronous

def started():
    handle = context._context is not None and context._context._context_handle is not None
    return handle, xla_bridge.backends_are_initialized()

def noted(code="tf.sin(a)"):
    found = ipyjaxbench.measure_code(code, dict(tf=tf, a=tf.ones(3)), number=1, repeat=2)
    return [(n.mark, n.text) for n in found.notes]

told = {}
found = ipyjaxbench.devices()
ipyjaxbench.measure_code("1 + 1", {}, budget=0.02)
told["looking"] = [{h.framework: [h.started, h.devices] for h in found.homes}, started()]
told["text"] = " ".join(str(found).split())
gpus = tf.config.list_physical_devices("GPU")  # may still be set up
tf.config.threading.set_inter_op_parallelism_threads(3)
found = ipyjaxbench.devices(start=True)
told["starting"] = [[[h.framework, h.started, len(h.devices) > 0] for h in found.homes], started()]
tf.debugging.set_log_device_placement(True)
told["logged"] = noted()
tf.debugging.set_log_device_placement(False)
tf.config.experimental.enable_op_determinism()
told["deterministic"] = noted()
tf.config.experimental.set_synchronous_execution(False)
late = lambda: tf.py_function(lambda: time.sleep(0.02) or 1.0, [], tf.float32)
kept = ipyjaxbench.measure_code("late()", dict(late=late), budget=0.5)
gone = ipyjaxbench.measure_code("late(); None", dict(late=late), budget=0.5)
told["late"] = [kept.waited, kept.floor > 0.01, gone.floor > 0.01]
told["asking"] = []
for absent in ((), ("TFE_OfAnotherVersion",)):
    asynchronous._ASK += absent
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
    """What a process tells in which nothing has used TensorFlow yet."""
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


def test_a_log_of_devices_and_deterministic_operations_are_told(alone: Any) -> None:
    module = "tf.debugging.set_log_device_placement"
    assert alone["logged"] == [["!", f"{module} is on: every operation is logged."]]
    module = "tf.config.experimental.enable_op_determinism"
    assert alone["deterministic"] == [
        ["·", f"{module} is on: some operations use slower algorithms."]
    ]


def test_the_async_executor_is_waited_for(alone: Any) -> None:
    assert alone["late"] == [True, True, True]


def test_asking_whether_operations_run_ahead_waits_for_none(alone: Any) -> None:
    assert alone["asking"] == [[True, 0, 0], [True, 1, 1]]  # one version cannot be asked


def test_a_product_of_a_variable_is_timed_and_placed() -> None:
    names = {"tf": tf, "v": tf.Variable(tf.eye(4))}
    result = ipyjaxbench.measure_code("y = tf.matmul(v, v)", names, budget=0.05)
    assert [p.words() for p in result.inputs] == ["v f32[4,4] cpu:0"]
    assert [p.words() for p in result.outputs] == ["y f32[4,4] cpu:0"]
    assert result.frameworks == {"tensorflow": tf.__version__}


@pytest.mark.parametrize("fresh", [False, True])
def test_seeded_numbers_are_those_of_one_run(fresh: bool) -> None:
    tf.random.set_seed(42)
    expected = [float(tf.random.normal([])) for _ in range(4)]
    tf.random.set_seed(42)
    names = {"tf": tf, "f": tf.function(tf.sin), "x": tf.ones(3)}
    ipyjaxbench.measure_code("f(x); r = tf.random.normal([])", names, budget=0.05, fresh=fresh)
    assert [float(names["r"]), *(float(tf.random.normal([])) for _ in range(3))] == expected


@pytest.mark.usefixtures("real_clock")
def test_tracing_is_kept_apart_and_told() -> None:
    f = tf.function(lambda x: x + 1)
    names = {"f": f, "x": tf.ones(3)}
    result = ipyjaxbench.measure_code("f(x)", names, budget=0.05)
    assert 0 < result.phases["trace"] < result.first_call
    assert result.compilations == 1
    again = ipyjaxbench.measure_code("f(x)", names, budget=0.05)
    assert "already compiled" in str(again)
    assert f.experimental_get_tracing_count() == 1


def test_a_version_that_hides_its_tracing_time_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tuple(TensorFlow().gaps) == ()
    for module in ("compilation", "framework"):
        hidden = f"ipyjaxbench.adapters.tensorflow.{module}.tracing_seconds"
        monkeypatch.setattr(hidden, lambda: None)
    assert TensorFlow().gaps == ("this version does not report how long tracing takes.",)
    result = ipyjaxbench.measure_code(
        "f(x)", {"f": tf.function(lambda x: x - 1), "x": tf.ones(3)}, budget=0.05
    )
    assert (result.phases, result.compilations) == ({"trace": None}, 1)
    assert "including trace (time unknown)" in " ".join(str(result).split())


def test_what_a_function_keeps_of_variables_is_no_array() -> None:
    v = tf.Variable(tf.ones((4, 2)))
    f = tf.function(lambda a: tf.matmul(a, v))
    names = {"f": f, "x": tf.ones((3, 4)), "v": v}
    f(names["x"])
    placed = ipyjaxbench.placement(**names)
    arrays = [(each.name, each.nbytes) for each in placed.arrays if each.framework]
    assert arrays == [("x", 48), ("v", 32)]
    result = ipyjaxbench.measure_code("f(x)", names, number=2, repeat=2)
    assert [each.words() for each in result.inputs] == ["x f32[3,4] cpu:0"]


def test_a_keras_model_is_placed_by_its_weights() -> None:
    import keras

    model = keras.Sequential([keras.layers.Dense(4)])
    model(tf.ones((2, 3)))
    result = ipyjaxbench.measure_code("m(x)", {"m": model, "x": tf.ones((2, 3))}, budget=0.05)
    assert result.inputs[0].words() == "m 2 arrays 64 B cpu:0"


def test_operations_of_the_cpu_are_done_when_python_goes_on() -> None:
    adapter = _adapter()
    assert (adapter.runs_ahead(), adapter.is_running()) == (False, False)
    assert adapter.waiter(None, [tf.ones(1)]) is None


# The profiled pass

SQUARE = tf.random.normal((300, 300))


def twice(x: tf.Tensor) -> tf.Tensor:
    return tf.tanh(x @ x) @ x


@pytest.mark.parametrize("function", [twice, tf.function(twice)], ids=["eager", "graph"])
@pytest.mark.usefixtures("real_clock")
def test_operations_are_counted_and_are_busy_within_the_call(function: object) -> None:
    names = {"f": function, "x": SQUARE}
    (seen,) = ipyjaxbench.measure_code(
        "f(x)", names, number=2, repeat=3, profile=True
    ).device.passes
    # A graph on Intel's library has its own names, as _MklMatMul.
    found = {op.name.removeprefix("_Mkl"): op.count / seen.calls for op in seen.operations}
    assert found == {"MatMul": 2, "Tanh": 1}
    assert list(seen.devices) == ["cpu:0"]
    assert 0 < seen.busy <= seen.elapsed


def test_operations_that_xla_compiled_are_seen() -> None:
    names = {"f": tf.function(twice, jit_compile=True), "x": SQUARE}
    (seen,) = ipyjaxbench.measure_code(
        "f(x)", names, number=2, repeat=3, profile=True
    ).device.passes
    assert seen.launches == 3 * seen.calls
    assert not any("inference" in operation.name for operation in seen.operations)


def test_a_trace_of_the_users_goes_on_and_is_the_reason_why_nothing_is_told(tmp_path: Path) -> None:
    tf.profiler.experimental.start(str(tmp_path))
    result = ipyjaxbench.measure_code("x + 1", {"x": SQUARE}, number=2, repeat=2, profile=True)
    tf.profiler.experimental.stop()
    assert result.device.reasons == {"tensorflow": "another profiler is already running"}
    assert list(tmp_path.rglob("*.xplane.pb")) != []


def test_before_anything_was_computed_there_is_nothing_to_profile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    adapter = TensorFlow()
    monkeypatch.setattr(adapter, "started", lambda: False)
    assert (
        adapter.capability(Profiler).profile(lambda: None).reason == "nothing has been computed yet"
    )


def test_operations_are_told_from_what_waits_for_them() -> None:
    events = [
        Event("EagerLocalExecute: MatMul", 0, 1, {"eager_op": "MatMul"}),
        Event("EagerLocalExecute: f_12", 0, 9, {"eager_op": "f_12", "is_func": 1}),
        Event("product:MatMul", 1, 2, {}),
        Event("call:f_12", 1, 2, {}),
        Event("ExecutorState::Process", 1, 2, {}),
        Event("fusion.3", 1, 2, {"hlo_op": "fusion.3"}),
    ]
    name = _name_operations([Line("/host:CPU", "t", events)])
    assert [name(event) for event in events] == [
        "MatMul", None, "MatMul", None, None, "fusion.3",
    ]  # fmt: skip


def test_the_profiler_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert _adapter().capability(Profiler).profile(lambda: SQUARE + 1).intervals != ()
    assert capfd.readouterr() == ("", "")


# Work that was not done

ABOUT_WORK = {"built-each-call", "value-cached", "used-up", "grows", "slows-down", "no-work"}


def about_work(code: str, names: dict[str, Any]) -> dict[str, ipyjaxbench.reports.note.Note]:
    result = ipyjaxbench.measure_code(code, names, budget=0.2)
    return {n.code: n for n in result.notes if n.code in {*ABOUT_WORK, "recompiles"}}


def test_a_function_that_is_built_in_the_statement_is_named_as_the_cause() -> None:
    names = {"tf": tf, "f": lambda x: tf.sin(x) + 1, "x": tf.ones(8)}
    found = about_work("tf.function(f)(x)", names)
    assert list(found) == ["recompiles"]
    assert found["recompiles"].text.endswith(
        "because tf.function(...) is called inside the timed code."
    )
    assert found["recompiles"].advice == "create tf.function(...) once, outside, and time its call"
    names["g"] = tf.function(names["f"])
    assert about_work("g(x)", names) == {}
