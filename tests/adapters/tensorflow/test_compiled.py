"""tf.function's first call explained, and a cold call that leaves the user's traces alone."""

import threading
from typing import Any

import pytest
import tensorflow as tf

import ipyjaxbench
from ipyjaxbench.adapters.tensorflow import TensorFlow
from ipyjaxbench.adapters.tensorflow.compilation import clones, isolate_traces
from ipyjaxbench.frameworks import Compilation, loaded


def step(x: Any) -> Any:
    return tf.reduce_sum(tf.sin(x) * 2)


def test_traces_are_named_by_their_function_with_the_time_of_the_only_one() -> None:
    names = {"f": tf.function(step), "x": tf.ones(3)}
    result = ipyjaxbench.measure_code("f(x)", names, budget=0.05)
    (program,) = result.programs
    assert (program.name, program.origin, program.framework) == ("step", "traced", "tensorflow")
    assert program.seconds == result.phases["trace"]
    assert "\ntraced       step " in str(result)


def test_of_several_traces_no_time_is_told() -> None:
    names = {"f": tf.function(step), "x": tf.ones(3), "y": tf.ones(4)}
    result = ipyjaxbench.measure_code("f(x), f(y)", names, budget=0.05)
    assert [(p.name, p.seconds) for p in result.programs] == [("step", None)] * 2
    assert "2 programs: 2 × step" in str(result)


def test_a_function_made_inside_of_the_code_has_no_name_and_makes_no_steady_state() -> None:
    names = {"tf": tf, "x": tf.ones(3)}
    result = ipyjaxbench.measure_code("tf.function(lambda v: v * 2)(x)", names, number=1, repeat=4)
    assert [p.name for p in result.programs] == ["?"]
    assert "1 program" in str(result)
    assert result.verdict == "RECOMPILES"


def test_a_compilation_by_xla_is_told_without_a_time() -> None:
    names = {"f": tf.function(step, jit_compile=True), "x": tf.ones(3)}
    result = ipyjaxbench.measure_code("f(x)", names, budget=0.05)
    assert list(result.phases) == ["trace", "compile"]
    assert result.phases["compile"] is None
    assert "including compile (time unknown)" in " ".join(str(result).split())
    again = ipyjaxbench.measure_code("f(x)", names, budget=0.05)
    assert again.phases == {}
    assert "already compiled (in memory)" in str(again)


@pytest.mark.parametrize("options", [{"jit_compile": True}, {"reduce_retracing": True}])
def test_a_cold_call_traces_anew_and_leaves_what_was_traced(options: dict[str, bool]) -> None:
    f, x = tf.function(step, **options), tf.ones(5)
    f(x)
    names = {"f": f, "x": x}
    result = ipyjaxbench.measure_code("f(x)", names, budget=0.05, fresh=True)
    assert result.compilations == 0
    assert result.fresh is not None
    assert result.fresh.cleared == ()
    assert [(p.name, p.origin) for p in result.fresh.programs] == [("step", "traced")]
    assert ("compile" in result.fresh.phases) == ("jit_compile" in options)
    assert names["f"] is f
    assert f.experimental_get_tracing_count() == 1
    f(x)
    assert f.experimental_get_tracing_count() == 1


def test_a_function_that_no_name_holds_keeps_its_traces_and_is_told() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.step = tf.function(step)

    names = {"t": Trainer(), "x": tf.ones(3)}
    result = ipyjaxbench.measure_code("t.step(x)", names, budget=0.02, fresh=True)
    assert result.fresh is not None
    assert result.fresh.seconds is None
    assert result.fresh.cleared == ("step kept its traces", "nothing was recompiled")


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
    assert noted.experimental_get_tracing_count() == 1
    assert unchanged == []


def test_a_function_that_cannot_be_made_anew_is_called_as_it_is_and_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    f = tf.function(step)
    monkeypatch.setattr(f, "_clone", None)
    with isolate_traces() as unchanged:
        assert float(f(tf.zeros(2))) == 0.0
    assert unchanged == ["step"]
    assert f.experimental_get_tracing_count() == 1
    with clones({"f": f}, []) as cold:
        assert dict(cold.stand_ins) == {}
        assert cold.caveats == ["f kept its traces"]


def test_the_original_of_a_tf_function_is_known() -> None:
    adapter = next(f for f in loaded()[0] if isinstance(f, TensorFlow))
    assert adapter.capability(Compilation).original(tf.function(step)) is step
    assert adapter.capability(Compilation).original(step) is None
