"""Looking at objects that answer whatever they like, with TensorFlow imported."""

import pytest
from hypothesis import example, given, settings

from tests.frameworks.test_checkpoint import test_no_code_of_what_is_looked_at_is_run  # noqa: F401
from tests.hostile import FRAMEWORK_USES, PREPARED, WORST, Hostile, few_tries, hostile, look
from tests.shell import Shell

tensorflow = pytest.importorskip("tensorflow")

CODE = PREPARED.format(imports="import tensorflow as tf", array="tf.ones(3)", jit="tf.function")
#: What of them walks TensorFlow's own trees, looks into its traces, or lists its tensors.
OFTEN = ("uses([o]", "asks(", "%explain", "[o, x]", "%%fwdevices", "%%trace_cached", "GRAPH -q o(")
USES = [
    use.replace("GRAPH", "tfgraph") for use in FRAMEWORK_USES if any(each in use for each in OFTEN)
]


@pytest.mark.parametrize("use", USES)
@example(WORST[0])
@example(WORST[1])
@example(WORST[2])
@example(WORST[3])
@example(WORST[4])
@settings(few_tries, max_examples=2)
@given(answers=hostile)
def test_looking_at_an_object_never_raises(use: str, shell: Shell, answers: Hostile) -> None:
    shell.run(CODE)
    look(shell, use, answers)
