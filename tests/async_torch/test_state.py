"""What timed calls change is put back, of devices too: random numbers, tensors, streams."""

from typing import Any

import pytest
import torch

from ipyjaxbench.adapters.torch.state import TorchState
from tests.accuracy.case import Case
from tests.accuracy.cases.background import BACKGROUND
from tests.shell import Shell

DRAW = "torch.rand(3, device='standin:{}').tolist()"


def drawn_after(run: Shell, index: int, cell: str) -> Any:
    """What comes next on a device after a cell, of the same seed."""
    run.run("torch.manual_seed(5)")
    run.run(cell)
    return run.run(DRAW.format(index))


@pytest.mark.parametrize("index", [0, 1])
def test_random_numbers_go_on_as_after_one_call(
    index: int, run: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"torch.rand(7, device='standin:{index}')"
    after_none, after_one = drawn_after(run, index, "None"), drawn_after(run, index, code)
    assert drawn_after(run, index, f"%fwtime -q -b 0.1 {code}") == after_one != after_none
    monkeypatch.setattr(TorchState, "random_state", lambda *_, **__: None)
    assert drawn_after(run, index, f"%fwtime -q -b 0.1 {code}") != after_one


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


@pytest.mark.parametrize("case", BACKGROUND, ids=lambda case: case.name)
def test_an_expression_of_the_benchmark_runs_as_typed_and_by_hand(case: Case) -> None:
    names = case.names()
    for code in (case.typed, case.truth):
        exec(code, names)
