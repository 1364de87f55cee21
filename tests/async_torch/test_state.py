"""What timed calls change is put back, of devices too: random numbers, tensors, streams."""

from typing import Any

import pytest
import torch

from ipyjaxbench.adapters.torch.state import TorchState
from tests.shell import Shell

DRAW = "torch.rand(3, device='standin:{}').tolist()"


def draws(run: Shell, index: int, between: str = "") -> tuple[Any, Any]:
    """What comes next on a device, and what comes next after a cell in between."""
    drawn = []
    for cell in ("", between):
        run.run("torch.manual_seed(5)")
        if cell:
            run.run(cell)
        drawn.append(run.run(DRAW.format(index)))
    return drawn[0], drawn[1]


@pytest.mark.parametrize("index", [0, 1])
def test_random_numbers_go_on_as_after_one_call(index: int, run: Shell) -> None:
    code = f"torch.rand(7, device='standin:{index}')"
    once, _ = draws(run, index)
    run.run("torch.manual_seed(5)")
    run.run(code)
    after_one_call = run.run(DRAW.format(index))
    _, timed = draws(run, index, f"%fwtime -q -b 0.1 {code}")
    assert timed == after_one_call != once


def test_without_the_state_of_devices_random_numbers_are_others(
    run: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TorchState, "random_state", lambda *_, **__: None)
    code = "torch.rand(7, device='standin:0')"
    run.run("torch.manual_seed(5)")
    run.run(code)
    after_one_call = run.run(DRAW.format(0))
    _, timed = draws(run, 0, f"%fwtime -q -b 0.1 {code}")
    assert timed != after_one_call


def test_a_generator_of_a_device_is_put_back(run: Shell) -> None:
    run.run("g = torch.Generator(device).manual_seed(3)")
    code = "torch.rand(7, device=device, generator=g)"
    draw = "torch.rand(3, device=device, generator=g).tolist()"
    run.run(code)
    expected = run.run(draw)
    run.run("g.manual_seed(3)")
    run.run(f"%fwtime -q -b 0.1 {code}")
    assert run.run(draw) == expected


def test_tensors_that_calls_change_are_as_after_one_call(run: Shell) -> None:
    run.run("count = torch.zeros(3, device='standin:1')")
    run.run("%fwtime -q -b 0.2 work(count.add_(1))")
    assert run.names["count"].tolist() == [1.0, 1.0, 1.0]


def test_the_current_stream_and_device_are_as_before(run: Shell) -> None:
    before = torch.accelerator.current_device_index(), torch.accelerator.current_stream(0)
    run.run("%fwtime -q -b 0.2 with side: y = work(x)")
    run.run("%fwdevices x z")
    after = torch.accelerator.current_device_index(), torch.accelerator.current_stream(0)
    assert after == before
