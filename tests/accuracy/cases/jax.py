"""JAX: asynchronous, compiled at first use. The post's lines are those of "JAX Basics"."""

from tests.accuracy.case import Case

_JAX = """
import jax, jax.numpy as jnp, numpy as np, time
place = jax.devices()[0].device_kind
side = 800 if jax.default_backend() == "cpu" else 2000
x = jax.random.normal(jax.random.key(0), (side, side)); x.block_until_ready()
small = jnp.ones(8).block_until_ready()
step = jax.jit(lambda a: jnp.tanh(a @ a)); step(x).block_until_ready()
tiny = jax.jit(lambda a: a + 1); tiny(small).block_until_ready()
def sync():
    tiny(small).block_until_ready(); jax.effects_barrier()
"""
_SELU = (
    _JAX
    + """
def selu(x, alpha=1.67, lmbda=1.05):
    return lmbda * jax.numpy.where(x > 0, x, alpha * jax.numpy.exp(x) - alpha)
selu(x).block_until_ready(); jax.jit(selu)(x).block_until_ready()
jax_dot = jax.jit(lambda x: jax.numpy.dot(x, x.T)); jax_dot(x).block_until_ready()
"""
)
_POST_FIRST = "import jax; jax.clear_caches()\n" + _JAX
_TREE = (
    _JAX
    + """
tree = {f"w{i}": jnp.full(64, 1.0 * i) for i in range(100)}
decay = jax.jit(lambda t: jax.tree.map(lambda a: a * 0.9, t)); jax.block_until_ready(decay(tree))
"""
)
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
number = globals().get("number") or itertools.count()
k = float(next(number))
fresh = jax.jit(lambda a: jnp.tanh(a @ a) * k + jnp.sin(a).sum())
"""
)
_GRAD = (
    _JAX
    + """
rows = x[:64]
def loss(w, rows): return jnp.mean(jnp.tanh(rows @ w) ** 2)
grads = jax.jit(jax.grad(loss)); grads(x, rows).block_until_ready()
def length(row): return jnp.sqrt(jnp.sum(row * row))
jax.vmap(length)(rows).block_until_ready()
"""
)
_CONTROL = (
    _JAX
    + """
w = x[:64, :64]
def turn(carry, _): return jnp.tanh(carry @ w), carry.sum()
scanned = jax.jit(lambda a: jax.lax.scan(turn, a, None, length=50))
jax.block_until_ready(scanned(w))
branch = jax.jit(lambda flag, a: jax.lax.cond(flag, lambda b: b @ b, lambda b: b + 1, a))
branch(True, w).block_until_ready()
"""
)
_HOST = (
    _JAX
    + """
doubles = np.random.default_rng(0).random((side, side)); singles = doubles.astype(np.float32)
step(doubles).block_until_ready()
scaled = jax.jit(lambda a, n, k: a * n + k); scaled(small, 3, 2.5).block_until_ready()
"""
)

JAX = (
    Case("post: product", "jnp.dot(x, x.T)", "jnp.dot(x, x.T).block_until_ready()", _JAX),
    Case("post: first call of it", "jax.numpy.dot(x, x.T)",
         "jax.numpy.dot(x, x.T).block_until_ready()", _POST_FIRST, first=True),
    Case("post: waited for by hand", "jax.numpy.dot(x, x.T).block_until_ready()", setup=_JAX),
    Case("post: to NumPy", "np.array(jax.numpy.dot(x, x.T).block_until_ready())", setup=_JAX),
    Case("post: jitted product", "jax_dot(x).block_until_ready().device", setup=_SELU),
    Case("post: selu", "selu(x).block_until_ready()", setup=_SELU),
    Case("post: jit in the loop", "jax.jit(selu)(x).block_until_ready()", setup=_SELU),
    Case("jitted", "step(x)", "step(x).block_until_ready()", _JAX, coverage=True),
    Case("pytree of 100", "decay(tree)", "jax.block_until_ready(decay(tree))", _TREE),
    Case("left in a dictionary", "d['y'] = step(x)", "d['y'] = step(x); d['y'].block_until_ready()",
         _JAX + "d = {}"),
    Case("in a plain object", "boxed(x)", "boxed(x).value.block_until_ready()", _BOX),
    Case("result dropped", "step(x); None", "step(x).block_until_ready()", _JAX),
    Case("assignment", "y = step(x)", "y = step(x); y.block_until_ready()", _JAX),
    Case("debug callback", "called(small)", "called(small); jax.effects_barrier()", _CALLBACK),
    Case("after unfinished work", "tiny(small)", "tiny(small).block_until_ready()", _JAX,
         dirt="for _ in range(8): step(step(x))"),
    Case("tiny jitted op", "tiny(small)", "tiny(small).block_until_ready()", _JAX, coverage=True),
    Case("tiny eager op", "small + 1", "(small + 1).block_until_ready()", _JAX),
    Case("donated, carried", "params = update(params)",
         "params = update(params); params.block_until_ready()", _DONATE),
    Case("lambda jitted in the loop", "jax.jit(lambda a: a * 2)(small)",
         "jax.jit(lambda a: a * 2)(small).block_until_ready()", _JAX),
    Case("first call of jit", "fresh(x)", "fresh(x).block_until_ready()", _FRESH, first=True),
    Case("gradient", "grads(x, rows)", "grads(x, rows).block_until_ready()", _GRAD),
    Case("vmap, not jitted", "jax.vmap(length)(rows)",
         "jax.vmap(length)(rows).block_until_ready()", _GRAD),
    Case("scan", "scanned(w)", "jax.block_until_ready(scanned(w))", _CONTROL),
    Case("cond", "branch(True, w)", "branch(True, w).block_until_ready()", _CONTROL),
    Case("random numbers", "jax.random.normal(jax.random.key(1), (side,))",
         "jax.random.normal(jax.random.key(1), (side,)).block_until_ready()", _JAX),
    Case("Python numbers", "scaled(small, 3, 2.5)", "scaled(small, 3, 2.5).block_until_ready()",
         _HOST),
    Case("NumPy doubles, x64 off", "step(doubles)", "step(doubles).block_until_ready()", _HOST),
    Case("device_put", "jax.device_put(singles)", "jax.device_put(singles).block_until_ready()",
         _HOST),
)  # fmt: skip
