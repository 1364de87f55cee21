"""Looking at objects that answer whatever they like, with JAX imported."""

import pytest
from hypothesis import example, given, settings

from tests.frameworks.test_checkpoint import test_no_code_of_what_is_looked_at_is_run  # noqa: F401
from tests.hostile import PREPARED, WORST, Hostile, few_tries, hostile, look
from tests.shell import Shell

jax = pytest.importorskip("jax")

CODE = PREPARED.format(imports="import jax, jax.numpy", array="jax.numpy.ones(3)", jit="jax.jit")
#: Those in which JAX's own adapter looks at the object, each in another place.
USES = (
    "%jaxpr -q (lambda a: 1)(o)", "%jaxpr -q uses([o], x)", "%jaxpr -q asks(o, x)", "%explain -q",
    "%fwtime -q -b 0.02 --fresh uses(o, x)", "%fwdevices -q [o, x]", "%%fwdevices -q\nuses(o, x)",
    "%%trace_cached -q\nuses([o], jitted(x))",
)  # fmt: skip


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
