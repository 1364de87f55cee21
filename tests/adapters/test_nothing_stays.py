"""What a magic looked at is freed with the user's own names, and no later command needs it."""

import gc
import re
import weakref
from collections.abc import Iterator
from contextlib import nullcontext, suppress

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow as tf
import torch
import torch._dynamo  # changes the environment when it is loaded

from tests.shell import Shell

MAKE = {
    "jax": "jnp.ones((50, 50))",
    "torch": "torch.ones((50, 50))",
    "tensorflow": "tf.ones((50, 50))",
    "numpy": "np.ones((50, 50))",
}
DEFINE = {
    "jax": "f = jax.jit(lambda x: (x * 2).sum())\ndef bad(x):\n    if x.sum() > 0: return x",
    "torch": "def f(x): return (x * 2).sum()\ndef bad(x):\n    if x.sum() > 0: return x",
    "tensorflow": "@tf.function\ndef f(x): return tf.reduce_sum(x * 2)\n"
    "@tf.function(autograph=False)\ndef bad(x):\n    if tf.reduce_sum(x) > 0: return x",
    "numpy": "def f(x): return (x * 2).sum()\ndef bad(x): raise ValueError",
}
GRAPHS = {"jax": "%jaxpr", "torch": "%fxgraph", "tensorflow": "%tfgraph"}
CELLS = (
    "%fwtime -q -n 2 -r 2 f(big)",
    "%fwtime -q -n 2 -r 2 --fresh f(big)",
    "%fwtime -q -n 2 -r 2 -v result f(big)",
    "%%fwtime -q -n 2 -r 2\ny = f(big)",
    "%%fwtime -q --loop\nfor _ in range(5):\n    y = f(big)",
    "%%fwcompare -q -b 0.02\na: f(big)\nb: f(big + 1)",
    "%trace_cached -q f(big)",
    "%trace_cached -q --predict f(big)",
    "%%trace_cached -q\ny = f(big)",
    "%trace_cached -q --watch on\nf(big)\n%trace_cached --watch off",
    "%fwdevices -q big",
    "%fwdevices -q",
    "%fwdevices -q --held",
    "%%fwdevices -q\ny = f(big)",
    "%fwtime f(big)",
    "%trace_cached f(big)",
    "%fwdevices big",
    "%fwtime --no-such f(big)",
    "%fwtime -q --against nobody f(big)",
    "%fwtime -q raises(big)\n%fwdevices -q --release",
    "%trace_cached -q raises(big)\n%fwdevices -q --release",
    "%%fwcompare -q -b 0.02\na: f(big)\nb: raises(big)\n%fwdevices -q --release",
)
OF_GRAPHS = (
    "{0} -q f(big)",
    "{0} -q -v result f(big)\ndel result",
    "{0} -q f(big)\n{0} -q --diff last f(big)",
    "{0} -q --diff 'f(big + 1)' f(big)",
    "{0} -q bad(big)",
    "{0} -q bad(big)\n%explain",
    "{0} f(big)",
    "{0} bad(big)",
    "{0} big",
    "{0} -q 1 + int(big.shape[0])",
    "{0} -q --tb bad(big)\n%fwdevices -q --release",
)
pytestmark = pytest.mark.usefixtures("frameworks_are_no_garbage")
#: In plain functions `--predict` finds nothing to predict.
FAILS = re.compile("bad|raises|--no-such|nobody|--predict")


def rows() -> Iterator[tuple[str, str]]:
    for framework in MAKE:
        yield from ((framework, cell) for cell in CELLS)
        if framework in GRAPHS:
            yield from ((framework, cell.format(GRAPHS[framework])) for cell in OF_GRAPHS)


@pytest.fixture
def ready(shell: Shell) -> Shell:
    shell.names.update(np=np, jnp=jnp, jax=jax, torch=torch, tf=tf)
    return shell


@pytest.mark.parametrize(("framework", "cell"), [*rows()])
def test_arguments_are_freed(ready: Shell, framework: str, cell: str) -> None:
    ready.run("def raises(x): raise ValueError(x.shape)")
    ready.run(DEFINE[framework])
    ready.run(f"big = {MAKE[framework]}")
    gone = weakref.ref(ready.names["big"])
    release = "\n%fwdevices -q --release"
    lines = [cell.removesuffix(release)] if cell.startswith("%%") else cell.splitlines()
    for line in [*lines, release] if cell.endswith(release) else lines:
        with suppress(Exception) if FAILS.search(line) else nullcontext():
            ready.run(line)
    ready.names.pop("y", None)
    ready.run("del big")
    ready.run("0")  # `_` may have held it
    if gone() is not None:  # only a collection frees what is in a circle
        gc.collect()
    is_freed = gone() is None  # pytest would show the array, and keep it
    assert is_freed
