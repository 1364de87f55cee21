"""Data that a GPU's cache keeps from one call to the next, on GPUs that are named and not there."""

import pytest

from ipyjaxbench.device import Device, FrameworkDevices
from ipyjaxbench.frameworks import Placement
from ipyjaxbench.testing import FakeArray
from tests.bench import Bench, notes_by_code
from tests.fake_framework import FakeFramework, FakeInventory

MIB = 2**20
H100 = "NVIDIA H100 80GB HBM3, compute capability 9.0"


@pytest.mark.parametrize(
    ("kind", "device", "nbytes", "microseconds", "shown"),
    [
        (H100, "cuda:0", 20 * MIB, 20, True),  # x and the result, 12.5 µs from memory
        (H100, "cuda:0", 20 * MIB, 124, True),
        (H100, "cuda:0", 20 * MIB, 126, False),  # less than a tenth
        (H100, "cuda:0", 26 * MIB, 20, False),  # more than 50 MiB
        (H100, "cuda:1", 20 * MIB, 20, False),  # of which nothing is known
        (H100, "cpu", 20 * MIB, 20, False),
        ("Another GPU", "cuda:0", 20 * MIB, 20, False),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "cuda:0", 20 * MIB, 20, False),
        ("TPU v5 lite", "tpu:0", 20 * MIB, 20, False),
    ],
)
def test_what_fits_into_the_cache_and_is_soon_read_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, kind: str, device: str, nbytes: int,
    microseconds: int, shown: bool,
) -> None:  # fmt: skip
    place = Placement("", "fake", 1, "float32", (), (device,), nbytes)
    known = "cuda:0" if device == "cuda:1" else device
    devices = FrameworkDevices("fake", "1.0", True, (Device(known, kind),))
    monkeypatch.setattr(bench.framework, "placement", lambda array: place)
    monkeypatch.setattr(FakeInventory, "devices", lambda self: devices)
    monkeypatch.setattr(FakeFramework, "free_memory", lambda self: 2**40)
    bench.names["f"] = lambda _: bench.device.start(dispatch=0, work=microseconds * 1000)
    bench.names["x"] = FakeArray(bench.device, 0)
    found = notes_by_code(bench.time("f(x)"))
    assert ("warm-cache" in found) is shown
