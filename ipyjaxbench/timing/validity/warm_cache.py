"""Data that a cache keeps from one call to the next: a GPU's L2 cache, a CPU's last level."""

from collections.abc import Iterator, Sequence

from ipyjaxbench.device import DeviceInventory, find_datasheet
from ipyjaxbench.frameworks import Framework, Placement
from ipyjaxbench.host import core_cache, largest_cache, usable_cpus
from ipyjaxbench.reports import Note
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.validity import notes

_MIN_SHARE = 0.1  # of a call, that reading the data from memory takes
#: Bytes that one core reads from memory in a second, on most machines. Where all data takes less
#: than a tenth of a call at that rate, `--cold` would find no difference worth a line. Arrays of
#: 4 to 8 MB made calls 1.3 to 1.5 times slower there.
_CORE_BANDWIDTH = 1e10
_WITHOUT_FIGURE = ("RECOMPILES", "INVALID")
_COMPUTES = "matmul peak"  # of the roofline: the call is bound by its products


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


def check_warm_cpu_cache(measured: Measurement) -> Iterator[Note]:
    """Note that the data of each call fits into the CPU's last cache, where that may shorten it.

    What the caches of cores hold is left out: such code is timed warm wherever it is timed. Each
    CPU may use one; where two share one, that is fewer bytes, and the note is not given too often.
    """
    places = (*measured.inputs, *measured.outputs)
    nbytes = sum(place.nbytes for place in places)
    is_short = nbytes < _MIN_SHARE * measured.median * _CORE_BANDWIDTH
    is_known = measured.cold is not None and measured.cold.median is not None
    if not nbytes or is_short or is_known or measured.verdict in _WITHOUT_FIGURE:
        return
    if any(not device.startswith("cpu") for place in places for device in place.devices):
        return
    if measured.roof is not None and measured.roof.of == _COMPUTES:
        return
    own, last = core_cache(), largest_cache()
    if own is not None and last is not None and usable_cpus() * own < nbytes <= last:
        yield notes.warm_cpu_cache(nbytes, last)


def _kind(frameworks: Sequence[Framework], name: str) -> str:
    for framework in frameworks:
        for device in framework.capability(DeviceInventory).devices().devices:
            if device.name == name:
                return device.kind
    return ""
