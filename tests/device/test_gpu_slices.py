"""Slices of a GPU, told apart by the names that the driver gives them."""

from ipyjaxbench.device import Device, FrameworkDevices
from ipyjaxbench.device.gpu_slices import add_slices

SLICE, WHOLE = "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "NVIDIA H100 80GB HBM3"
TOLD = "of a GPU (MIG): clocks, energy and processes are those of the whole GPU"


def home(*kinds: str) -> FrameworkDevices:
    devices = tuple(Device(f"cuda:{i}", kind) for i, kind in enumerate(kinds))
    return FrameworkDevices("torch", "2", True, devices)


def test_what_is_told_of_slices_is_of_the_whole_gpu() -> None:
    found = add_slices(home(SLICE, WHOLE, f"{SLICE}, compute capability 9.0"))
    assert found.texts == (f"cuda:0, cuda:2 are slices {TOLD}",)
    assert add_slices(home(WHOLE, SLICE)).texts == (f"cuda:1 is a slice {TOLD}",)
    assert add_slices(home(WHOLE, "cpu")) == home(WHOLE, "cpu")
