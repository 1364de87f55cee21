"""`%%fwtime --loop` and collectives: the device works on, and is waited for where it must be."""

from typing import Any

import pytest
import torch
import torch.distributed as dist

from ipyjaxbench.adapters.torch import Torch
from ipyjaxbench.frameworks import Collectives
from tests.async_torch.conftest import MS, drain
from tests.shell import Shell

#: What a step does once the device has its work, and whether Python waits for that there.
STEPS = {
    "y.cpu()": True, "float(y[0, 0])": True, "y.to('cpu')": True,
    "torch.empty_like(host).copy_(y)": True,
    "torch.accelerator.synchronize()": True,
    "y.add_(1)": False, "pinned.to(device, non_blocking=True)": False, "host.sum()": False,
}  # fmt: skip


@pytest.mark.parametrize(("step", "waits"), STEPS.items())
def test_a_step_waits_where_it_reads_and_work_that_is_left_is_told(
    step: str, waits: bool, run: Shell
) -> None:
    run.run(f"%%fwtime --loop -q -v found\nfor _ in range(6):\n    y = work(x)\n    {step}")
    found = run.names["found"]
    line = found.lines[-1]
    assert line.text == step
    assert (line.waits > 0) is waits
    if waits:
        assert line.waited > 0.5e-3 * MS
        assert found.verdict in ("DEVICE-BOUND", "SYNC-BOUND")
    else:
        assert found.backlog > 0.9e-3 * MS


@pytest.mark.parametrize("kind", ["all-reduce", "broadcast", "all-gather", "reduce-scatter"])
def test_a_collective_of_a_device_lasts_until_the_device_has_done_it(
    kind: str, run: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backend that has the device work, as NCCL does, in place of one that sends."""

    def collective(tensor: Any, *_: object) -> None:
        assert tensor.device.type == "standin"
        torch.ops.standin.busy(tensor, MS)

    for name in ("all_reduce", "broadcast", "all_gather_single", "all_gather_into_tensor",
                 "reduce_scatter_single", "reduce_scatter_tensor"):  # fmt: skip
        monkeypatch.setattr(dist, name, collective, raising=False)
    monkeypatch.setattr(dist, "get_backend", lambda: "fast")
    monkeypatch.setattr(dist, "get_backend_config", lambda: "cpu:gloo,standin:fast")
    monkeypatch.setattr(dist, "get_world_size", lambda: 2)
    network = Torch().capability(Collectives)
    assert (network.transport(), network.participants()) == ("fast", 2)
    call = network.make(kind, 4096)
    drain()
    call()
    assert torch.accelerator.current_stream(0).query()
