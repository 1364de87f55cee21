"""Data that a GPU's cache keeps from one call to the next."""

from collections.abc import Iterator, Sequence

from ipyjaxbench.device import DeviceInventory, find_datasheet
from ipyjaxbench.frameworks import Framework, Placement
from ipyjaxbench.reports import Note
from ipyjaxbench.timing.validity import notes

_MIN_SHARE = 0.1  # of a call, that reading the data from memory takes


def check_warm_cache(
    frameworks: Sequence[Framework], places: Sequence[Placement], seconds: float
) -> Iterator[Note]:
    """Note that each call finds its data in the L2 cache, where that may shorten it.

    Args:
        frameworks: in play.
        places: where the arrays live that the code reads and returns.
        seconds: that a call takes.
    """
    devices = {device for place in places for device in place.devices}
    if len(devices) != 1 or not all(place.on_gpu for place in places):
        return
    sheet = find_datasheet(_kind(frameworks, devices.pop()))
    nbytes = sum(place.nbytes for place in places)
    if sheet is None or not 0 < nbytes <= sheet.cache:
        return
    longer = nbytes / sheet.bandwidth
    if longer >= _MIN_SHARE * seconds:
        yield notes.warm_cache(nbytes, sheet.cache, sheet.name, longer)


def _kind(frameworks: Sequence[Framework], name: str) -> str:
    for framework in frameworks:
        for device in framework.capability(DeviceInventory).devices().devices:
            if device.name == name:
                return device.kind
    return ""
