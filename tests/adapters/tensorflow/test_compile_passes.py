"""What TensorFlow spends time on until a traced function runs, by its own marks."""

import pytest
import tensorflow as tf  # noqa: F401  before a test: it changes settings of the process

from tests.shell import Shell

_CELL = """%load_ext ipyjaxbench
import tensorflow as tf
@tf.function(jit_compile={jit})
def unrolled(x):
    for i in range(20):
        x = tf.sin(x * float(i))
    return tf.reduce_sum(x)

x = tf.ones((8, 8))
"""


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.usefixtures("real_clock")
def test_the_phases_of_a_first_call_are_told_apart(shell: Shell, jit: bool) -> None:
    shell.run(_CELL.format(jit=jit))
    shell.run("%fwtime -n 1 -r 2 --passes -v found unrolled(x)")
    fresh = shell.names["found"].fresh
    (passes,) = fresh.passes
    names = [each.name for each in passes.passes]
    assert {"tracing to a graph", "Grappler and placement"} <= {*names}
    assert any("Compile" in name for name in names) == jit
    assert 0.8 <= passes.seconds / sum(fresh.phases.values()) <= 1.2
    assert passes.seconds <= fresh.seconds
    assert passes.lines[0].text == "x = tf.sin(x * float(i))"
    shell.run("%fwtime -n 1 -r 2 --fresh unrolled(x)")
    assert shell.names["found"].fresh.passes  # the variable is the one before
    assert "passes of compiling" not in shell.shown[0].data["text/plain"]
