"""Builds and starts the stand-in before any test; where that cannot be, each test is skipped."""

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from tests.async_torch import standin
from tests.shell import Shell

MS = 20  # that work takes


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip all tests here, and say why, where the stand-in cannot be built."""
    if missing := standin.missing():
        skip = pytest.mark.skip(reason=f"the stand-in cannot be built without {missing}")
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(skip)


@pytest.fixture(autouse=True)
def real_clock() -> None:
    """Devices here work in the background: only the machine's clock shows what is waited for."""


@pytest.fixture(scope="session", autouse=True)
def device() -> str:
    """The name of the device."""
    standin.start()
    return standin.NAME


@pytest.fixture(scope="session")
def names(device: str) -> dict[str, Any]:
    """What cells use: a tensor on each device, a side stream, and work that takes a while."""
    busy = torch.ops.standin.busy
    host = torch.full((256, 256), 0.5)
    x, z = (host.to(f"{device}:{index}") for index in range(2))
    side, event = torch.Stream(device=x.device), torch.Event(device=x.device)

    def joined() -> Any:
        """Work on a side stream, for which the default one waits."""
        with side:
            y = busy(x, MS)
            event.record()
        torch.accelerator.current_stream(0).wait_event(event)
        return y + 1

    return {
        "torch": torch, "device": device, "host": host, "x": x, "z": z,
        "side": side, "event": event, "joined": joined, "pinned": host.pin_memory(),
        "work": lambda y: busy(y, MS),
        "compiled": torch.compile(lambda y: busy(y, MS) * 2, backend="eager"),
    }  # fmt: skip


@pytest.fixture
def run(shell: Shell, names: dict[str, Any]) -> Shell:
    """A shell with these names, and devices with nothing to do."""
    drain()
    shell.names.update(names)
    return shell


def drain() -> None:
    """Wait for all devices."""
    for index in range(standin.device_count()):
        torch.accelerator.synchronize(index)


def settle() -> None:
    """Wait for all devices, and have what nobody holds give its memory back."""
    gc.collect()
    drain()


def by_hand(call: Callable[[], Any], times: int = 3) -> float:
    """The least seconds of calls after each of which all devices are waited for."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        drain()
        taken.append(time.perf_counter() - start)
    return min(taken)


def shown(run: Shell) -> str:
    """The report, each run of blanks as one."""
    return " ".join(run.shown[-1].data["text/plain"].split())
