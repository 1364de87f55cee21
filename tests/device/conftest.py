"""Frameworks of our own: two of which one has devices, and one whose peaks are measured."""

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import ipyjaxbench.device  # noqa: F401  its modules are changed
from ipyjaxbench.device import Device, FrameworkDevices, measure_peaks
from tests.device.fake import ArrayFramework, Library, OtherFramework
from tests.device.peaks import LATENCY, RATES, Have, Machine
from tests.fake_framework import FakeFramework, FakeInventory, FakeProbe


class Frameworks(NamedTuple):
    """What is loaded."""

    fake: ArrayFramework
    other: OtherFramework


@pytest.fixture
def frameworks(monkeypatch: pytest.MonkeyPatch) -> Frameworks:
    """Nothing else is loaded."""
    found = Frameworks(ArrayFramework(), OtherFramework())
    for name in ("locate", "watch_transfers", "set_memory"):  # functions have the same names
        module = sys.modules[f"ipyjaxbench.device.{name}"]
        monkeypatch.setattr(module, "loaded", lambda: ([*found], {}))
    Library.clock = found.fake.device.clock
    Library.calls.clear()
    return found


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which peaks are kept."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data" / "ipyjaxbench" / "ceilings"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """What disturbs a look at peaks."""
    machine = Machine()
    monkeypatch.setattr(measure_peaks, "Meter", machine)
    return machine


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, machine: Machine, data_dir: Path) -> FakeFramework:
    """Computes on the host; its smallest operation takes `LATENCY`, so that few fit into a look."""
    framework = FakeFramework()
    framework.probes["cpu"] = FakeProbe(framework.device, RATES)
    monkeypatch.setattr(FakeProbe, "smallest_operation", lambda self: self._taking(LATENCY))
    monkeypatch.setattr(FakeFramework, "free_memory", lambda self: 2**40)
    monkeypatch.setattr(measure_peaks, "loaded", lambda: ([framework], {}))
    return framework


@pytest.fixture
def have(fake: FakeFramework, monkeypatch: pytest.MonkeyPatch) -> Have:
    """Gives the framework devices of its own, of which each has a probe."""

    def have(*devices: Device) -> None:
        home = FrameworkDevices("fake", "1.0", started=True, devices=devices)
        monkeypatch.setattr(FakeInventory, "has_devices", True)
        monkeypatch.setattr(FakeInventory, "devices", lambda self: home)
        for each in devices:
            fake.probes[each.name].device = each.name

    return have
