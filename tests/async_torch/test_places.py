"""Devices' memory and each copy, with its time; and programs of each device."""

from typing import Any

import pytest

from ipyjaxbench.adapters.torch.transfers import TorchCopies
from tests.async_torch.conftest import MS, drain, settle, shown
from tests.shell import Shell

NBYTES = 4 * 256 * 256


def device_of(run: Shell, name: str) -> Any:
    """What `%fwdevices` found on one device."""
    run.run("%fwdevices -v found")
    homes = run.names["found"].homes
    home = next(home for home in homes if home.framework == "torch")
    return next(device for device in home.devices if device.name == name)


def copies(run: Shell, code: str) -> list[Any]:
    """The copies of a cell."""
    run.run(f"%%fwdevices -v found\n{code}")
    return [copy for copy in run.names["found"].transfers if not copy.free]


def quickest_copy(run: Shell, code: str) -> Any:
    """The one copy of code, when it took least: other programs only lengthen it."""
    return min(tries(run, code), key=lambda copy: copy.seconds)


def tries(run: Shell, code: str) -> list[Any]:
    """The one copy of code, five times."""
    return [copy for _ in range(5) for copy in copies(run, code)]


def test_devices_have_their_names_and_the_memory_in_use(run: Shell) -> None:
    settle()
    before = device_of(run, "standin:1")
    assert before.limit == 2**30
    run.run("more = torch.ones(1000, device='standin:1')")
    after = device_of(run, "standin:1")
    assert after.used - before.used == 4000
    assert after.peak >= after.used
    run.run("del more")
    assert device_of(run, "standin:1").used == before.used


def test_tensors_have_their_device(run: Shell) -> None:
    run.run("%fwdevices x z pinned host")
    text = shown(run)
    assert "x torch f32[256,256] 256 KiB standin:0" in text
    assert "z torch f32[256,256] 256 KiB standin:1" in text
    assert "pinned torch f32[256,256] 256 KiB cpu, pinned host" in text


@pytest.mark.parametrize(("code", "source", "target"), [
    ("y = host.to(device)", "cpu", "standin:0"),
    ("y = pinned.to(z.device, non_blocking=True)", "cpu pinned", "standin:1"),
    ("y = x.to(z.device)", "standin:0", "standin:1"),
    ("y = z.cpu()", "standin:1", "cpu"),
    ("y = x.to('cpu', non_blocking=True)", "standin:0", "cpu pinned"),
    ("y = torch.empty_like(host).copy_(x)", "standin:0", "cpu"),
    ("y = x.sum().item()", "standin:0", "host"),
])  # fmt: skip
def test_copies_have_bytes_direction_and_time(
    code: str, source: str, target: str, run: Shell
) -> None:
    copy = quickest_copy(run, code)
    assert (copy.source, copy.target) == (source, target)
    assert copy.nbytes == (4 if "item" in code else NBYTES)
    assert 0 < copy.seconds < 1e-3 * MS


def test_work_before_a_copy_is_waiting_not_copying(
    run: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = quickest_copy(run, "y = work(x).cpu()")
    assert copy.seconds < 0.4e-3 * MS
    assert copy.waited > 0.9e-3 * MS
    monkeypatch.setattr(TorchCopies, "_wait", lambda self, values: None)
    # The longest: work goes on while other programs keep Python from the copy.
    assert max(copy.seconds for copy in tries(run, "y = work(x).cpu()")) > 0.9e-3 * MS


def test_a_copy_that_does_not_block_is_waited_for(
    run: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.run("big = torch.ones(64, 1024, 1024, pin_memory=True)")
    run.run("there = torch.empty_like(big, device=device)")
    code = "there.copy_(big, non_blocking=True)"
    (copy,) = copies(run, code)
    monkeypatch.setattr(TorchCopies, "_wait", lambda self, values: None)
    missed = quickest_copy(run, code)
    drain()
    assert missed.seconds < 0.4 * copy.seconds


def test_another_device_and_autocast_are_other_programs(run: Shell) -> None:
    run.run("step = torch.compile(lambda y: (y @ y) * 2, backend='eager')\nstep(x)")
    cell = "step(x)\nstep(z)\nstep(z)\nwith torch.autocast(device): step(x)"
    run.run(f"%%trace_cached -v found\n{cell}")
    states = [call.state for call in run.names["found"].calls]
    assert [state == "CACHED" for state in states] == [True, False, True, False]
    text = shown(run)
    assert "y: 0 → 1 (device)" in text or "standin:0 → standin:1 (device)" in text
    assert "autocast: off → standin torch.float16" in text
