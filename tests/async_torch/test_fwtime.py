"""`%fwtime` and `%%fwcompare` wait for each device and each stream.

A test without a wait shows that the wait is what makes the figure right. Other
programs hold up each call that wakes a device's thread, and hasten none: so the quick ones count.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from ipyjaxbench.adapters.torch import Torch, accelerators
from tests.async_torch.conftest import MS, by_hand, shown
from tests.shell import Shell

#: Work whose value, or a name that is bound, is on the device that does it.
SHOWN = (
    "work(x)", "[work(x), work(z)]", "y = work(z)", "work(host.to(x.device))",
    "with side: y = work(x)", "joined()", "compiled(x)",
    "with torch.autocast(device, dtype=torch.bfloat16): y = work(x @ x)",
)  # fmt: skip
#: Work that ends before the call does.
READ = (
    "work(x).cpu()", "float(work(z)[0, 0])", "work(x); event.record(); event.synchronize()",
)  # fmt: skip
#: Work that goes on when the call has returned, of which the result tells nothing.
HIDDEN = (
    "work(x); None", "work(z); x", "with side: work(x)", "work(x).to('cpu', non_blocking=True)",
)  # fmt: skip


def timed(run: Shell, code: str, options: str = "-n 1 -r 20") -> Any:
    run.run(f"%fwtime -q {options} -v found {code}")
    return run.names.pop("found")


def quick(measured: Any) -> float:
    """Return seconds of a quick call; the quickest may be the first, with nothing to wait for."""
    return sorted(measured.all_runs)[len(measured.all_runs) // 4]


def patch_out(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Have the adapter wait for nothing where it asks for these."""
    for name in names:
        value = False if name == "is_running" else None
        monkeypatch.setattr(Torch, name, lambda *_, value=value: value)


@pytest.mark.parametrize("code", [*SHOWN, *READ, *HIDDEN])
def test_all_that_a_call_starts_is_waited_for(code: str, run: Shell) -> None:
    compiled = compile(code, "<by hand>", "exec")
    true = by_hand(lambda: exec(compiled, run.names))
    assert true >= MS * 1e-3
    assert 0.95 * MS * 1e-3 < timed(run, code, "-b 0.5").best < 1.5 * true


@pytest.mark.parametrize(
    ("code", "waits"),
    [*((code, ("waiter", "drain", "is_running")) for code in SHOWN if "host" not in code),
     *((code, ("drain", "is_running")) for code in HIDDEN)],
)  # fmt: skip
def test_without_its_wait_the_figure_is_wrong(
    code: str, waits: tuple[str, ...], run: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_out(monkeypatch, *waits)
    assert quick(timed(run, code)) < 0.4e-3 * MS


@pytest.mark.parametrize(
    ("code", "wait"),
    [("with side: y = work(x)", lambda on: torch.accelerator.current_stream(on).synchronize()),
     ("work(z)", lambda _: torch.accelerator.synchronize())],
)  # fmt: skip
def test_a_wait_for_the_current_stream_or_device_alone_misses_others(
    code: str, wait: Callable[..., None], run: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_out(monkeypatch, "drain", "is_running")
    assert quick(timed(run, code)) > 0.95e-3 * MS
    monkeypatch.setattr(accelerators, "synchronize", wait)
    assert quick(timed(run, code)) < 0.4e-3 * MS


def test_work_that_the_result_does_not_show_is_said(run: Shell) -> None:
    run.run("%fwtime -b 0.5 -v found work(z); x")
    assert "unsynchronised" in [note.code for note in run.names["found"].notes]


@pytest.mark.parametrize("is_waited_for", [True, False])
def test_work_from_before_is_counted_only_without_the_first_wait(
    is_waited_for: bool, run: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_waited_for:
        patch_out(monkeypatch, "drain", "is_running")
    # A collection of garbage takes half a second where much was imported: this takes thrice that.
    run.run("later = [work(y) for y in (x, z) for _ in range(75)]")
    run.run("%fwtime -n 1 -r 3 -v found torch.ones(3, device='standin:1').cpu()")
    if is_waited_for:
        assert "work still running from earlier cells" in shown(run)
        assert run.names["found"].first_call < 2e-3 * MS
    else:
        assert run.names["found"].first_call > 2e-3 * MS


def test_a_call_returns_before_its_work_and_two_devices_work_at_once(run: Shell) -> None:
    run.run("%fwtime -q -b 1 -v one torch.ops.standin.busy(x, 5)")
    run.run("%fwtime -q -b 1 -v two torch.ops.standin.busy(x, 5), torch.ops.standin.busy(z, 5)")
    for found in (run.names["one"], run.names["two"]):
        assert min(found.dispatches) < 0.2 * found.best
        assert max(found.throughputs) > 0.95 * 5e-3
        assert 0.95 * 5e-3 < found.best < 9e-3


def test_arms_are_compared_by_their_work(run: Shell) -> None:
    run.run("%%fwcompare -q -b 2 -v found\none: work(x)\ntwo:\n    y = work(z)\n    work(y)")
    assert 1.8 < run.names["found"].ratio("two").value < 2.2
