"""The TensorFlow adapter, and `%fwtime`'s promises on real TensorFlow code."""

from contextlib import nullcontext
from pathlib import Path

import keras
import pytest
import tensorflow as tf

import ipyjaxbench
from ipyjaxbench.adapters.shared.clock_marks import ClockMarks
from ipyjaxbench.adapters.tensorflow import TensorFlow, profiler
from ipyjaxbench.frameworks import Framework, loaded
from ipyjaxbench.host import GPU_NOT_PROFILED
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


def test_variables_and_models_are_placed_and_what_a_function_keeps_of_them_is_not() -> None:
    v, x = tf.Variable(tf.ones((4, 2))), tf.ones((3, 4))
    f = tf.function(lambda a: tf.matmul(a, v))
    f(x)
    model = keras.Sequential([keras.layers.Dense(4)])
    model(tf.ones((2, 3)))
    names = {"f": f, "x": x, "v": v, "m": model}
    result = ipyjaxbench.measure_code("(v, m); y = f(x)", names, number=2, repeat=2)
    assert [each.words() for each in result.inputs] == [
        "v f32[4,2] cpu:0", "m 2 arrays 64 B cpu:0", "x f32[3,4] cpu:0",
    ]  # fmt: skip
    assert result.outputs[0].words() == "y f32[3,2] cpu:0"
    assert result.frameworks["tensorflow"] == tf.__version__


def test_operations_of_the_cpu_are_done_when_python_goes_on() -> None:
    adapter = _adapter()
    assert (adapter.runs_ahead(), adapter.is_running()) == (False, False)
    assert adapter.waiter(None, [tf.ones(1)]) is None


# The profiled pass

SQUARE = tf.random.normal((300, 300))


def twice(x: tf.Tensor) -> tf.Tensor:
    return tf.tanh(x @ x) @ x


@pytest.mark.parametrize(
    "options", [None, {}, {"jit_compile": True}], ids=["eager", "graph", "xla"]
)
@pytest.mark.usefixtures("real_clock")
def test_operations_are_counted_and_timed(options: dict[str, bool] | None) -> None:
    names = {"f": twice if options is None else tf.function(twice, **options), "x": SQUARE}
    found = ipyjaxbench.measure_code("f(x)", names, number=2, repeat=3, profile=True)
    (seen,) = found.device.passes
    # A graph on Intel's library has its own names, as _MklMatMul.
    counts = {op.name.removeprefix("_Mkl"): op.count / seen.calls for op in seen.operations}
    assert options or counts == {"MatMul": 2, "Tanh": 1}
    assert seen.launches == 3 * seen.calls
    assert not any("inference" in name for name in counts)
    assert list(seen.devices) == ["cpu:0"]
    assert 0 < seen.busy <= seen.worked * 1.001


def test_a_trace_of_the_users_goes_on_and_is_the_reason_why_nothing_is_told(tmp_path: Path) -> None:
    tf.profiler.experimental.start(str(tmp_path))
    result = ipyjaxbench.measure_code("x + 1", {"x": SQUARE}, number=2, repeat=2, profile=True)
    tf.profiler.experimental.stop()
    assert result.device.reasons == {"tensorflow": "another profiler is already running"}
    assert list(tmp_path.rglob("*.xplane.pb")) != []


def test_the_profiler_writes_nothing_and_needs_something_computed(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = TensorFlow()
    profile = adapter.capability(Profiler).profile
    assert profile(lambda: SQUARE + 1).intervals != ()
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(adapter, "started", lambda: False)
    assert profile(lambda: None).reason == "nothing has been computed yet"


@pytest.mark.parametrize(("error", "plane", "reason"), [
    ("host: Insufficient privilege to run libcupti (you need root permission).", "/host:CPU",
     GPU_NOT_PROFILED),
    ("host: Failed to load libcupti (is it installed and accessible?)", "/device:GPU:0", ""),
    ("host: No GPU detected.", "/host:CPU", ""),
])  # fmt: skip
def test_operations_of_the_cpu_are_not_told_for_a_gpu_that_may_not_be_profiled(
    error: str, plane: str, reason: str, tmp_path: Path
) -> None:
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    space = xplane_pb2.XSpace(errors=[error])
    written = space.planes.add(name=plane)
    written.event_metadata[1].name = "EagerLocalExecute: AddV2"
    line = written.lines.add(name="Stream #1")
    line.events.add(metadata_id=1, offset_ps=1000, duration_ps=1000)
    (tmp_path / "a.xplane.pb").write_bytes(space.SerializeToString())
    found = profiler._read(xplane_pb2.XSpace, tmp_path, ClockMarks(lambda _: nullcontext()))
    assert (found.reason, len(found.intervals)) == (reason, 0 if reason else 1)
