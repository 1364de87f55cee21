"""What calls change of TensorFlow's and Keras's is as after one run, or told by name."""

import pytest

from tests.left import Cell, check_left
from tests.shell import Shell

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
        "t.insert([tf.cast(t.size(), tf.int64)], [1])", "0", told="t"),
    "names of layers": Cell(KERAS, "keras.layers.Dense(3)", NEXT),
    "the same by name": Cell(f"{KERAS}; from keras.layers import Dense", "Dense(3)", NEXT),
    "the same by TensorFlow": Cell(f"{KERAS}; {TF}", "tf.keras.layers.Dense(3)", NEXT),
    "epsilon": Cell("import keras", "keras.config.set_epsilon(keras.config.epsilon() * 2)",
                    "keras.config.epsilon()", "keras.config.set_epsilon(1e-7)"),
    "functions run eagerly": Cell(
        f"{TF}; n = 0", "n += 1; tf.config.run_functions_eagerly(n < 2)",
        "tf.config.functions_run_eagerly()", "tf.config.run_functions_eagerly(False)"),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.filterwarnings("ignore")
def test_it_is_as_after_one_run_or_told(shell: Shell, name: str) -> None:
    check_left(shell, CELLS[name])
