"""Peaks of an accelerator's memory: as its own counter tells them, which is never reset."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from tests.async_torch.conftest import drain, settle
from tests.shell import Shell

CODE = """\
def chain(a):
    b = a + 1
    c = b * 2
    del b
    return c.sum(0)

def train():
    optimizer.zero_grad()
    loss = model(large).square().mean()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def ready(run: Shell) -> Iterator[Shell]:
    run.names["large"] = run.names["x"].repeat(4, 4)
    run.run(CODE)
    yield run
    run.names.pop("large")
    run.names.pop("y", None)


def highest() -> int:
    return int(torch.accelerator.max_memory_allocated(0))


def by_counter(call: Any) -> int:
    """Bytes beyond those in use before, by a counter that is reset for it."""
    settle()
    torch.accelerator.reset_peak_memory_stats(0)
    before = int(torch.accelerator.memory_allocated(0))
    value = call()
    drain()
    del value
    return highest() - before


def test_a_call_needs_what_the_counter_says_though_an_earlier_peak_was_higher(
    ready: Shell,
) -> None:
    needed = by_counter(lambda: ready.names["chain"](ready.names["large"]))
    ready.run("y = [large * i for i in range(4)]; del y")
    drain()
    before = highest()
    ready.run("%fwtime -q -n 2 -r 2 --memory -v found chain(large)")
    (found,) = ready.names["found"].memory
    assert found.place == str(ready.names["x"].device)
    assert found.peak == pytest.approx(needed, rel=0.02)
    assert found.left <= 0.01 * needed
    assert highest() == before


def test_a_training_step_gives_back_gradients_of_the_step_before(ready: Shell) -> None:
    model = torch.nn.Linear(1024, 1024, bias=False).to(ready.names["x"].device)
    ready.names.update(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))
    ready.run("train()")
    needed = by_counter(ready.names["train"])
    assert needed == pytest.approx(4 * ready.names["large"].nbytes, rel=0.01)
    ready.run("%fwtime -q -n 2 -r 2 --memory -v found train()")
    (found,) = ready.names["found"].memory
    assert found.peak == pytest.approx(needed, rel=0.02)


def peaks_of_cell(ready: Shell, code: str) -> list[Any]:
    ready.run(f"%%fwdevices -q -v found\n{code}")
    return [peak for peak in ready.names["found"].peaks if peak.framework == "torch"]


def test_a_cell_that_raises_the_counter_tells_its_peak(ready: Shell) -> None:
    needed = by_counter(lambda: ready.names["chain"](ready.names["large"]))
    torch.accelerator.reset_peak_memory_stats(0)
    (found,) = peaks_of_cell(ready, "y = chain(large)")
    assert found.peak == pytest.approx(needed, rel=0.02)


def test_a_cell_below_an_earlier_peak_tells_no_figure_but_a_bound(ready: Shell) -> None:
    ready.run("y = [large * i for i in range(4)]; del y")
    drain()
    before = highest()
    (found,) = peaks_of_cell(ready, "y = chain(large)")
    assert found.peak is None
    assert found.reason.startswith("at most ")
    assert highest() == before
    assert peaks_of_cell(ready, "1 + 1") == []  # nothing of it is used
