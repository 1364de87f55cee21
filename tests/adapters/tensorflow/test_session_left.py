"""What calls change of TensorFlow's and Keras's is as after one run, or told by name."""

import pytest
import tensorflow  # noqa: F401  changes the environment when it is loaded

from tests.left import Cell, check_left
from tests.shell import Shell

TF = "import tensorflow as tf; tf.constant(1)"
DENSE = "tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2)"


def toggled(read: str, write: str) -> Cell:
    """A setting that is turned on and off."""
    return Cell(f"{TF}; was = tf.{read}()", f"tf.{write}(not tf.{read}())", f"tf.{read}()",
                f"tf.{write}(was)")  # fmt: skip


SEED = f"{TF}; tf.random.set_seed(3)"
NO_SEED = f"{TF}; tf.random.set_seed(None)"
DRAWS = """
@tf.function
def f(): return tf.random.normal((1,))
@tf.function
def g(): return f()
class M:
    @tf.function
    def draw(self): return tf.random.normal((1,))
m = M(); _ = f(), g(), m.draw()"""
ORDER = f"{SEED}; ds = tf.data.Dataset.range(20).shuffle(20, seed=4"
DATA = f"""{TF}; L, items = [], (i for i in range(10**6))
one = tf.TensorSpec((), tf.int32)
once = tf.data.Dataset.from_generator(lambda: items, output_signature=one)
def gen():
    for i in range(3): L.append(i); yield i
again = tf.data.Dataset.from_generator(gen, output_signature=one)
def keep(x): L.append(1); return x
mapped = tf.data.Dataset.range(3).map(lambda x: tf.py_function(keep, [x], tf.int64)).batch(2)
both = tf.data.Dataset.zip((again, mapped.prefetch(1)))
def run(): return [*both]"""

CELLS = {
    "a generator": Cell(DATA, "next(iter(once))", "0", told="items"),
    **{code: Cell(DATA, code, "len(L)")
       for code in ("[*again]", "for x in mapped: pass", "run()", "[*again.as_numpy_iterator()]")},
    "an array of tensors": Cell(
        f"{TF}; a = tf.TensorArray(tf.float32, 1, dynamic_size=True); l = [a]",
        "l[0] = l[0].write(l[0].size(), 1.)", "int(l[0].size())"),
    "the step of summaries": Cell(
        f"{TF}; s = tf.summary.experimental; s.set_step(0)", "s.set_step(s.get_step() + 1)",
        "s.get_step()", "s.set_step(None)"),
    "attributes of a variable": Cell(f"{TF}; v = tf.Variable(1.); v.n, v.l = 0, []",
                                     "v.n += 1; v.l.append(1)", "v.n, v.l"),
    "attributes of a tensor": Cell(f"{TF}; t = tf.constant(1.); t.n = 0", "t.n += 1", "t.n"),
    "attributes of a module": Cell(
        f"{TF}\nclass M(tf.Module):\n    n = 0\n    def go(self): self.n += 1; self.l.append(1)\n"
        "m = M(); m.l = []", "m.go()", "m.n, [*m.l]"),
    "attributes of layers": Cell(
        "import keras; d = keras.layers.Dense(2); d.n, d.l = 0, []", "d.n += 1; d.l.append(1)",
        "d.n, [*d.l]"),
    "numbers in a function": Cell(f"{SEED}{DRAWS}", "f()", "0", told="f"),
    "numbers in one that it calls": Cell(f"{SEED}{DRAWS}", "g()", "0", told="g"),
    "numbers in a loop": Cell(
        f"{SEED}\n@tf.function\ndef f():\n    t = tf.zeros(())\n    for i in tf.range(3):\n"
        "        t += tf.random.normal(())\n    return t\n_ = f()", "f()", "0", told="f"),
    "numbers in a method": Cell(f"{SEED}{DRAWS}", "m.draw()", "0", told="m"),
    "numbers by a seed of their own": Cell(
        f"{NO_SEED}{DRAWS.replace('(1,)', '(1,), seed=3')}", "f()", "0", told="f"),
    "numbers without a seed": Cell(f"{NO_SEED}{DRAWS}", "f()", "0"),
    "numbers without a state": Cell(
        f"{SEED}\n@tf.function\ndef f(): return tf.random.stateless_normal((1,), (1, 2))\n_ = f()",
        "f()", "float(f()[0])"),
    "numbers of Keras": Cell("import keras; keras.utils.set_random_seed(3)",
                             "keras.random.normal((1,))", "float(keras.random.normal((1,))[0])"),
    "those in a function": Cell(
        "import keras, tensorflow as tf; keras.utils.set_random_seed(3)\n@tf.function\n"
        "def f(): return keras.random.normal((1,))\n_ = f()", "f()", "float(f()[0])"),
    "an order": Cell(f"{ORDER}).batch(2)", "for x in ds: pass", "0", told="ds"),
    "an order that stays": Cell(f"{ORDER}, reshuffle_each_iteration=False)", "for x in ds: pass",
                                "[int(x) for x in ds]"),
    "an order without a seed": Cell(f"{NO_SEED}; ds = tf.data.Dataset.range(20).shuffle(20)",
                                    "for x in ds: pass", "0"),
    "an average of variables": Cell(
        f"{TF}; ema = tf.train.ExponentialMovingAverage(.5); v = tf.Variable(4.); ema.apply([v])",
        "v.assign_add(1.); ema.apply([v])", "float(ema.average(v)), float(v)"),
    "variables that are keys": Cell(
        f"{TF}; v = tf.Variable(4.); d = {{v.ref(): 1}}\n"
        "def f():\n    for each in d: each.deref().assign_add(1.)", "f()", "float(v)"),
    "a string": Cell(f"{TF}; v = tf.Variable('a')", "v.assign(v + 'b')", "v.numpy()"),
    "strings": Cell(f"{TF}; v = tf.Variable(['a', 'bc'], shape=[None])",
                    "v.assign(tf.concat([v, v + 'd'], 0))", "v.numpy().tolist()"),
    "a table": Cell(f"{TF}; t = {DENSE}; t.insert(5, 0)", "t.insert(5, t.lookup(5) + 1)",
                    "int(t.lookup(tf.constant(5, tf.int64)))"),
    "eager functions": toggled("config.functions_run_eagerly", "config.run_functions_eagerly"),
    "soft placement": toggled("config.get_soft_device_placement",
                              "config.set_soft_device_placement"),
    "tf32": toggled("config.experimental.tensor_float_32_execution_enabled",
                    "config.experimental.enable_tensor_float_32_execution"),
    "jit": Cell(f"{TF}; o = tf.config.optimizer",
                "o.set_jit('' if o.get_jit() else 'autoclustering')", "o.get_jit()",
                "o.set_jit('')"),
    "the optimizer's options": Cell(
        f"{TF}; o = tf.config.optimizer; o.set_experimental_options({{'remapping': False}})",
        "o.set_experimental_options({'remapping': not"
        " o.get_experimental_options().get('remapping')})", "o.get_experimental_options()",
        "o.set_experimental_options({'remapping': True})"),
    "the logger": Cell(f"{TF}; level = tf.get_logger().level",
                       "tf.get_logger().setLevel(tf.get_logger().level + 1)",
                       "tf.get_logger().level", "tf.get_logger().setLevel(level)"),
    "the policy of Keras": Cell(
        "import keras; k = keras.mixed_precision; names = ['float32', 'float16', 'mixed_bfloat16'];"
        " to = dict(zip(names, [*names[1:], names[0]]))",
        "k.set_dtype_policy(to[k.dtype_policy().name])", "k.dtype_policy().name",
        "k.set_dtype_policy('float32')"),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_it_is_as_after_one_run_or_told(shell: Shell, name: str) -> None:
    check_left(shell, CELLS[name])
