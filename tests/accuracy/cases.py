"""The expressions: what a user types, and the truth with waiting written out by hand.

A case with ``first`` is of the first call: its set-up is run anew before each look, so that there
is something to compile.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One expression.

    Attributes:
        name: its line in the table.
        typed: what the user types after ``%fwtime`` and ``%timeit``.
        truth: the same with waiting by hand; run in a loop that reads the clock.
        setup: run once before.
        dirt: run before each look, to leave work running.
        first: whether the first call is compared instead of the steady state.
    """

    name: str
    typed: str
    truth: str
    setup: str = ""
    dirt: str = ""
    first: bool = False


PYTHON = (
    Case("pass", "pass", "pass"),
    Case("local arithmetic", "x + 1", "x + 1", "x = 3"),
    Case("assignment, tiny", "y = x + 1", "y = x + 1", "x = 3"),
    Case("sum(range(1000))", "sum(range(1000))", "sum(range(1000))"),
    Case("sorting", "sorted(xs)", "sorted(xs)", "xs = list(range(5000))[::-1]"),
    Case("carried name", "n = n + 1", "n = n + 1", "n = 0"),
)

NUMPY = (
    Case("tiny op", "a + 1", "a + 1", "import numpy as np; a = np.ones(8)"),
    Case("matmul", "np.dot(a, a)", "np.dot(a, a)", "import numpy as np; a = np.ones((400, 400))"),
)

_JAX = """
import jax, jax.numpy as jnp, numpy as np, time
x = jax.random.normal(jax.random.key(0), (700, 700)); x.block_until_ready()
small = jnp.ones(8).block_until_ready()
step = jax.jit(lambda a: jnp.tanh(a @ a)); step(x).block_until_ready()
tiny = jax.jit(lambda a: a + 1); tiny(small).block_until_ready()
"""
_TREE = _JAX + "tree = jax.jit(lambda a: {'a': a @ a, 'b': [a + i for i in range(8)]}); tree(x)"
_BOX = (
    _JAX
    + """
class Box: pass
def boxed(a):
    box = Box(); box.value = step(a); return box
"""
)
_CALLBACK = (
    _JAX
    + """
def slow(v): time.sleep(0.003)
@jax.jit
def called(a):
    jax.debug.callback(slow, a[0])
    return a + 1
called(small); jax.effects_barrier()
"""
)
_DONATE = (
    _JAX
    + """
from functools import partial
@partial(jax.jit, donate_argnums=0)
def update(p): return p - 0.001 * (p @ x)
params = update(jnp.array(x)); params.block_until_ready()
"""
)
_FRESH = (
    _JAX
    + """
import itertools
number = globals().get('number') or itertools.count()
k = float(next(number))
fresh = jax.jit(lambda a: jnp.tanh(a @ a) * k + jnp.sin(a).sum())
"""
)

JAX = (
    Case("matmul", "jnp.dot(x, x)", "jnp.dot(x, x).block_until_ready()", _JAX),
    Case("jitted", "step(x)", "step(x).block_until_ready()", _JAX),
    Case("pytree", "tree(x)", "jax.block_until_ready(tree(x))", _TREE),
    Case("left in a dictionary", "d['y'] = step(x)", "d['y'] = step(x); d['y'].block_until_ready()",
         _JAX + "d = {}"),
    Case("in a plain object", "boxed(x)", "boxed(x).value.block_until_ready()", _BOX),
    Case("result dropped", "step(x); None", "step(x).block_until_ready()", _JAX),
    Case("assignment", "y = step(x)", "y = step(x); y.block_until_ready()", _JAX),
    Case("debug callback", "called(small)", "called(small); jax.effects_barrier()", _CALLBACK),
    Case("after unfinished work", "tiny(small)", "tiny(small).block_until_ready()", _JAX,
         dirt="for _ in range(8): step(step(x))"),
    Case("tiny jitted op", "tiny(small)", "tiny(small).block_until_ready()", _JAX),
    Case("tiny eager op", "small + 1", "(small + 1).block_until_ready()", _JAX),
    Case("waited for by the user", "step(x).block_until_ready()", "step(x).block_until_ready()",
         _JAX),
    Case("copied to NumPy", "np.array(step(x))", "np.array(step(x))", _JAX),
    Case("donated, carried", "params = update(params)",
         "params = update(params); params.block_until_ready()", _DONATE),
    Case("jit in the loop, cached", "jax.jit(f)(small)", "jax.jit(f)(small).block_until_ready()",
         _JAX + "def f(a): return a * 2\njax.jit(f)(small)"),
    Case("jit in the loop, compiles", "jax.jit(lambda a: a * 2)(small)",
         "jax.jit(lambda a: a * 2)(small).block_until_ready()", _JAX),
    Case("first call of jit", "fresh(x)", "fresh(x).block_until_ready()", _FRESH, first=True),
)  # fmt: skip

_TORCH = """
import torch
a = torch.randn(500, 500); small = torch.ones(8)
net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
batch = torch.randn(64, 256)
"""
TORCH = (
    Case("matmul", "torch.matmul(a, a)", "torch.matmul(a, a)", _TORCH),
    Case("assignment", "y = torch.matmul(a, a)", "y = torch.matmul(a, a)", _TORCH),
    Case("tiny op", "small + 1", "small + 1", _TORCH),
    Case("module", "net(batch)", "net(batch)", _TORCH),
)

_TF = """
import tensorflow as tf
a = tf.random.normal((500, 500)); small = tf.ones(8)
g = tf.function(lambda z: tf.tanh(tf.matmul(z, z))); g(a)
"""
_TF_FRESH = _TF + "fresh = tf.function(lambda z: tf.tanh(tf.matmul(z, z)) + tf.sin(z))"
_TF_ASYNC = _TF + "tf.config.experimental.set_synchronous_execution(False)"
TENSORFLOW = (
    Case("matmul", "tf.matmul(a, a)", "tf.matmul(a, a)", _TF),
    Case("tf.function", "g(a)", "g(a)", _TF),
    Case("first call of tf.function", "fresh(a)", "fresh(a)", _TF_FRESH, first=True),
    Case("async executor", "tf.matmul(a, a)",
         "tf.matmul(a, a); tf.test.experimental.sync_devices()", _TF_ASYNC),
)  # fmt: skip

GROUPS = {"python": PYTHON, "numpy": NUMPY, "jax": JAX, "torch": TORCH, "tensorflow": TENSORFLOW}
