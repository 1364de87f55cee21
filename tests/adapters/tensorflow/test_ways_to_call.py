"""Each call of what `tf.function` gave is seen, whatever it is made through."""

from pathlib import Path

import keras
import pytest
import tensorflow as tf
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function

from ipyjaxbench.retracing.trace_log import TRACE_LOG
from tests.shell import Shell
from tests.ways_to_call import HELPER, WAYS, wrong

_MODULE = """\
class Net(tf.Module):
    @tf.function
    def __call__(self, x): return x * 2.0
net = Net()"""
_MODEL = """\
model = keras.Sequential([keras.layers.Dense(2)])
X, box.model = tf.ones((4, 3)), model
model.compile('sgd', 'mse'); model(X)
predict = functools.partial(model.predict, verbose=0)"""
OWN = {
    "module": (_MODULE, "net(x)"),
    "map of a module": (_MODULE, "list(map(net, [x]))"),
    "model's method": (_MODEL, "box.model.predict_on_batch(X)"),
    "partial of a model's method": (_MODEL, "predict(X)"),
    "map of a compiled model": (f"{_MODEL}\ng = tf.function(model)", "list(map(g, [X]))"),
    "inside another one": ("g = tf.function(lambda v: f(v) * 2)", "g(x)"),
    "map of another one": ("g = tf.function(lambda v: f(v) * 2)", "list(map(g, [x]))"),
}


@pytest.fixture
def cells(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    (tmp_path / "helper.py").write_text(HELPER)
    monkeypatch.syspath_prepend(tmp_path)
    TRACE_LOG.clear()
    shell.names.update(compiles=tf.function, of_method=tf.function, x=tf.ones(3), tf=tf,
                       keras=keras)  # fmt: skip
    return shell


def test_each_way_is_a_trace_and_cache_hits(cells: Shell) -> None:
    own = Function.__call__
    assert wrong(cells, WAYS | OWN) == {}
    assert Function.__call__ is own
