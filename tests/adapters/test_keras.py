"""Keras computes with one framework at a time: a call of its layers is a program of that one."""

import contextlib
import io
import os
import subprocess
import sys
import warnings
from functools import cache

import keras
import pytest

_CODE = """
import sys
import keras, numpy as np
from ipyjaxbench import graph
from ipyjaxbench.device.find_held import HeldMemory
from ipyjaxbench.device.locate import locate
from ipyjaxbench.errors import SnippetError
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.steps import time_loop
from ipyjaxbench.usercode.snippet import Source

class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(2)
    def call(self, x):
        return self.dense(x)

def again(v, n=1):
    return again(v, n - 1) if n else small(v)

def apply(layer, v):
    return layer(v)

x = keras.ops.ones((3, 2))
small = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
model, dense, h = Model(), keras.layers.Dense(3), np.ones((3, 2), "f")
def f0(v): return dense(v)
for n in range(6): exec(f"def f{n + 1}(v): return f{n}(v)")
model(x)
for code in {codes!r}:
    try:
        found = trace_program(Source.plain(code), globals(), GraphOptions())
        print(code, "->", found.framework)
    except SnippetError as error:
        print(code, "->", str(error).splitlines()[0])
print(dense.built)

model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, name="head")])
optimizer = keras.optimizers.SGD(momentum=0.9)
optimizer.build(model.trainable_variables)
values = {"model": model, "bias": model.weights[1], "optimizer": optimizer}
print([(a.name, a.framework, a.of) for a in locate(values).arrays][:5])
held = HeldMemory({"model": model, "optimizer": optimizer}, [])
print([(each.kind, each.path, each.let_go) for each in held.result().holders])

norm, drop, x = keras.layers.BatchNormalization(), keras.layers.Dropout(0.5), x[:, :2]
norm(x), drop(x, training=True)
variables = [*norm.variables, drop.seed_generator.state]
before = [keras.ops.convert_to_numpy(each) for each in variables]
graph(norm, x, training=True), graph(drop, x, training=True)
after = [keras.ops.convert_to_numpy(each) for each in variables]
print(all(np.array_equal(a, b) for a, b in zip(after, before)), norm(x, training=True).shape)

class Steps(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        seen.append(batch)

model.compile("sgd", "mse")
data, seen, own, fits = np.ones((12, 2), "f"), [], [Steps()], []
for callbacks in ("callbacks=own", "own"):
    code = f"model.fit(data, np.ones((12, 3)), 4, 2, 0, {callbacks})"
    found, error = time_loop(Source.plain(code), globals())
    fits.append((error, found.count, found.runs, [*found.frameworks], found.draws_inside,
                 "fit-steps" in [note.code for note in found.notes]))
print((fits, seen, len(own)))
"""
_NOT_BUILT = "is not built yet, and looking would build it"


_PROGRAMS = ("small(x)", "small(h)", "model(x)", "(lambda v: small(v) + 1)(x)", "small.call(x)",
             "keras.ops.softmax(x)", "keras.losses.MeanSquaredError()(x, x)", "again(x)",
             "apply(small, v=x)")  # fmt: skip
_LOOPS = ("small.predict(h)", "small.fit(h, h)", "small.evaluate(h, h)",
          "small.train_on_batch(h, h)", "small.test_on_batch(h, h)",
          "small.predict_on_batch(h)")  # fmt: skip
_NO_PROGRAMS = ("dense(x)", "(lambda v: dense(v))(x)", "apply(dense, x)", "apply(layer=dense, v=x)",
                "f6(x)", *_LOOPS)  # fmt: skip
_OF_NUMPY = "(lambda v: small(v))(h)"


@cache
def run_calls(backend: str) -> dict[str, str]:
    """What is told of each call, and at the end whether anything was changed by looking.

    Where it is the framework that Keras computes with in this process, that is asked here.
    """
    codes = (*_PROGRAMS, *(() if backend == "tensorflow" else _NO_PROGRAMS), _OF_NUMPY)
    code = _CODE.replace("{codes!r}", repr(codes))
    run = run_here if backend == keras.backend.backend() else run_apart
    answers = [line.partition(" -> ")[2] or line for line in run(code, backend).splitlines()]
    return dict(
        zip((*codes, "dense.built", "arrays", "held", "changed", "fit"), answers, strict=True)
    )


def run_here(code: str, _: str) -> str:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as shown:
        warnings.simplefilter("ignore")
        exec(code, {"__name__": "__main__"})
    return shown.getvalue()


def run_apart(code: str, backend: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_a_layer_is_a_program_of_the_framework_that_computes_it(backend: str) -> None:
    told = run_calls(backend)
    codes = _PROGRAMS if backend == "jax" else (*_PROGRAMS, _OF_NUMPY)  # NumPy's arrays alone
    assert {code: told[code] for code in codes} == dict.fromkeys(codes, backend)
    # What layers change of themselves while they are traced stays as it was.
    assert told["changed"].startswith("True ")
    assert told["arrays"] == str([
        ("model.head.kernel", backend, ""),
        ("model.head.bias", backend, ""),
        ("bias.value", backend, "model.head.bias"),
        ("optimizer.iteration", backend, ""),
        ("optimizer.learning_rate", backend, ""),
    ])  # fmt: skip
    assert told["held"] == str([("optimizer", "optimizer", "del optimizer")])


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_the_steps_of_fit_are_timed_beside_callbacks_of_the_users(backend: str) -> None:
    timed = (None, 6, 2, [backend], backend != "torch", True)
    assert run_calls(backend)["fit"] == str(([timed] * 2, [0, 1, 2] * 4, 1))


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_what_is_no_program_is_told_in_one_line_and_nothing_is_built(backend: str) -> None:
    told = run_calls(backend)
    for code, name in zip(
        _NO_PROGRAMS[:5], ("", "dense ", "layer ", "layer ", "dense "), strict=True
    ):
        assert f"{name}{_NOT_BUILT}" in told[code]
    for code in _LOOPS:
        name = code.partition("(")[0].removeprefix("small.")
        said = f"{name}() is a loop over batches in Python, and no program"
        assert told[code].startswith(said)
    assert told["dense.built"] == "False"


_TRACED = """
import keras, numpy as np
from ipyjaxbench.retracing.observe import observe_code
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.usercode.snippet import Source

model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
model.compile("sgd", "mse")
x, y = np.ones((4, 2), "f"), np.ones((4, 3), "f")
cell = "model.predict(x, verbose=0)\\n" * 2 + "model.predict(x[:3], verbose=0)\\n"
cell += "model.evaluate(x, y, verbose=0)\\nmodel.fit(x, y, verbose=0)"
found, error = observe_code(Source.plain(cell), globals(), TraceOptions())
print(error, [(call.name, call.state) for call in found.calls])
"""


def test_predict_fit_and_evaluate_of_keras_on_jax_are_calls_of_their_steps() -> None:
    states = [("predict_step", "TRACED"), ("predict_step", "CACHED"), ("predict_step", "TRACED"),
              ("test_step", "TRACED"), ("train_step", "TRACED")]  # fmt: skip
    assert run_apart(_TRACED, "jax").strip() == f"None {states}"


_STALE = """
import keras, numpy as np
from ipyjaxbench.retracing.observe import observe_code
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.usercode.snippet import Source

class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)
    def call(self, x):
        return self.dense(x) * scale

scale = 1.0
model = Model()
model.compile("sgd", "mse")
x, y = np.ones((4, 2), "f"), np.ones((4, 3), "f")
cell = "model.fit(x, y, verbose=0)\\nmodel.evaluate(x, y, verbose=0)\\nmodel.predict(x, verbose=0)"
observe_code(Source.plain(cell), globals(), TraceOptions())
scale = 2.0
found, error = observe_code(Source.plain(cell), globals(), TraceOptions())
for call in found.calls:
    print(call.state, [each.path for each in call.why], call.fixes)
model.compile("sgd", "mse")
found, error = observe_code(Source.plain(cell), globals(), TraceOptions())
print(error, *(call.state for call in found.calls))
"""


def test_a_stale_step_of_keras_on_jax_names_what_changed_and_compile_helps() -> None:
    *stale, renewed = run_apart(_STALE, "jax").splitlines()
    fix = "Call `compile()` on the model again, for today's `scale`"
    assert stale == [f"STALE ['scale'] {(fix,)}"] * 3
    assert renewed == "None TRACED TRACED TRACED"
