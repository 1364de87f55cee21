"""JAX, PyTorch and TensorFlow."""

from tests.accuracy.ordinary.library import Library

_JAX_SETUP = """
import jax, jax.numpy as jnp
from jax import lax, random as jr
jx_key = jr.key(0)
jx_x = jr.normal(jx_key, (200, 200))
jx_y = jr.normal(jr.key(1), (200, 200))
jx_v = jr.normal(jr.key(2), (10_000,))
jx_i = jr.randint(jr.key(3), (10_000,), 0, 100)
jx_params = {"w": jr.normal(jr.key(4), (200, 50)) * 0.1, "b": jnp.zeros(50)}
jx_spd = jx_x @ jx_x.T + 200 * jnp.eye(200)
@jax.jit
def jx_layer(p, x):
    return jnp.tanh(x @ p["w"] + p["b"])
def jx_loss(p, x):
    return jnp.mean(jx_layer(p, x) ** 2)
jx_grad = jax.jit(jax.grad(jx_loss))
jx_vg = jax.jit(jax.value_and_grad(jx_loss))
jx_norm = jax.jit(lambda x: jnp.sqrt((x * x).sum()))
jx_batched = jax.jit(jax.vmap(lambda r: jnp.dot(r, r)))
@jax.jit
def jx_step(p, x):
    g = jax.grad(jx_loss)(p, x)
    return jax.tree.map(lambda w, d: w - 0.01 * d, p, g)
@jax.jit
def jx_scan(x):
    return lax.scan(lambda c, r: (c + r, c.sum()), jnp.zeros(200), x)
def jx_turn(i, c):
    return c + i
@jax.jit
def jx_softmax(x):
    return jax.nn.softmax(x, axis=-1)
@jax.jit
def jx_noisy(key, x):
    key, own = jr.split(key)
    return key, x + jr.normal(own, x.shape)
"""

_JAX = """
jnp.dot(jx_x, jx_y)
jx_x @ jx_y
jx_x + 1
jx_x.T
jx_v.sum()
jnp.mean(jx_x, axis=0)
jnp.sort(jx_v)
jnp.argmax(jx_v)
jnp.exp(jx_v)
jnp.where(jx_v > 0, jx_v, 0)
jnp.concatenate([jx_v, jx_v])
jnp.linalg.norm(jx_x)
jnp.linalg.cholesky(jx_spd)
jnp.linalg.solve(jx_spd, jx_x[0])
jnp.einsum("ij,kj->ik", jx_x, jx_y)
jnp.cumsum(jx_v)
jnp.zeros((100, 100))
jnp.arange(1000)
jnp.asarray([1.0, 2.0, 3.0])
jx_v[jx_i]
jx_x[0]
jx_x.at[0].set(1.0)
jr.normal(jx_key, (1000,))
jr.split(jx_key)
jx_layer(jx_params, jx_x)
jx_layer(jx_params, jx_x).block_until_ready()
jx_norm(jx_x)
jx_norm(jx_x).block_until_ready()
float(jx_norm(jx_x))
jx_grad(jx_params, jx_x)
jx_vg(jx_params, jx_x)
jx_batched(jx_x)
jx_step(jx_params, jx_x)
jx_scan(jx_x)
jx_softmax(jx_x)
jax.vmap(jnp.dot)(jx_x, jx_y)
jax.nn.relu(jx_x)
jax.tree.map(lambda w: w * 2, jx_params)
jax.tree.leaves(jx_params)
jax.device_get(jx_x)
lax.fori_loop(0, 10, jx_turn, 0)
jx_out = jx_layer(jx_params, jx_x)
jx_value, jx_grads = jx_vg(jx_params, jx_x)
jax.block_until_ready(jx_step(jx_params, jx_x))
jnp.fft.fft(jx_v)
jx_x.astype(jnp.bfloat16)
jnp.unique(jx_i)
jx_noisy(jx_key, jx_x)
jx_next, jx_noise = jx_noisy(jx_key, jx_x)
"""

_TORCH_SETUP = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
pt_x = torch.randn(200, 200)
pt_y = torch.randn(200, 200)
pt_v = torch.randn(10_000)
pt_i = torch.randint(0, 100, (10_000,))
pt_spd = pt_x @ pt_x.T + 200 * torch.eye(200)
pt_model = nn.Sequential(nn.Linear(200, 64), nn.ReLU(), nn.Linear(64, 10)).eval()
pt_conv = nn.Conv2d(3, 8, 3).eval()
pt_img = torch.randn(4, 3, 32, 32)
pt_target = torch.randint(0, 10, (200,))
pt_emb = nn.Embedding(100, 16)
def pt_predict(x):
    with torch.no_grad():
        return pt_model(x).argmax(-1)
"""

_TORCH = """
pt_x @ pt_y
torch.mm(pt_x, pt_y)
pt_x + 1
pt_x.t()
pt_v.sum()
pt_x.mean(0)
pt_v.sum().item()
torch.sort(pt_v)
pt_v.sort()
pt_v.argmax()
torch.exp(pt_v)
torch.sin(pt_v) * 2
torch.where(pt_v > 0, pt_v, 0.0)
torch.cat([pt_v, pt_v])
torch.stack([pt_v, pt_v])
torch.linalg.norm(pt_x)
torch.linalg.cholesky(pt_spd)
torch.linalg.solve(pt_spd, pt_x)
torch.einsum("ij,kj->ik", pt_x, pt_y)
torch.cumsum(pt_v, 0)
torch.zeros(100, 100)
torch.arange(1000)
torch.tensor([1.0, 2.0, 3.0])
torch.randn(1000)
pt_v[pt_i]
pt_x[0]
pt_x.clone()
pt_x.numpy()
pt_x.to(torch.float64)
pt_x.reshape(-1)
pt_v.topk(5)
torch.bincount(pt_i)
torch.unique(pt_i)
F.relu(pt_x)
F.softmax(pt_x, dim=-1)
F.layer_norm(pt_x, (200,))
F.cross_entropy(pt_x[:, :10], pt_target)
F.max_pool2d(pt_img, 2)
pt_predict(pt_x)
torch.fft.fft(pt_v)
torch.allclose(pt_x, pt_y)
pt_out = pt_x @ pt_y
pt_x.max(dim=1)
pt_x.std()
"""

_TF_SETUP = """
import tensorflow as tf
tf.random.set_seed(0)
tf_x = tf.random.normal((200, 200))
tf_y = tf.random.normal((200, 200))
tf_v = tf.random.normal((10_000,))
tf_i = tf.random.uniform((10_000,), 0, 100, tf.int32)
tf_img = tf.random.normal((4, 32, 32, 3))
tf_kernel = tf.random.normal((3, 3, 3, 8))
tf_spd = tf_x @ tf.transpose(tf_x) + 200 * tf.eye(200)
tf_var = tf.Variable(tf_x)
tf_dense = tf.keras.layers.Dense(32)
tf_dense(tf_x)
tf_model = tf.keras.Sequential([tf.keras.layers.Dense(32, "relu"), tf.keras.layers.Dense(10)])
tf_model(tf_x)
@tf.function
def tf_layer(x):
    return tf.tanh(tf.matmul(x, tf_y))
@tf.function(jit_compile=True)
def tf_fused(x):
    return tf.reduce_sum(tf.nn.relu(x) * 2)
def tf_gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_mean(x * x)
    return tape.gradient(loss, x)
"""

_TF = """
tf.matmul(tf_x, tf_y)
tf_x @ tf_y
tf_x + 1
tf.transpose(tf_x)
tf.reduce_sum(tf_v)
tf.reduce_mean(tf_x, axis=0)
tf.reduce_sum(tf_v).numpy()
tf.sort(tf_v)
tf.argmax(tf_v)
tf.exp(tf_v)
tf.where(tf_v > 0, tf_v, 0.0)
tf.concat([tf_v, tf_v], 0)
tf.stack([tf_v, tf_v])
tf.norm(tf_x)
tf.linalg.cholesky(tf_spd)
tf.linalg.solve(tf_spd, tf_x)
tf.einsum("ij,kj->ik", tf_x, tf_y)
tf.cumsum(tf_v)
tf.zeros((100, 100))
tf.range(1000)
tf.constant([1.0, 2.0, 3.0])
tf.random.normal((1000,))
tf.gather(tf_v, tf_i)
tf_x[0]
tf_x.numpy()
tf.cast(tf_x, tf.float64)
tf.reshape(tf_x, (-1,))
tf.math.top_k(tf_v, 5)
tf.unique(tf_i)
tf.nn.relu(tf_x)
tf.nn.softmax(tf_x)
tf.nn.conv2d(tf_img, tf_kernel, 1, "SAME")
tf.one_hot(tf_i, 100)
tf_layer(tf_x)
tf_fused(tf_x)
tf_gradient(tf_x)
tf_dense(tf_x)
tf_model(tf_x)
tf_var + 1
tf_var.read_value()
tf_out = tf.matmul(tf_x, tf_y)
tf.image.flip_left_right(tf_img)
"""

TENSORS = (
    Library("jax", _JAX_SETUP, _JAX, wait="jax.block_until_ready(_)"),
    Library("torch", _TORCH_SETUP, _TORCH),
    Library("tensorflow", _TF_SETUP, _TF),
)
