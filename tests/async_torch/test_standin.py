"""The stand-in does what it stands for."""

import time
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.async_torch.conftest import MS, drain

#: Work, and what waits for it.
WAITS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "its device": lambda n: torch.accelerator.synchronize(0),
    "its stream": lambda n: torch.accelerator.current_stream(0).synchronize(),
    "a read": lambda n: n["y"][0, 0].item(),
    "a copy to the host": lambda n: n["y"].cpu(),
    "another operation that is not there": lambda n: torch.nonzero(n["y"]),
}


def returned_early(call: Callable[[], Any]) -> bool:
    """Whether a call ends long before the work."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start < 0.5e-3 * MS


def test_calls_return_long_before_their_work_is_done(names: dict[str, Any]) -> None:
    assert returned_early(lambda: names["work"](names["x"]))
    assert not torch.accelerator.current_stream(0).query()
    assert not returned_early(drain)
    assert torch.accelerator.current_stream(0).query()


@pytest.mark.parametrize("what", WAITS)
def test_what_waits_for_work(what: str, names: dict[str, Any]) -> None:
    drain()
    y = names["work"](names["x"])
    assert not returned_early(lambda: WAITS[what]({"y": y}))


def test_pinned_memory_is_copied_later_and_ordinary_memory_at_once(names: dict[str, Any]) -> None:
    for source, is_early in ((names["pinned"], True), (names["host"], False)):
        drain()
        names["work"](names["x"])
        copied = torch.empty_like(names["x"])
        assert returned_early(lambda: copied.copy_(source, non_blocking=True)) is is_early  # noqa: B023
