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


def test_other_devices_and_streams_wait_for_nothing(names: dict[str, Any]) -> None:
    drain()
    names["work"](names["z"])
    assert returned_early(lambda: torch.accelerator.synchronize(0))
    assert returned_early(names["side"].synchronize)
    drain()
    with names["side"]:
        names["work"](names["x"])
    assert returned_early(torch.Stream(device=names["x"].device).synchronize)
    assert not returned_early(lambda: torch.accelerator.synchronize(0))


def test_a_stream_waits_for_an_event_of_another(names: dict[str, Any]) -> None:
    drain()
    done = torch.Event(device=names["x"].device)
    with names["side"]:
        y = names["work"](names["x"])
        done.record()
    assert not done.query()
    torch.accelerator.current_stream(0).wait_event(done)
    assert torch.equal((y + 1).cpu(), names["host"] + 2)


def test_events_tell_how_long_work_took(names: dict[str, Any]) -> None:
    drain()
    start, end = (torch.Event(device=names["x"].device, enable_timing=True) for _ in range(2))
    start.record()
    names["work"](names["x"])
    end.record()
    end.synchronize()
    assert start.elapsed_time(end) >= MS


def test_pinned_memory_is_copied_later_and_ordinary_memory_at_once(names: dict[str, Any]) -> None:
    for source, is_early in ((names["pinned"], True), (names["host"], False)):
        drain()
        names["work"](names["x"])
        copied = torch.empty_like(names["x"])
        assert returned_early(lambda: copied.copy_(source, non_blocking=True)) is is_early  # noqa: B023


def test_a_failure_comes_up_where_it_is_waited_for(names: dict[str, Any]) -> None:
    drain()
    torch.mm(names["x"], names["x"], out=torch.ones(3, 3, device=names["x"].device))
    with pytest.raises(RuntimeError, match="an operation failed before this wait"):
        torch.accelerator.synchronize(0)
    drain()


def test_what_it_computes_is_what_the_host_does(device: str) -> None:
    torch.manual_seed(0)
    on_host = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.LayerNorm(8))
    given = torch.randn(4, 8)

    def trained(model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimiser.zero_grad()
            model(x).square().mean().backward()
            optimiser.step()
        return model(x).detach().cpu()

    state = {name: value.clone() for name, value in on_host.state_dict().items()}
    expected = trained(on_host, given)
    on_host.load_state_dict(state)
    torch.testing.assert_close(trained(on_host.to(device), given.to(device)), expected)
