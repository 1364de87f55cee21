"""Modules whose dtype or device the first call changes: later calls have nothing to convert."""

import pytest
import torch

from ipyjaxbench.timing.functions import measure_code


@pytest.mark.parametrize(
    ("code", "setup", "number", "told"),
    [
        ("net.to(torch.float64)", "", 2, "net from float32 to float64"),
        ("net.to('meta')", "", 2, "net from cpu to meta"),
        ("net.to('meta', torch.half)", "", 2, "net from float32, cpu to float16, meta"),
        ("net.half().float()", "", 2, ""),
        ("net.float()", "", 2, ""),
        ("net.double()", "net = torch.nn.Linear(4, 4)", 1, ""),
        ("net.double()", "net = torch.nn.Linear(4, 4)", 2, "net from float32 to float64"),
        ("x.data = x.data.double()", "", 2, ""),  # how calls depend on that is measured
    ],
)
def test_what_only_the_first_call_converts_is_told(
    code: str, setup: str, number: int, told: str
) -> None:
    names = {"torch": torch, "net": torch.nn.Linear(4, 4), "x": torch.ones(3)}
    m = measure_code(code, names, setup=setup, number=number, repeat=2)
    notes = [note.text for note in m.notes if note.code == "converted-once"]
    assert bool(notes) == bool(told)
    assert all(f"The first call changed {told}: later calls" in text for text in notes)
