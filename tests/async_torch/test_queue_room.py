"""Calls are queued only as far as the results fit into the device's memory, not the host's."""

from collections.abc import Iterator

import pytest
import torch

from ipyjaxbench.adapters.torch import accelerators
from ipyjaxbench.timing import throughput_and_dispatch
from tests.shell import Shell

LIMIT = 8 * 2**20
CELL = (
    "%fwtime -q -b 0.5 -v found torch.ops.standin.busy(torch.ones(floats // 28, device=device), 1)"
)


@pytest.fixture
def small(run: Shell, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A shell whose first device has little memory; nothing else bounds how much is queued."""
    monkeypatch.setattr(throughput_and_dispatch, "_QUEUED_NS", 10**9)
    torch.ops.standin.limit_memory(0, LIMIT)
    run.names["floats"] = LIMIT // 4
    yield run
    torch.ops.standin.limit_memory(0, 2**30)


def ooms() -> int:
    """How often memory was asked for that was not there."""
    return int(torch.accelerator.memory_stats(0)["num_ooms"])


def test_no_more_results_are_queued_than_there_is_memory_for(small: Shell) -> None:
    before = ooms()
    small.run(CELL)
    assert small.names["found"].throughput is not None
    assert ooms() == before


def test_by_the_memory_of_the_host_there_would_be_too_many(
    small: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accelerators, "free_memory", lambda: None)
    before = ooms()
    small.run(CELL)
    assert ooms() > before
