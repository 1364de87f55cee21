"""The TensorFlow adapter, and `%fwtime`'s promises on real TensorFlow code."""

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


def test_a_product_is_timed_and_placed() -> None:
    names = {"tf": tf, "a": tf.eye(4)}
    result = ipyjaxbench.measure_code("y = tf.matmul(a, a)", names, budget=0.05)
    assert [p.words() for p in result.outputs] == ["y f32[4,4] cpu:0"]
    assert result.frameworks == {"tensorflow": tf.__version__}


def test_seeded_numbers_are_those_of_one_run() -> None:
    tf.random.set_seed(42)
    expected = [float(tf.random.normal([])) for _ in range(4)]
    tf.random.set_seed(42)
    names = {"tf": tf}
    ipyjaxbench.measure_code("r = tf.random.normal([])", names, budget=0.05)
    assert [float(names["r"]), *(float(tf.random.normal([])) for _ in range(3))] == expected


def test_a_generator_of_the_users_is_as_after_one_run() -> None:
    expected = tf.random.Generator.from_seed(5)
    expected.normal([2])
    mine = tf.random.Generator.from_seed(5)
    ipyjaxbench.measure_code("g.normal([2])", {"g": mine}, budget=0.05)
    assert mine.state.numpy().tolist() == expected.state.numpy().tolist()


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
    hidden = "ipyjaxbench.adapters.tensorflow.compilation.tracing_seconds"
    monkeypatch.setattr(hidden, lambda: None)
    result = ipyjaxbench.measure_code(
        "f(x)", {"f": tf.function(lambda x: x - 1), "x": tf.ones(3)}, budget=0.05
    )
    assert (result.phases, result.compilations) == ({"trace": None}, 1)
    assert "including trace (time unknown)" in " ".join(str(result).split())


def test_tracing_in_every_call_is_no_steady_state() -> None:
    code = "tf.function(lambda v: v * 2)(x)"
    result = ipyjaxbench.measure_code(code, {"tf": tf, "x": tf.ones(3)}, number=1, repeat=4)
    assert result.verdict == "RECOMPILES"


def test_a_variable_is_an_array() -> None:
    names = {"v": tf.Variable([1.0, 2.0])}
    assert (
        ipyjaxbench.measure_code("v * 2", names, budget=0.05).inputs[0].words() == "v f32[2] cpu:0"
    )


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


def test_the_async_executor_is_waited_for() -> None:
    code = (
        "import tensorflow as tf, ipyjaxbench, time\n"
        "tf.config.experimental.set_synchronous_execution(False)\n"
        "late = lambda: tf.py_function(lambda: time.sleep(0.02) or 1.0, [], tf.float32)\n"
        "kept = ipyjaxbench.measure_code('late()', dict(late=late), budget=0.5)\n"
        "gone = ipyjaxbench.measure_code('late(); None', dict(late=late), budget=0.5)\n"
        "print(kept.waited, kept.floor > 0.01, gone.floor > 0.01)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True True True"


@pytest.mark.parametrize("absent", [(), ("TFE_OfAnotherVersion",)])
def test_asking_whether_operations_run_ahead_waits_for_none(absent: tuple[str, ...]) -> None:
    code = (
        "import tensorflow as tf, threading\n"
        "from ipyjaxbench.adapters.tensorflow import TensorFlow, asynchronous\n"
        f"asynchronous._ASK += {absent}\n"
        "tf.config.experimental.set_synchronous_execution(False)\n"
        "go_on, over = threading.Event(), []\n"
        "tf.py_function(lambda: go_on.wait(1) or over.append(1) or 1.0, [], tf.float32)\n"
        "adapter = TensorFlow()\n"
        "print(adapter.runs_ahead(), len(over), len(adapter.gaps), go_on.set())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"True {len(absent)} {len(absent)} None"


def test_what_this_version_does_not_tell_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tuple(TensorFlow().gaps) == ()
    hidden = "ipyjaxbench.adapters.tensorflow.framework.tracing_seconds"
    monkeypatch.setattr(hidden, lambda: None)
    assert TensorFlow().gaps == ("this version does not report how long tracing takes.",)


def test_operations_of_the_cpu_are_done_when_python_goes_on() -> None:
    adapter = _adapter()
    assert (adapter.runs_ahead(), adapter.is_running()) == (False, False)
    assert adapter.waiter(None, [tf.ones(1)]) is None


def test_the_runtime_is_not_started_by_looking() -> None:
    code = (
        "import tensorflow as tf, ipyjaxbench\n"
        "ipyjaxbench.measure_code('1 + 1', {}, budget=0.02)\n"
        "from tensorflow.python.eager import context\n"
        "from jax._src import xla_bridge\n"
        "c = context._context\n"
        "print(c is None or c._context_handle is None, xla_bridge.backends_are_initialized())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True False"


# The profiled pass

SQUARE = tf.random.normal((300, 300))


def twice(x: tf.Tensor) -> tf.Tensor:
    return tf.tanh(x @ x) @ x


@pytest.mark.parametrize(
    ("function", "counts"),
    [(twice, {"MatMul": 2, "Tanh": 1}), (tf.function(twice), {"MatMul": 2, "Tanh": 1})],
    ids=["eager", "graph"],
)
def test_operations_are_counted_and_are_busy_within_the_call(
    function: object, counts: dict[str, int]
) -> None:
    names = {"f": function, "x": SQUARE}
    (seen,) = ipyjaxbench.measure_code(
        "f(x)", names, number=2, repeat=3, profile=True
    ).device.passes
    # A graph on Intel's library has its own names, as _MklMatMul.
    found = {op.name.removeprefix("_Mkl"): op.count / seen.calls for op in seen.operations}
    assert found == counts
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


@pytest.mark.parametrize(
    "code", ["x + 1", "x @ x", "v.assign_add(x)", "x.numpy()", "tf.constant(1.0)", "tf.ones(3)",
             "x.shape", "tf.cast(x, tf.float64)"],
)  # fmt: skip
def test_ordinary_code_is_left_alone(code: str) -> None:
    names = {"tf": tf, "x": tf.ones((16, 16)), "v": tf.Variable(tf.ones((16, 16)))}
    assert about_work(code, names) == {}
