"""Has imported frameworks look for devices now; they are left alone unless a user asks for it."""

from collections.abc import Iterable

from ipyjaxbench.device.protocol import DeviceInventory
from ipyjaxbench.frameworks import Framework


def start_frameworks(frameworks: Iterable[Framework]) -> None:
    """Let frameworks that were imported look for devices now."""
    for framework in frameworks:
        framework.capability(DeviceInventory).start()
