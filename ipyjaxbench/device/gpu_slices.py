"""GPUs that MIG cuts into slices: the driver's figures are for the whole GPU."""

from dataclasses import replace

from ipyjaxbench.device.devices import FrameworkDevices
from ipyjaxbench.reports import Note

_SLICE = " MIG "  # as in "NVIDIA H100 80GB HBM3 MIG 1g.10gb"


def add_slices(home: FrameworkDevices) -> FrameworkDevices:
    """Return the same with a note on devices that are slices of a GPU."""
    slices = [device.name for device in home.devices if _SLICE in device.kind]
    if not slices:
        return home
    is_one = f"{slices[0]} is a slice" if len(slices) == 1 else f"{', '.join(slices)} are slices"
    words = f"{is_one} of a GPU (MIG): clocks, energy and processes are those of the whole GPU"
    return replace(home, words=(*home.words, Note("gpu-slice", words)))
