"""Code that ends itself while it is looked at, and Ctrl-C meanwhile: all is as before."""

import os
import signal
import threading

import jax  # noqa: F401  else the first test would import it
import pytest
import tensorflow as tf  # noqa: F401
import torch._dynamo  # noqa: F401  changes the environment when it is loaded
from IPython.core.error import UsageError

from ipyjaxbench.jupyter.errors import TraceFailedError
from tests.shell import Shell

NEEDS = {
    "jax": "import jax, jax.numpy as jnp\nx, jit = jnp.ones(3), jax.jit",
    "torch": "import torch\nx = torch.ones(3)\njit = torch.compile(backend='eager')",
    "tensorflow": "import tensorflow as tf\nx, jit = tf.ones(3), tf.function",
}
CODE = """
import os, signal, sys, threading
class Kept:
    value = 1
kept = Kept()
def ends(x):
    kept.value = x * 2
    sys.exit(3)
def closes(x):
    raise GeneratorExit("closed")
def stops(x):
    kept.value = x * 2
    os.kill(os.getpid(), signal.SIGINT)
    return x + 1
def retried(x):
    if x.sum() > 0 if hasattr(x, "sum") else tf.reduce_sum(x) > 0:
        sys.exit(3)
    return x
compiled = jit(ends)
begun = threading.Event()
def turns(x):
    begun.set()
    for _ in range(50): y = x * 2
    return y
def forever(x):
    begun.set()
    while True: y = x * 2
"""


@pytest.fixture(params=NEEDS)
def ready(request: pytest.FixtureRequest, shell: Shell) -> Shell:
    """A shell with one framework and code that ends itself."""
    shell.run(NEEDS[request.param])
    shell.run(CODE)
    return shell


@pytest.mark.parametrize(
    ("call", "error", "line"),
    [("ends(x)", "SystemExit: 3", 7), ("compiled(x)", "SystemExit: 3", 7),
     ("closes(x)", "GeneratorExit: closed", 9)],
)  # fmt: skip
def test_code_that_ends_itself_does_not_trace(
    ready: Shell, call: str, error: str, line: int
) -> None:
    with pytest.raises(TraceFailedError) as failed:
        ready.run(f"%jaxpr {call}")
    diagnosis = failed.value.diagnosis
    assert (f"{diagnosis.error}: {diagnosis.message}", diagnosis.line) == (error, line)
    assert ready.names["kept"].value == 1


@pytest.mark.filterwarnings("ignore:To exit")
def test_a_fix_or_an_arm_that_ends_itself_fails_alone(ready: Shell) -> None:
    with pytest.raises(UsageError):
        ready.run("%jaxpr retried(x)")
    ready.run("again = jit(retried)")
    # What each framework raises, or SystemExit.
    with pytest.raises(BaseException):  # noqa: B017, PT011
        ready.run("%%trace_cached -v traces\nagain(x)")
    (call,) = ready.names["traces"].calls
    assert (call.name, call.state) == ("retried", "RAISED")
    with pytest.raises(SystemExit):
        ready.run("%%fwcompare -v both -b 0.1\na: ends(x)\nb: x * 2")
    ended, other = ready.names["both"].sides
    assert (ended.failed, other.failed) == ("SystemExit: 3", "")
    assert other.measured is not None


def test_an_interrupt_of_tracing_is_one_line_and_one_of_a_cell_is_in_the_report(
    ready: Shell,
) -> None:
    with pytest.raises(KeyboardInterrupt):
        ready.run("%jaxpr stops(x)")
    said = "KeyboardInterrupt: interrupted while tracing stops(x); nothing was kept"
    assert ready.text.strip() == said
    assert ready.names["kept"].value == 1
    with pytest.raises(KeyboardInterrupt):
        ready.run("%jaxpr --tb stops(x)")
    assert "Traceback" in ready.text
    for magic in ("%%fwdevices", "%%trace_cached"):
        with pytest.raises(KeyboardInterrupt):
            ready.run(f"{magic} -v seen\nstops(x)")
        assert ready.names["seen"].error == "KeyboardInterrupt"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("ready", "cell"),
    [("torch", "%%fwcompare -b 86400\na: turns(x)\nb: x * 2"), ("jax", "%fwtime -b 86400 turns(x)"),
     ("tensorflow", "%%fwdevices\nfor _ in range(10**7): turns(x)"),
     *((name, "%jaxpr forever(x)") for name in NEEDS)],
    indirect=["ready"],
)  # fmt: skip
def test_a_traceback_at_an_interrupt_is_of_the_users_code(ready: Shell, cell: str) -> None:
    functions = ready.names["turns"], ready.names["forever"]
    codes = [each.__code__ for each in functions]
    over = threading.Event()

    def press() -> None:
        ready.names["begun"].wait(60)
        while not over.wait(0.3):  # again, where Python dropped it, as it does in a `__del__`
            os.kill(os.getpid(), signal.SIGINT)
            over.wait(3)

    presses = threading.Thread(target=press)
    presses.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            ready.run(cell)
    finally:
        over.set()
    presses.join()
    assert "/ipyjaxbench/" not in ready.text
    assert [each.__code__ for each in functions] == codes
