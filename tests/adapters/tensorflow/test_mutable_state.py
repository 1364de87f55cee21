"""What is remembered of TensorFlow's values, so that what a call changes is put back."""

from typing import Any

import pytest
import tensorflow as tf
from tensorflow.python.eager import context as tf_context

from ipyjaxbench.adapters.tensorflow import TensorFlow
from ipyjaxbench.adapters.tensorflow.state import TensorFlowState, Variable
from ipyjaxbench.frameworks import CopyBudget, MutableState, loaded


def state() -> TensorFlowState:
    (adapter,) = (each for each in loaded()[0] if isinstance(each, TensorFlow))
    tf.ones(1)
    return adapter.capability(MutableState)  # type: ignore[return-value]


def variables(variable: Any, budget: CopyBudget | None = None) -> Any:
    (found,) = state().states(variable, budget or CopyBudget()) or ()
    assert isinstance(found, Variable)
    return found


def test_the_value_of_a_variable_is_put_back() -> None:
    variable = tf.Variable([1.0, float("nan")])
    kept = variables(variable)
    assert kept.nbytes == 8
    assert not kept.changed()
    variable.assign([1.0, 2.0])
    assert kept.changed()
    kept.restore()
    assert not kept.changed()
    assert variable.numpy()[0] == 1.0


def test_another_shape_of_the_same_numbers_is_a_change() -> None:
    variable = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))
    kept = variables(variable)
    variable.assign([[1.0], [2.0]])
    assert kept.changed()
    kept.restore()
    assert variable.shape.rank is None
    assert variable.numpy().tolist() == [1.0, 2.0]


def test_without_memory_for_a_copy_changes_are_noticed_all_the_same() -> None:
    variable = tf.Variable([1.0, 2.0])
    kept = variables(variable, CopyBudget(most=0))
    assert not kept.can_restore
    assert not kept.changed()
    variable.assign([1.0, 3.0])
    assert kept.changed()


def test_what_never_changes_is_left_alone_and_what_is_none_of_tensorflows_is_for_others() -> None:
    for value in (tf.ones(2), tf.float32, tf.TensorSpec((2,))):
        assert state().states(value, CopyBudget()) == []
    assert state().states(tf.Module(), CopyBudget()) is None
    assert state().states([1], CopyBudget()) is None
    variable = tf.Variable(1.0)
    with tf.Graph().as_default():  # one that is being made: it has no value yet
        assert state().states(variable, CopyBudget()) == []


def test_before_tensorflow_has_started_nothing_is_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    adapter = TensorFlow()
    monkeypatch.setattr(adapter, "started", lambda: False)
    found = adapter.capability(MutableState)
    assert found.random_state([]) is None
    assert found.states(tf.ones(1), CopyBudget()) is None


def test_repetitions_draw_other_numbers_and_the_users_next_one_is_the_same() -> None:
    tf.random.set_seed(42)
    first = float(tf.random.normal([]))
    tf.random.set_seed(42)
    restore = state().random_state([], later=True)
    assert restore is not None
    assert float(tf.random.normal([])) != first
    restore()
    assert float(tf.random.normal([])) == first


def test_without_a_seed_repetitions_have_none_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(tf_context.context()), "_rng", None)
    generator = tf.random.Generator.from_seed(1)
    restore = state().random_state([generator], later=True)
    assert restore is not None
    first = generator.normal((2,)).numpy().tolist()
    restore()
    assert generator.normal((2,)).numpy().tolist() == first


@pytest.mark.parametrize(
    ("method", "expected"), [("assign_add", True), ("assign", True), ("numpy", False)]
)
def test_methods_of_variables_change_in_place(method: str, expected: bool) -> None:
    assert state().changes_in_place(method) is expected
