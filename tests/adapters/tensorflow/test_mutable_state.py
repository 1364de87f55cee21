"""What is remembered of TensorFlow's values, so that what a call changes is put back."""

from typing import Any

import pytest
import tensorflow as tf
from tensorflow.python.eager import context as tf_context

from ipyjaxbench.adapters.tensorflow import TensorFlow
from ipyjaxbench.adapters.tensorflow.state import TensorFlowState, Variable
from ipyjaxbench.frameworks import CopyBudget, MutableState
from tests.left import Cell, check_left
from tests.shell import Shell


def state() -> TensorFlowState:
    tf.ones(1)
    return TensorFlow().capability(MutableState)  # type: ignore[return-value]


def variables(variable: Any, budget: CopyBudget | None = None) -> Any:
    (found,) = state().states(variable, budget or CopyBudget()) or ()
    assert isinstance(found, Variable)
    return found


def test_the_value_of_a_variable_is_put_back() -> None:
    variable = tf.Variable([1.0, float("nan")])
    kept, small = variables(variable), variables(variable, CopyBudget(most=0))
    assert (kept.nbytes, kept.changed()) == (8, False)
    assert (small.can_restore, small.changed()) == (False, False)  # there is no memory for a copy
    variable.assign([1.0, 2.0])
    assert (kept.changed(), small.changed()) == (True, True)
    kept.restore()
    assert (kept.changed(), small.changed(), variable.numpy()[0]) == (False, False, 1.0)


@pytest.mark.parametrize("kind", [tf.int64, tf.string])
def test_a_dense_table_is_put_back_with_its_buckets_and_removed_keys(kind: Any) -> None:
    def of(*names: str) -> Any:
        return tf.constant([int(each) for each in names] if kind == tf.int64 else names, kind)

    empty, deleted = of("8", "9").numpy()
    table = tf.lookup.experimental.DenseHashTable(
        kind, tf.int64, -1, empty, deleted, initial_num_buckets=8
    )
    table.insert(of("1", "2", "3"), [10, 20, 30])
    table.remove(of("2"))

    def buckets() -> list[Any]:
        return [each.numpy().tolist() for each in table.export()]

    (kept,) = state().states(table, CopyBudget()) or ()
    (small,) = state().states(table, CopyBudget(most=0)) or ()
    before = buckets()
    for change in (of("4"), of("2"), of(*(str(n) for n in range(10, 40)))):  # the last has it grow
        table.insert(change, range(len(change)))
        table.remove(of("1"))
        assert (kept.changed(), small.changed(), small.can_restore) == (True, True, False)
        kept.restore()
        assert (buckets(), kept.changed(), int(table.size())) == (before, False, 2)
        assert table.lookup(of("1", "2", "3")).numpy().tolist() == [10, -1, 30]


def test_another_shape_of_the_same_numbers_is_a_change() -> None:
    variable = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))
    kept = variables(variable)
    variable.assign([[1.0], [2.0]])
    assert kept.changed()
    kept.restore()
    assert (variable.shape.rank, variable.numpy().tolist()) == (None, [1.0, 2.0])


def test_what_never_changes_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = TensorFlow()
    found = adapter.capability(MutableState)
    for value in (tf.ones(2), tf.float32, tf.TensorSpec((2,))):
        assert found.states(value, CopyBudget()) == []
    assert found.states(tf.Module(), CopyBudget()) is found.states([1], CopyBudget()) is None
    variable = tf.Variable(1.0)
    with tf.Graph().as_default():  # one that is being made: it has no value yet
        assert found.states(variable, CopyBudget()) == []
    monkeypatch.setattr(adapter, "started", lambda: False)
    assert found.random_state([]) is found.states(tf.ones(1), CopyBudget()) is None


def test_repetitions_draw_other_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    tf.random.set_seed(42)
    first = float(tf.random.normal([]))
    tf.random.set_seed(42)
    restore = state().random_state([], later=True)
    assert restore is not None
    assert float(tf.random.normal([])) != first
    restore()
    assert float(tf.random.normal([])) == first
    monkeypatch.setitem(vars(tf_context.context()), "_rng", None)  # no seed was set
    generator = tf.random.Generator.from_seed(1)
    restore = state().random_state([generator], later=True)
    assert restore is not None
    numbers = generator.normal((2,)).numpy().tolist()
    restore()
    assert generator.normal((2,)).numpy().tolist() == numbers


def test_a_function_that_draws_from_a_seed_moves_unseen() -> None:
    def draw(*_: Any) -> Any:
        return tf.random.uniform([], seed=1)

    def plain() -> Any:
        return tf.ones([])

    def loop() -> Any:
        return tf.while_loop(lambda i, _: i < 3, lambda i, _: (i + 1, draw()), (0, 0.0))

    def choose() -> Any:
        return tf.cond(tf.ones([]) > 0, draw, plain)

    functions = [tf.function(each) for each in (draw, loop, choose, tf.function(draw), plain)]
    assert not any(map(state().moves_unseen, functions))  # none is traced
    for function in functions:
        function()
    assert [*map(state().moves_unseen, functions)] == [True] * 4 + [False]
    assert not state().moves_unseen(len)


def test_methods_of_variables_change_in_place() -> None:
    methods = ("assign", "assign_add", "assign_sub", "numpy")
    assert [state().changes_in_place(each) for each in methods] == [True, True, True, False]


TF, KERAS = "import tensorflow as tf", "import keras; first = keras.layers.Dense(3).name"
NEXT = "int(keras.layers.Dense(3).name.split('_')[1]) - int((first + '_0').split('_')[1])"
TABLE = f"{TF}; t = tf.lookup.experimental.MutableHashTable"
CELLS = {
    "a queue": Cell(f"{TF}; q = tf.queue.FIFOQueue(99, [tf.float32])", "q.enqueue(1.0)", "0",
                    told="q"),
    "a table": Cell(f"{TABLE}(tf.int64, tf.int64, -1); t.insert([7], [7])",
                    "t.insert([tf.cast(t.size(), tf.int64)], [1])",
                    "sorted(t.export()[0].numpy().tolist())"),
    "a table of strings": Cell(f"{TABLE}(tf.string, tf.int64, -1)",
                               "t.insert(['a'], t.lookup(['a']) + 1)",
                               "t.export()[1].numpy().tolist()"),
    "a dense table": Cell(
        f"{TF}; t = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, -1, -2)",
        "t.insert([tf.cast(t.size(), tf.int64)], [1])",
        "(sorted(t.export()[0].numpy().ravel().tolist()), int(t.size()))"),
    "names of layers": Cell(f"{KERAS}; from keras.layers import Dense", "Dense(3)", NEXT),
    "the same by TensorFlow": Cell(f"{KERAS}; {TF}", "tf.keras.layers.Dense(3)", NEXT),
    "epsilon": Cell("import keras", "keras.config.set_epsilon(keras.config.epsilon() * 2)",
                    "keras.config.epsilon()", "keras.config.set_epsilon(1e-7)"),
    "functions run eagerly": Cell(
        f"{TF}; n = 0", "n += 1; tf.config.run_functions_eagerly(n < 2)",
        "tf.config.functions_run_eagerly()", "tf.config.run_functions_eagerly(False)"),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.filterwarnings("ignore")
def test_what_is_left_is_as_after_one_run_or_told(shell: Shell, name: str) -> None:
    check_left(shell, CELLS[name])
