"""Autocast and `torch.compile` on such a device."""

import torch

from tests.async_torch.conftest import MS, shown
from tests.shell import Shell

WITH_AUTOCAST = "with torch.autocast(device, dtype=torch.bfloat16): y = work(x @ x)"


def test_autocast_is_timed_with_its_work(run: Shell) -> None:
    run.run(f"%fwtime -q -b 0.5 -v found {WITH_AUTOCAST}")
    assert run.names["found"].median >= 0.95e-3 * MS
    assert run.names["y"].dtype is torch.bfloat16


def test_a_compiled_function_is_timed_with_its_work(run: Shell) -> None:
    run.run("step = torch.compile(lambda y: work(y) * 2, backend='eager')")
    run.run("%fwtime -q -b 0.5 -v found step(x)")
    found = run.names["found"]
    assert found.median >= 0.95e-3 * MS
    assert found.compilations == 1


def test_another_device_and_autocast_are_other_programs(run: Shell) -> None:
    run.run("step = torch.compile(lambda y: (y @ y) * 2, backend='eager')\nstep(x)")
    cell = "step(x)\nstep(z)\nstep(z)\nwith torch.autocast(device): step(x)"
    run.run(f"%%trace_cached -v found\n{cell}")
    states = [call.state for call in run.names["found"].calls]
    assert [state == "CACHED" for state in states] == [True, False, True, False]
    text = shown(run)
    assert "y: 0 → 1 (device)" in text or "standin:0 → standin:1 (device)" in text
    assert "autocast: off → standin torch.float16" in text
