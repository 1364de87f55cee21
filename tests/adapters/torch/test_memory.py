"""The memory that calls need on the CPU, by PyTorch's allocator."""

from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from tests.shell import Shell

SIDE = 500
MATRIX = 4 * SIDE**2
CODE = """\
def chain(a):
    b = a + 1
    c = b * 2
    del b
    return c.sum(0)

def train():
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def ready(shell: Shell) -> Shell:
    model = torch.nn.Linear(SIDE, SIDE, bias=False)
    shell.names.update(torch=torch, x=torch.ones(SIDE, SIDE), model=model)
    shell.names["optimizer"] = torch.optim.SGD(model.parameters(), lr=0.1)
    shell.run(CODE)
    return shell


def measured(run: Shell, code: str) -> Any:
    run.run(f"%fwtime -q -n 2 -r 2 --memory -v found {code}")
    (found,) = run.names["found"].memory
    return found


def test_a_call_needs_its_values_in_between_and_a_profiler_of_the_users_goes_on(
    ready: Shell,
) -> None:
    found = measured(ready, "chain(x)")
    assert found.source == "allocator"
    assert 2 * MATRIX <= found.peak <= 2 * MATRIX + 4 * SIDE + 64
    assert found.left == 4 * SIDE
    assert found.line in ("line 3, in chain", "")  # unknown where the clocks are too far apart
    with torch.autograd.profiler.profile(use_kineto=True) as session:
        found = measured(ready, "chain(x)")
        ready.run("y = x @ x")
    assert found.words() == "unknown: another profiler is already running"
    assert any(event.name == "aten::matmul" for event in session.function_events)


def test_gradients_of_the_call_before_are_given_back_first_and_nothing_is_logged(
    ready: Shell, capfd: pytest.CaptureFixture[str]
) -> None:
    ready.run("train()")
    found = measured(ready, "train()")
    assert capfd.readouterr().err == ""
    # As many as the stand-in of a GPU counts for the same: see `tests/async_torch`.
    assert found.peak == pytest.approx(4 * MATRIX, rel=0.01)
    assert found.left < MATRIX / 10  # new gradients stand in place of the old ones
