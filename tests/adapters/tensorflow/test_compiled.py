"""tf.function's first call explained, and a cold call that leaves the user's traces alone."""

import threading
from typing import Any

import pytest
import tensorflow as tf

import ipyjaxbench
from ipyjaxbench.adapters.tensorflow import TensorFlow, compile_events
from ipyjaxbench.adapters.tensorflow.compilation import clones, isolate_traces
from ipyjaxbench.frameworks import Compilation
from tests.shell import Shell


def step(x: Any) -> Any:
    return tf.reduce_sum(tf.sin(x) * 2)


class Model:
    @tf.function
    def __call__(self, x: Any) -> Any:
        return tf.sin(x)

    @tf.function
    def step(self, x: Any) -> Any:
        return tf.cos(x)

    @tf.function(jit_compile=True)
    def fused(self, x: Any) -> Any:
        return tf.tan(x)


@tf.function
def call(x: Any) -> Any:
    return tf.tan(x)


@pytest.mark.parametrize(("code", "programs", "shown"), [
    ("f(x)", ["step"], "traced step"), ("f(x), f(y)", ["step"] * 2, "2 programs: 2 × step"),
    ("tf.function(lambda v: v * 2)(x)", ["<lambda>"], "traced <lambda>"),
    ("m(x)", ["Model"], "traced Model"), ("m.step(x)", ["step"], "traced step"),
    ("call(x)", ["call"], "traced call"),
])  # fmt: skip
def test_traces_are_named_by_their_function(code: str, programs: list[str], shown: str) -> None:
    names = {"tf": tf, "f": tf.function(step), "x": tf.ones(3), "y": tf.ones(4), "m": Model(),
             "call": call}  # fmt: skip
    result = ipyjaxbench.measure_code(code, names, number=1, repeat=4)
    assert [each.name for each in result.programs] == programs
    spent = result.phases["trace"] if len(programs) == 1 else None
    assert {(p.seconds, p.origin, p.framework) for p in result.programs} == {
        (spent, "traced", "tensorflow")
    }
    assert shown in " ".join(str(result).split())
    assert (result.verdict == "RECOMPILES") == ("lambda" in code)


@pytest.mark.parametrize(("code", "programs"), [("f(x), f(y)", ["step"] * 2), ("m(x)", ["?"])])
def test_a_version_that_reports_no_traces_is_asked_for_those_of_functions_in_play(
    code: str, programs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_events, "_listeners", lambda: None)
    names = {"f": tf.function(step), "x": tf.ones(3), "y": tf.ones(4), "m": Model()}
    result = ipyjaxbench.measure_code(code, names, number=1, repeat=2)
    assert [each.name for each in result.programs] == programs


@pytest.mark.parametrize("code", ["f(x)", "m.fused(x)"])
def test_a_compilation_by_xla_is_told_without_a_time(code: str) -> None:
    names = {"f": tf.function(step, jit_compile=True), "x": tf.ones(3), "m": Model()}
    first, again = (ipyjaxbench.measure_code(code, names, number=1, repeat=2) for _ in range(2))
    assert list(first.phases) == ["trace", "compile"]
    assert first.phases["compile"] is None
    assert "including compile (time unknown)" in " ".join(str(first).split())
    assert again.phases == {}
    assert "already compiled (in memory)" in str(again)


@pytest.mark.parametrize("jit", [True, False])
def test_a_cold_call_traces_anew_and_leaves_what_was_traced(jit: bool) -> None:
    f, x = tf.function(step, jit_compile=jit), tf.ones(5)
    f(x)
    names = {"f": f, "x": x}
    result = ipyjaxbench.measure_code("f(x)", names, budget=0.05, fresh=True)
    fresh = result.fresh
    assert fresh is not None
    assert (result.compilations, fresh.cleared, "compile" in fresh.phases) == (0, (), jit)
    assert [(p.name, p.origin) for p in fresh.programs] == [("step", "traced")]
    f(x)
    assert (names["f"] is f, f.experimental_get_tracing_count()) == (True, 1)


def test_this_thread_traces_apart_and_others_as_ever() -> None:
    made: list[str] = []

    @tf.function
    def noted(x: Any) -> Any:
        made.append(threading.current_thread().name)
        return x * 2

    results: list[Any] = []
    with isolate_traces() as unchanged:
        results += noted(tf.ones(2)), noted(tf.ones(2))
        assert noted.experimental_get_tracing_count() == 0
        other = threading.Thread(target=lambda: results.append(noted(tf.ones(2))), name="other")
        other.start()
        other.join()
    assert [each.numpy().tolist() for each in results] == [[2.0, 2.0]] * 3
    assert made == [threading.current_thread().name, "other"]
    assert (noted.experimental_get_tracing_count(), unchanged) == (1, [])


def test_what_cannot_be_made_anew_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    f = tf.function(step)
    monkeypatch.setattr(f, "_clone", None)
    with isolate_traces() as unchanged:
        assert float(f(tf.zeros(2))) == 0.0
    assert (unchanged, f.experimental_get_tracing_count()) == (["step"], 1)
    with clones({"f": f}, [tf.function(step)]) as cold:
        assert cold.caveats == ["step kept its traces", "f kept its traces"]
        assert dict(cold.stand_ins) == {}


def test_the_original_of_a_tf_function_is_known() -> None:
    original = TensorFlow().capability(Compilation).original
    assert (original(tf.function(step)) is step, original(step)) == (True, None)


# What time is spent on until a traced function runs, by TensorFlow's own marks

_CELL = """%load_ext ipyjaxbench
import tensorflow as tf
@tf.function(jit_compile={jit})
def unrolled(x):
    for i in range(20):
        x = tf.sin(x * float(i))
    return tf.reduce_sum(x)

x = tf.ones((8, 8))
"""


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.usefixtures("real_clock")
def test_the_phases_of_a_first_call_are_told_apart(shell: Shell, jit: bool) -> None:
    shell.run(_CELL.format(jit=jit))
    shell.run("%fwtime -n 1 -r 2 --passes -v found unrolled(x)")
    fresh = shell.names["found"].fresh
    (passes,) = fresh.passes
    names = [each.name for each in passes.passes]
    assert {"tracing to a graph", "Grappler and placement"} <= {*names}
    assert any("Compile" in name for name in names) == jit
    assert 0.5 <= passes.seconds / sum(fresh.phases.values()) <= 1.5
    assert passes.seconds <= fresh.seconds
    assert passes.lines[0].text == "x = tf.sin(x * float(i))"
