"""Operations that fail after the line that started them has returned, as TensorFlow is told to."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import tensorflow as tf
from tensorflow.python.eager import context

from ipyjaxbench.adapters.tensorflow import TensorFlow
from ipyjaxbench.usercode import describe_error
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


@pytest.fixture
def full(shell: Shell) -> Iterator[Shell]:
    """A shell with asynchronous work, in these tests alone, that fails from its first call on."""
    written(tf.ones(3))  # what the first operation makes stays
    tf.config.experimental.set_synchronous_execution(False)
    shell.names.update(x=tf.ones(3), written=written, graph=tf.function(written), box=list)
    with disk.full_from(1):
        yield shell
    try:
        tf.test.experimental.sync_devices()
    except tf.errors.OpError:  # TensorFlow works on where one has failed
        context.context().executor.clear_error()
    tf.config.experimental.set_synchronous_execution(True)
    assert (written(tf.ones(3)) + 1).numpy().tolist() == [2, 2, 2]


FIRST = {
    "a value": "%%fwtime\nz = x\nwritten(z)",
    "an object": "%fwtime box([written(x)])",
    "no value": "%fwtime written(x); None",
    "an arm": "%%fwcompare\na: x + 1\nb: written(x)",
    "a traced call": "%trace_cached graph(x)",
    "copies": "%%fwdevices\nwritten(x)",
}


@pytest.mark.parametrize("cell", FIRST.values(), ids=FIRST)
def test_what_fails_in_the_first_call_is_an_error_of_the_code(full: Shell, cell: str) -> None:
    with pytest.raises(Exception, match=FULL):
        full.run(cell)
    assert not re.search(r"ipyjaxbench/[\w/]+\.py:\d", full.text)
    assert re.search(r"----> 3 written\(z\)", full.text) or "z" not in cell
    disk.fails_from = 10**9
    full.run("%fwtime --quick -v found x + 1")  # nothing of it is left
    assert "earlier-failed" not in [note.code for note in full.names["found"].notes]


@pytest.mark.parametrize("typed", ["written(x)", "y = written(x)", "written(x); None"])
def test_what_later_calls_raise_is_not_for_the_next_cell(full: Shell, typed: str) -> None:
    disk.fails_from = 3
    full.run(f"%fwtime -n 1 -r 5 -v found {typed}")
    assert "stopped-by-error" in [note.code for note in full.names["found"].notes]
    disk.fails_from = 10**9
    assert written(full.names["x"]).numpy().tolist() == [1, 1, 1]
    full.run("%fwtime --quick -v found 1 + 1")
    assert "earlier-failed" not in [note.code for note in full.names["found"].notes]


@pytest.mark.parametrize("cell", ["%fwtime --quick written(x)", "%%fwcompare -q\na: 1\nb: x + 1"])
def test_an_earlier_failure_is_told_once_and_is_not_this_codes(full: Shell, cell: str) -> None:
    written(full.names["x"])
    with pytest.raises(tf.errors.OpError, match=FULL):
        context.context().executor.wait()  # TensorFlow goes on refusing to work
    disk.fails_from = 10**9
    full.run(cell)
    if cell.startswith("%fwtime"):
        shown = " ".join(full.shown[-1].data["text/plain"].split())
        assert "A computation of an earlier cell failed: ValueError: disk is full." in shown
    full.run("%fwtime --quick -v found 1 + 1")
    assert "earlier-failed" not in [note.code for note in full.names["found"].notes]
    assert not tf.config.experimental.get_synchronous_execution()  # as the user had set it
    assert written(full.names["x"]).numpy().tolist() == [1, 1, 1]


def test_a_tensor_that_failed_and_is_held_hinders_nobody(full: Shell) -> None:
    full.names["held"] = written(full.names["x"])
    TensorFlow().drain()
    assert TensorFlow().placement(full.names["held"]).nbytes == 0
    full.run("%fwtime --quick -v found 1 + 1")
    assert full.names["found"].median > 0
    with pytest.raises(tf.errors.OpError, match=FULL):
        full.run("%fwtime held + 1")


def no_room(x: Any) -> Any:
    return tf.zeros(tf.cast(x[0], tf.int64) * [2**20, 2**22])


def beyond(x: Any) -> Any:
    return tf.gather(x, [tf.cast(x[0], tf.int32) + 6])


@pytest.mark.parametrize(("function", "words"), [
    (no_room, "OOM when allocating tensor with shape[1048576,4194304] and type float on"),
    (beyond, "indices[0] = 7 is not in [0, 1)"),
])  # fmt: skip
@pytest.mark.parametrize("wrap", [tf.function, lambda function: function], ids=["graph", "eager"])
def test_what_happened_is_told_and_not_the_node(function: Any, words: str, wrap: Any) -> None:
    with pytest.raises(tf.errors.OpError) as found:
        wrap(function)(tf.ones(1))
    assert describe_error(found.value).startswith(f"{type(found.value).__name__}: {words}")
