"""Cells of PyTorch, JAX and its libraries, TensorFlow and Keras."""

from tests.accuracy.left.cells import Cells

# ruff: noqa: E501  # a cell is a line

_TORCH_SETUP = """
import torch, torch.utils.hooks
torch.manual_seed(0)
torch.utils.hooks.RemovableHandle.next_id = 0
x, y = torch.arange(4.0), torch.ones(4)
w = torch.ones(3, requires_grad=True)
model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Dropout(0.5))
sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
adam = torch.optim.AdamW(model.parameters(), lr=0.1)
data = torch.randn(8, 4)
def step(opt):
    opt.zero_grad()
    loss = model(data).square().mean()
    loss.backward()
    opt.step()
    return loss
"""
_TORCH = r"""
|| x += 1
|| x.add_(1)
|| x[0] += 1
|| x.zero_().add_(y)
|| x.resize_(x.numel() + 1).fill_(1)
|| x.data = x.data + 1
|| x.set_(torch.cat([x, y]))
|| torch.add(x, y, out=x)
|| x = x * 2
|| x.requires_grad_(not x.requires_grad)
v = x[1:] || v.mul_(2)
v = x.view(2, 2).T || v += 1
|| (w * 2).sum().backward()
|| w.grad = None if w.grad is not None else torch.ones(3)
with torch.no_grad(): pass || w.data.add_(1)
|| loss = step(sgd)
|| loss = step(adam)
|| model.train(not model.training)
|| model.zero_grad(); model(data).sum().backward()
|| model[0].weight.data.mul_(0.5)
|| model.double() if model[0].weight.dtype is torch.float32 else model.float()
|| model.append(torch.nn.ReLU())
|| model[0].register_buffer(f"b{len(model[0]._buffers)}", x)
|| model.load_state_dict({k: v + 1 for k, v in model.state_dict().items()})
sched = torch.optim.lr_scheduler.StepLR(sgd, 1) || sched.step()
emb = torch.nn.Embedding(9, 3, sparse=True); i = torch.tensor([1, 2]) || emb(i).sum().backward()
sp = torch.eye(3).to_sparse() || sp.mul_(2)
sp = torch.eye(3).to_sparse_csr() || sp.mul_(2)
g = torch.Generator().manual_seed(1) || torch.rand(3, generator=g)
|| z = torch.rand(3)
|| torch.manual_seed(7)
m = torch.ones(3, device="meta") || m.add_(1)
b = torch.zeros(3, dtype=torch.bfloat16) || b += 1
c = torch.zeros(2, dtype=torch.complex64) || c += 1j
a = x.numpy() || a += 1
it = iter(torch.utils.data.DataLoader(torch.arange(10**6))) || batch = next(it) || || next(it).tolist()
seen = []; h = x.register_hook(seen.append) if x.requires_grad else w.register_hook(seen.append) || (w * 2).sum().backward()
seen = []; h = model.register_forward_hook(lambda *a: seen.append(1)) || out = model(data)
|| torch.set_default_dtype({torch.float32: torch.float64}.get(torch.get_default_dtype(), torch.float32)) || torch.set_default_dtype(torch.float32)
|| torch.set_grad_enabled(not torch.is_grad_enabled()) || torch.set_grad_enabled(True)
|| torch.set_float32_matmul_precision("high" if torch.get_float32_matmul_precision() == "highest" else "highest") || torch.set_float32_matmul_precision("highest")
|| torch.backends.cudnn.benchmark = not torch.backends.cudnn.benchmark || torch.backends.cudnn.benchmark = False
|| torch.set_num_threads(torch.get_num_threads() + 1) || torch.set_num_threads(2)
"""

_JAX_SETUP = """
import functools, jax, jax.numpy as jnp, numpy as np
x, key = jnp.arange(4.0), jax.random.key(0)
params = {"w": jnp.ones((4, 3)), "b": jnp.zeros(3)}
h = np.ones(4)
@jax.jit
def step(p, x):
    return jax.tree.map(lambda v: v * 0.9 + x.sum(), p)
@functools.partial(jax.jit, donate_argnums=0)
def donated(p):
    return jax.tree.map(lambda v: v + 1, p)
seen = []
def host(v):
    seen.append(1)
    return v
"""
_JAX = r"""
|| x = x + 1
|| x += 1
|| x = x.at[0].add(1)
|| params = step(params, x)
|| params["w"] = params["w"] + 1
|| params.update(step(params, x))
|| params = donated(params)
|| key, sub = jax.random.split(key); y = jax.random.normal(sub, (3,))
|| y = jax.pure_callback(host, jax.ShapeDtypeStruct((4,), x.dtype), x)
|| h += 1
log = [] || log.append(float(x.sum()))
|| y = host(x) * 2
r = jax.new_ref(jnp.zeros(3)) || r[...] += 1
|| jax.config.update("jax_default_matmul_precision", "high" if jax.config.jax_default_matmul_precision is None else None) || jax.config.update("jax_default_matmul_precision", None)
"""
_FLAX_SETUP = """
import jax, jax.numpy as jnp, optax
from flax import nnx
model = nnx.Sequential(nnx.Linear(4, 3, rngs=nnx.Rngs(0)), nnx.BatchNorm(3, rngs=nnx.Rngs(1)))
opt = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
rngs, x = nnx.Rngs(3), jnp.ones((5, 4))
@nnx.jit
def step(model, opt, x):
    loss, grads = nnx.value_and_grad(lambda m: (m(x) ** 2).mean())(model)
    opt.update(model, grads)
    return loss
v = nnx.Variable(jnp.zeros(3))
"""
_FLAX = r"""
|| loss = step(model, opt, x)
|| y = model(x)
|| k = rngs.dropout()
|| v[...] = v[...] + 1
|| v.value = v.value + 1
|| model.train() if model.layers[1].use_running_average else model.eval()
|| model.new = nnx.Param(x)
|| nnx.update(model, jax.tree.map(lambda a: a + 1, nnx.state(model, nnx.Param)))
"""
_OPTAX_SETUP = """
import jax, jax.numpy as jnp, optax
p, tx = {"w": jnp.ones(3)}, optax.adam(0.1)
state = tx.init(p)
"""
_OPTAX = r"""
|| u, state = tx.update(p, state, p); p = optax.apply_updates(p, u)
losses = [] || u, state = tx.update(p, state, p); losses.append(float(u["w"].sum()))
"""
_EQUINOX_SETUP = """
import equinox as eqx, jax, jax.numpy as jnp
model, x = eqx.nn.Linear(3, 2, key=jax.random.key(0)), jnp.ones(3)
@eqx.filter_jit
def step(m, x):
    return eqx.apply_updates(m, jax.tree.map(lambda v: -0.1 * v, eqx.filter(m, eqx.is_array)))
"""
_EQUINOX = r"""
|| model = step(model, x)
|| model = eqx.tree_at(lambda m: m.bias, model, model.bias + 1)
held = [model] || held.append(step(held[-1], x))
"""
_HAIKU_SETUP = """
import haiku as hk, jax, jax.numpy as jnp
f = hk.transform_with_state(lambda x: hk.BatchNorm(True, True, 0.9)(hk.Linear(3)(x), True))
x, seq = jnp.ones((4, 2)), hk.PRNGSequence(3)
p, s = f.init(jax.random.key(0), x)
"""
_HAIKU = r"""
|| y, s = f.apply(p, s, None, x)
|| k = next(seq)
|| p = jax.tree.map(lambda v: v * 0.9, p)
"""

_TENSORFLOW_SETUP = """
import tensorflow as tf
tf.random.set_seed(0)
v, x = tf.Variable([1.0, 2.0]), tf.constant([1.0, 2.0])
t = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
seen = []
@tf.function
def f(x):
    v.assign_add(x)
    return v * 2
"""
_TENSORFLOW = r"""
|| v.assign_add(x)
|| v.assign(v * 2)
|| v[0].assign(v[1] + 1)
|| x = x + 1
|| y = f(x)
s = tf.Variable("a") || s.assign(s + "b")
s = tf.Variable(["a"], shape=[None]) || s.assign(tf.concat([s, s[:1]], 0))
|| t.insert("a", t.lookup("a") + 1)
e = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2) || e.insert(5, e.lookup(5) + 1)
q = tf.queue.FIFOQueue(10**6, tf.float32, [()]) || q.enqueue(1.0)
g = tf.random.Generator.from_seed(1) || g.normal((3,))
|| y = tf.random.normal((3,))
|| seen.append(float(tf.reduce_sum(x)))
|| y = tf.py_function(lambda a: seen.append(1) or a, [x], tf.float32)
it = iter(tf.data.Dataset.range(10**6)) || next(it) || || int(next(it))
m = tf.Module(); m.v = v || m.v.assign_add(x); m.n = getattr(m, "n", 0) + 1
|| tf.config.run_functions_eagerly(not tf.config.functions_run_eagerly()) || tf.config.run_functions_eagerly(False)
|| tf.config.set_soft_device_placement(not tf.config.get_soft_device_placement()) || tf.config.set_soft_device_placement(True)
n = tf.get_logger().level || tf.get_logger().setLevel(tf.get_logger().level + 1) || tf.get_logger().setLevel(n)
"""
_KERAS_SETUP = """
import keras, numpy as np
keras.utils.set_random_seed(0)
keras.backend.clear_session()
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.BatchNormalization(),
                          keras.layers.Dropout(0.3), keras.layers.Dense(2)])
model.compile("adam", "mse", metrics=["mae"])
a, b = np.ones((16, 3), "float32"), np.ones((16, 2), "float32")
seen = []
"""
_KERAS = r"""
|| loss = model.train_on_batch(a, b)
|| h = model.fit(a, b, verbose=0)
|| y = model(a, training=True)
|| model.set_weights([w + 1 for w in model.get_weights()])
|| model.trainable = not model.trainable
|| model.optimizer.learning_rate = model.optimizer.learning_rate * 0.5
m = keras.metrics.Mean() || m.update_state(a)
g = keras.random.SeedGenerator(3) || y = keras.random.normal((3,), seed=g)
|| layer = keras.layers.Dense(3) || || layer.name
c = keras.callbacks.LambdaCallback(on_epoch_end=lambda *a: seen.append(1)) || h = model.fit(a, b, verbose=0, callbacks=[c])
|| keras.config.set_epsilon(keras.config.epsilon() * 2) || keras.config.set_epsilon(1e-7)
|| keras.mixed_precision.set_dtype_policy("float16" if keras.mixed_precision.dtype_policy().name == "float32" else "float32") || keras.mixed_precision.set_dtype_policy("float32")
"""

FRAMEWORKS = {
    "torch": (Cells("torch", _TORCH_SETUP, _TORCH),),
    "jax": (
        Cells("jax", _JAX_SETUP, _JAX),
        Cells("flax", _FLAX_SETUP, _FLAX),
        Cells("optax", _OPTAX_SETUP, _OPTAX),
        Cells("equinox", _EQUINOX_SETUP, _EQUINOX),
        Cells("haiku", _HAIKU_SETUP, _HAIKU),
    ),
    "tensorflow": (
        Cells("tensorflow", _TENSORFLOW_SETUP, _TENSORFLOW),
        Cells("keras", _KERAS_SETUP, _KERAS),
    ),
}
