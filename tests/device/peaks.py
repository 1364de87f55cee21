"""Peaks written by hand, and looks at those of a framework whose work takes as long as it says."""

from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench import Peaks
from ipyjaxbench.device import measure_peaks
from ipyjaxbench.device.peaks import DevicePeaks
from ipyjaxbench.device.peaks_store import Key
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.host.conditions import Conditions
from tests.fake_framework import FakeFramework

RATES = {"float32": 100e9}
LATENCY = 1e-4
PEAKS = DevicePeaks(
    framework="fake", version="1.0", device="cpu", kind="cpu", threads=None, settings="",
    products=RATES, bandwidth=20e9, beyond=2**26, upload=None, download=None,
    latency=1e-6, spread=0.01, others=0.0, seconds=1.5, taken=1000.0,
)  # fmt: skip
KEY = Key("fake", "1.0", "cpu", None, "")
Have = Callable[..., None]


class Machine:
    """A machine of two CPUs of which other programs take a share, in place of the meter's."""

    def __init__(self) -> None:
        self.others = 0.0

    def __call__(self, clock: Clock) -> "Machine":
        return self

    def read(self) -> Conditions:
        return Conditions(wall=1.0, cpu=1.0, cpus=2, usable=2, busy=1.0 + 2 * self.others)


def look(fake: FakeFramework, **options: bool) -> Peaks:
    """What it can do at most."""
    return measure_peaks.collect_peaks(clock=fake.device.clock, **options)


def near(rate: float) -> Any:
    """The rate, but for what sampling it takes."""
    return pytest.approx(rate, rel=0.01)
