"""A device with little memory: what it has no room for is said in one line, and all goes on."""

import re
from collections.abc import Iterator
from queue import SimpleQueue

import pytest
import torch

from ipyjaxbench.adapters.torch import accelerators
from ipyjaxbench.timing import throughput_and_dispatch
from tests.async_torch.conftest import MS, settle, shown
from tests.shell import Shell

LIMIT = 8 * 2**20
QUEUED = "torch.ops.standin.busy(torch.ones(floats // 28, device=device), 1)"


@pytest.fixture
def small(run: Shell, device: str) -> Iterator[Shell]:
    """A shell whose first device has little memory."""
    torch.ops.standin.limit_memory(0, LIMIT)
    run.names["floats"] = LIMIT // 4
    yield run
    torch.ops.standin.limit_memory(0, 2**30)


def used() -> int:
    """Bytes in use on the first device."""
    settle()
    return int(torch.accelerator.memory_allocated(0))


def goes_on(small: Shell) -> bool:
    small.run("%fwtime -q -b 0.2 -v found work(x)")
    return bool(small.names["found"].median >= 0.95e-3 * MS)


@pytest.mark.parametrize("magic", ["%fwtime -q", "%%fwdevices\n"])
def test_a_first_call_without_memory_says_so_in_a_line(magic: str, small: Shell) -> None:
    before = used()
    with pytest.raises(torch.OutOfMemoryError) as found:
        small.run(f"{magic} y = torch.empty(floats, device=device)")
    assert str(found.value).startswith(f"standin out of memory. Tried to allocate {LIMIT} bytes; ")
    assert "\n" not in str(found.value)
    del found
    small.shell.run_cell("1", store_history=False)
    assert used() <= before
    assert goes_on(small)


def test_a_later_call_without_memory_is_a_note_in_a_line(small: Shell) -> None:
    small.names["kept"] = SimpleQueue()  # what a list gets is taken from it again
    before = used()
    small.run("%fwtime -q -v found kept.put(torch.ones(floats // 8, device=device))")
    (note,) = [n for n in small.names["found"].notes if "OutOfMemoryError" in n.text]
    assert f"standin out of memory. Tried to allocate {LIMIT // 8} bytes; " in note.text
    assert "\n" not in note.text
    small.names["kept"] = None
    assert used() <= before
    assert goes_on(small)


def test_an_arm_without_memory_does_not_stop_the_other(small: Shell) -> None:
    with pytest.raises(torch.OutOfMemoryError) as found:
        small.run("%%fwcompare -b 0.5\nfits: work(x)\nlarge: torch.empty(floats, device=device)")
    text = shown(small)
    assert f"large failed: OutOfMemoryError: {found.value}" in text
    assert re.search(r"fits 2\d\.\d ms", text)


@pytest.mark.parametrize("is_known", [True, False])
def test_no_more_results_are_queued_than_there_is_memory_for(
    is_known: bool, small: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the memory of the host there would be too many."""

    def denied() -> int:
        return int(torch.accelerator.memory_stats(0)["num_ooms"])

    monkeypatch.setattr(throughput_and_dispatch, "_QUEUED_NS", 10**9)  # nothing else bounds it
    if not is_known:
        monkeypatch.setattr(accelerators, "free_memory", lambda: None)
    before = denied()
    small.run(f"%fwtime -q -b 0.5 -v found {QUEUED}")
    assert (denied() > before) is not is_known
    assert not is_known or small.names["found"].throughput is not None
