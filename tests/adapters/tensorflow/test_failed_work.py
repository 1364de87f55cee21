"""Operations that fail after the line that started them has returned, as TensorFlow is told to."""

import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import tensorflow as tf
from tensorflow.python.eager import context

import ipyjaxbench
from tests.adapters.disk import FULL, Disk
from tests.shell import Shell

#: `tf.py_function` asks whether operations run asynchronously, by an object that waits when it is
#: let go: where one has failed before, Python shows what that raises.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <function Executor:pytest.PytestUnraisableExceptionWarning"
)
disk = Disk()


def written(x: Any) -> Any:
    """Hand a value to the disk."""
    return tf.py_function(disk.write, [x], tf.float32)


def forget_failures() -> None:
    """Wait for all operations; TensorFlow works on where one has failed."""
    try:
        tf.test.experimental.sync_devices()
    except tf.errors.OpError:
        context.context().executor.clear_error()


@pytest.fixture(autouse=True)
def asynchronous() -> Iterator[None]:
    """Operations return before they are computed, in these tests alone."""
    written(tf.ones(3))  # what the first operation makes stays
    tf.config.experimental.set_synchronous_execution(False)
    yield
    forget_failures()
    tf.config.experimental.set_synchronous_execution(True)
    assert (written(tf.ones(3)) + 1).numpy().tolist() == [2, 2, 2]


@pytest.fixture
def names() -> dict[str, Any]:
    """The work, and what it works on."""
    return {"x": tf.ones(3), "written": written, "tf": tf, "box": list}


@pytest.fixture
def full(shell: Shell, names: dict[str, Any]) -> Iterator[Shell]:
    """A shell with work that fails from its first call on."""
    shell.names.update(names)
    with disk.full_from(1):
        yield shell


def test_the_line_that_starts_it_returns_before_it_fails() -> None:
    go_on = threading.Event()

    def wait_and_fail() -> None:
        go_on.wait(60)
        raise ValueError(FULL)

    y = tf.py_function(wait_and_fail, [], tf.float32)
    go_on.set()
    with pytest.raises(tf.errors.OpError, match=FULL):
        y.numpy()


FIRST = {
    "a value": "%fwtime written(x)",
    "a value, once": "%fwtime -n 1 -r 1 written(x)",
    "calls of a given number": "%fwtime -n 3 -r 2 written(x)",
    "no value": "%fwtime written(x); None",
    "a name": "%fwtime y = written(x)",
    "a list": "%fwtime [written(x), 1]",
    "an object": "%fwtime box([written(x)])",
    "a cell with a loop": "%%fwtime\nfor _ in range(2):\n    y = written(x)\ny",
    "what goes on with it": "%fwtime written(x) + 1",
    "profiled": "%fwtime --profile written(x)",
    "a set-up": "%%fwtime q = written(x)\nq + 1",
    "an arm": "%%fwcompare\na: x + 1\nb: written(x)",
    "a traced call": "%trace_cached graph(x)",
    "copies": "%%fwdevices\ny = written(x)",
}


@pytest.mark.parametrize("cell", FIRST.values(), ids=FIRST)
def test_what_fails_in_the_first_call_is_an_error_of_the_code(full: Shell, cell: str) -> None:
    full.names["graph"] = tf.function(written)
    with pytest.raises(Exception, match=FULL):
        full.run(cell)
    assert "y" not in full.names or cell.startswith("%%fwdevices")
    assert "ONCE" not in full.text
    assert not re.search(r"ipyjaxbench/[\w/]+\.py:\d", full.text)
    disk.fails_from = 10**9
    full.run("%fwtime --quick -v found x + 1")  # nothing of it is left
    assert full.names["found"].median > 0
    codes = [note.code for note in full.names["found"].notes]
    assert "earlier-failed" not in codes


def test_the_users_line_is_shown(full: Shell) -> None:
    with pytest.raises(tf.errors.OpError, match=FULL):
        full.run("%%fwtime\nz = x\nwritten(z)")
    assert re.search(r"----> 3 written\(z\)", full.text)


def test_functions_raise_it_too(names: dict[str, Any]) -> None:
    with disk.full_from(1):
        with pytest.raises(tf.errors.OpError, match=FULL):
            ipyjaxbench.measure(written, names["x"])
        with pytest.raises(Exception, match=FULL):
            ipyjaxbench.compare({"call": lambda: written(names["x"]), "other": lambda: 1})


@pytest.mark.parametrize(("call", "code"), [(2, "runs-once"), (40, "stopped-by-error")])
@pytest.mark.parametrize("line", ["written(x)", "y = written(x)", "written(x); None"])
def test_a_later_call_that_fails_ends_the_measurement(
    names: dict[str, Any], call: int, code: str, line: str
) -> None:
    with disk.full_from(call):
        m = ipyjaxbench.measure_code(line, names, number=1, repeat=60)
    told = {note.code: note.text for note in m.notes}
    assert code in told
    assert "ValueError: disk is full" in told[code]
    assert "Traceback" not in told[code]
    assert len(m.batches) < call


# What failed before


@pytest.fixture
def after_a_failure(full: Shell) -> Shell:
    """A shell in which an operation has failed that nobody waited for."""
    written(full.names["x"])
    with pytest.raises(tf.errors.OpError, match=FULL):
        context.context().executor.wait()  # TensorFlow goes on refusing to work
    disk.fails_from = 10**9
    return full


@pytest.mark.parametrize(
    "cell",
    [
        "%fwtime --quick 1 + 1",
        "%fwtime --quick written(x)",
        "%%fwcompare --quick\na: 1 + 1\nb: written(x)",
        "%%fwdevices\nwritten(x)",
        "%%trace_cached\nwritten(x)",
    ],
)
def test_an_earlier_failure_is_told_once_and_is_not_this_codes(
    after_a_failure: Shell, cell: str
) -> None:
    after_a_failure.run(cell)
    if cell.startswith("%fwtime"):
        shown = " ".join(after_a_failure.shown[-1].data["text/plain"].split())
        assert "A computation of an earlier cell failed: ValueError: disk is full." in shown
    after_a_failure.run("%fwtime --quick -v found 1 + 1")
    codes = [note.code for note in after_a_failure.names["found"].notes]
    assert "earlier-failed" not in codes or cell.startswith(("%%fwdevices", "%%trace_cached"))


def test_operations_run_asynchronously_after_it_as_the_user_had_set_it(
    after_a_failure: Shell,
) -> None:
    after_a_failure.run("%fwtime --quick x + 1")
    assert not tf.config.experimental.get_synchronous_execution()
    assert written(after_a_failure.names["x"]).numpy().tolist() == [1, 1, 1]


def test_a_tensor_that_failed_and_is_held_hinders_nobody(full: Shell) -> None:
    full.names["held"] = written(full.names["x"])
    full.run("%fwtime --quick -v found 1 + 1")
    assert full.names["found"].median > 0
    with pytest.raises(tf.errors.OpError, match=FULL):
        full.run("%fwtime held + 1")
