"""``api/live`` and ``api/machine``: what is measured now, and where."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ipyjaxbench.device import DevicePeaks
from ipyjaxbench.device.peaks_store import Key, write
from ipyjaxbench.host import Clock, Gpu
from ipyjaxbench.records import Heartbeat
from ipyjaxbench.server import machine
from tests.server.conftest import Keep

_MEASURE = """
from ipyjaxbench.host import Clock, Gpu
from ipyjaxbench.records import Heartbeat
with Heartbeat("run", "/p/a.ipynb", "cell-1", "f(x)", Clock.calendar()) as beat:
    print("began", flush=True)
    input()
"""


async def test_what_is_measured_is_told_while_it_is_and_then_the_history_has_changed(
    keep: Keep, ask: Any
) -> None:
    before = await ask("live")
    assert before["measuring"] == []
    assert (await ask("live"))["version"] == before["version"]
    with Heartbeat("run", "/p/a.ipynb", "cell-1", "f(x)", Clock.calendar()):
        (live,) = (await ask("live"))["measuring"]
        machine = await ask("machine")  # devices are not looked at meanwhile
    assert (machine["measuring"], machine["gpus"]) == (True, [])
    assert (live["cell"], live["line"], live["phase"]) == ("cell-1", "f(x)", "first call")
    assert live["began"] == pytest.approx(time.time(), abs=60)
    assert not live["died"]
    assert (await ask("live"))["measuring"] == []
    keep()
    assert (await ask("live"))["version"] != before["version"]
    with subprocess.Popen([sys.executable, "-c", _MEASURE], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as kernel:  # fmt: skip
        assert kernel.stdout is not None
        assert kernel.stdout.readline() == "began\n"
        (live,) = (await ask("live"))["measuring"]
        assert not live["died"]
        kernel.kill()
    (live,) = (await ask("live"))["measuring"]
    assert live["died"]


@pytest.mark.usefixtures("folder")
async def test_the_machine_is_told_without_a_framework(
    ask: Any, jp_data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peaks = DevicePeaks("jax", "0.10.2", "cpu:0", "cpu", 2, "", {"float32": 5e11}, 1e10, 0, None,
                      None, 1e-6, 0.01, 0.0, 1.0, time.time())  # fmt: skip
    assert write(Key("jax", "0.10.2", "cpu", 2, ""), peaks) == []
    (jp_data_dir / "ipyjaxbench" / "ceilings" / "jax-broken.json").write_text("{")
    found = await ask("machine")
    (only,) = found["peaks"]
    assert only["device"] == "jax 0.10.2 cpu:0"
    assert ["float32 matmul", "500 GFLOP/s"] in only["rows"]
    assert found["memory"] >= found["memory_free"] > 0
    assert "numpy" in found["frameworks"]
    assert not found["measuring"]
    full = Gpu("H100", clock=1200, max_clock=1980, reasons=("power",), others=2, memory=80 << 30)
    monkeypatch.setattr(machine, "query_gpus", lambda: (full, Gpu("unknown")))
    assert (await ask("machine"))["gpus"] == [
        {"device": "H100", "rows": [
            ["memory", "80.0 GiB"], ["clock", "1200 MHz of 1980 MHz"],
            ["not higher because of", "power"], ["processes that use it", "2"]]},
        {"device": "unknown", "rows": []},
    ]  # fmt: skip


_ANSWERING = """
import sys, tests.light_imports, ipyjaxbench.server.answers, ipyjaxbench.server.extension
print({"IPython", "numpy", "jax", "torch", "tensorflow"} & {*sys.modules})
"""
_WITHOUT_SERVER = """
import sys; sys.modules["jupyter_server"] = None
import ipyjaxbench, ipyjaxbench.server
len(ipyjaxbench.history(last=1))
print(set())
"""


@pytest.mark.parametrize("code", [_ANSWERING, _WITHOUT_SERVER])
def test_no_framework_is_imported_and_jupyter_server_is_not_needed(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
