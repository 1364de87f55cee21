"""TensorFlow: done when it returns on the CPU, unless its executor was told otherwise."""

from tests.accuracy.case import Case

_TF = """
import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
if gpus: sync = tf.test.experimental.sync_devices
place = tf.config.experimental.get_device_details(gpus[0])["device_name"] if gpus else "cpu"
side = 2000 if gpus else 700
a = tf.random.normal((side, side)); small = tf.ones(8)
g = tf.function(lambda z: tf.tanh(tf.matmul(z, z))); g(a)
"""
_FRESH = _TF + "fresh = tf.function(lambda z: tf.tanh(tf.matmul(z, z)) + tf.sin(z))"
_XLA = (
    _TF
    + """
fused = tf.function(lambda z: tf.tanh(tf.matmul(z, z)) + tf.sin(z), jit_compile=True); fused(a)
"""
)
_LAYER = (
    _TF
    + """
batch = tf.random.normal((64, 256))
layer = tf.keras.layers.Dense(128, activation="relu"); layer(batch)
"""
)
_TAPE = (
    _TF
    + """
w = tf.Variable(tf.random.normal((256, 256))); rows = tf.random.normal((64, 256))
def gradient():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(rows @ w) ** 2)
    return tape.gradient(loss, w)
gradient()
"""
)
_ASYNC = (
    _TF
    + """
tf.config.experimental.set_synchronous_execution(False)
sync = tf.test.experimental.sync_devices
b = a[:200, :200]  # small, since `%timeit` queues tens of thousands of products at once
"""
)

TENSORFLOW = (
    Case("post: product", "tf.matmul(a, a)", "tf.matmul(a, a); sync()", _TF, coverage=True),
    Case("post: to NumPy", "tf.matmul(a, a).numpy()", setup=_TF),
    Case("tiny op", "small + 1", "small + 1; sync()", _TF),
    Case("tf.function", "g(a)", "g(a); sync()", _TF),
    Case("jit_compile", "fused(a)", "fused(a); sync()", _XLA),
    Case("first call of tf.function", "fresh(a)", "fresh(a); sync()", _FRESH, first=True),
    Case("Keras layer", "layer(batch)", "layer(batch); sync()", _LAYER),
    Case("GradientTape", "gradient()", "gradient(); sync()", _TAPE),
    # The last one: it changes how the whole process runs.
    Case("asynchronous executor", "tf.matmul(b, b)", "tf.matmul(b, b); sync()", _ASYNC),
)  # fmt: skip
