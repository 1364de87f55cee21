"""Looking at objects that answer whatever they like, with PyTorch imported."""

import pytest
from hypothesis import example, given, settings

from tests.frameworks.test_checkpoint import test_no_code_of_what_is_looked_at_is_run  # noqa: F401
from tests.hostile import FRAMEWORK_USES, PREPARED, WORST, Hostile, few_tries, hostile, look
from tests.shell import Shell

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")  # changes the environment when it is loaded

CODE = PREPARED.format(
    imports="import torch",
    array="torch.ones(3)",
    jit="torch.compile(backend='eager', fullgraph=True)",
)
USES = [use.replace("GRAPH", "fxgraph") for use in FRAMEWORK_USES]


@pytest.fixture(autouse=True, scope="module")
def any_hook() -> None:
    """Programs are asked for hooks that they lack where any hook was registered."""
    torch.nn.Linear(1, 1).register_forward_hook(lambda *_: None)


@pytest.mark.parametrize("use", USES)
@example(WORST[1])
@example(WORST[3])
@example(WORST[4])
@settings(few_tries, max_examples=1)
@given(answers=hostile)
def test_looking_at_an_object_never_raises(use: str, shell: Shell, answers: Hostile) -> None:
    shell.run(CODE)
    look(shell, use, answers)
