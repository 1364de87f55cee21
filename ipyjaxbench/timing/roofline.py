"""How near a timed call comes to its device's peaks: the roofline model.

A program takes at least as long as its products take at the measured peak of their dtypes, and as
what goes in and out takes at the measured bandwidth of the memory; whichever is longer binds it
(Williams, Waterman, Patterson: Roofline: an insightful visual performance model for multicore
architectures, Communications of the ACM 52, 2009). Both are bounds from below.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from ipyjaxbench.device import BUSY, DevicePeaks, find_datasheet, find_peaks, has_peaks
from ipyjaxbench.frameworks import Framework, find_arrays
from ipyjaxbench.graphs import GraphTracer, Workload
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.peak_share import Roofline
from ipyjaxbench.timing.traced_call import ask_tracer
from ipyjaxbench.timing.validity import notes
from ipyjaxbench.usercode import Snippet

_MIN_REPORTED_SHARE = 0.01  # a smaller share of a peak would only distract
_BEYOND_RATIO, _SHORTCUTS_RATIO = 1.1, 3.0  # times a peak: from then on something was not done
_WITHOUT_STEADY_STATE = ("RECOMPILES", "INVALID", "ONCE")
_PRODUCTS = "matmul peak"


class _Bound(NamedTuple):
    """What binds a program: how much of it there is, and seconds that this takes at least."""

    of: str
    work: float
    seconds: float


def add_roofline(
    snippet: Snippet, measured: Measurement, frameworks: Sequence[Framework]
) -> Measurement:
    """Add how near the code comes to its device's peaks, where those were measured before.

    The measurement stays as it was where the code is no call whose program is known.
    """
    if measured.verdict in _WITHOUT_STEADY_STATE or measured.clock != "elapsed":
        return measured
    if len(frameworks) != 1 or not has_peaks(frameworks[0].name) or not measured.median:
        return measured
    devices = _devices(measured)
    peaks = find_peaks(frameworks[0], devices) if devices else None
    load = None if peaks is None else _load(frameworks[0], snippet, exact=measured.exact)
    load = None if load is None else load.share(len(devices))
    bound = None if peaks is None or load is None else _bound(load, peaks)
    if peaks is None or load is None or bound is None:
        return measured
    reached = _roofline(load, peaks, bound, measured.headline.value)
    reached = dataclasses.replace(reached, devices=len(devices))
    if _MIN_REPORTED_SHARE <= reached.share <= (_BEYOND_RATIO if peaks.others <= BUSY else 1.0):
        return dataclasses.replace(measured, roof=reached)
    most = _SHORTCUTS_RATIO if load.shortcuts else _BEYOND_RATIO + peaks.spread
    typical = _roofline(load, peaks, bound, measured.median)
    if typical.share > most and peaks.others <= BUSY:
        memory = bound.of == "memory bandwidth"
        of_all = (len(devices) * each for each in (bound.work, typical.speed, typical.ceiling))
        note = notes.impossible_speed(*of_all, memory=memory)
        return dataclasses.replace(measured, notes=(*measured.notes, note))
    return measured


def _roofline(load: Workload, peaks: DevicePeaks, bound: _Bound, seconds: float) -> Roofline:
    """Return how near a call of so many seconds comes to what binds it."""
    reached = Roofline(bound.of, bound.work / seconds, bound.work / bound.seconds)
    if bound.of == _PRODUCTS:
        again = sum(load.recomputed.values()) / seconds
        reached = dataclasses.replace(reached, recomputed=again)
    reached = _add_datasheet(reached, load, peaks, seconds)
    flops = sum(load.products.values())
    is_known = flops and load.nbytes and load.nbytes >= peaks.beyond and peaks.bandwidth
    if not is_known or not peaks.products.keys() >= load.products.keys():
        return reached
    spent = sum(each / peaks.products[dtype] for dtype, each in load.products.items())
    return dataclasses.replace(
        reached,
        intensity=flops / (load.nbytes or 1),
        peak=flops / spent,
        bandwidth=peaks.bandwidth,
    )


def _add_datasheet(
    reached: Roofline, load: Workload, peaks: DevicePeaks, seconds: float
) -> Roofline:
    """Add what the maker of the chip states of what binds the call, where the chip is known.

    Of several dtypes it is the rate at which all of them would be done, one after the other.
    """
    sheet = find_datasheet(peaks.kind)
    if sheet is None:
        return reached
    if reached.of == "memory bandwidth":
        return dataclasses.replace(reached, rated=sheet.bandwidth, chip=f"{sheet.name} memory")
    least = again = 0.0  # seconds by the datasheet, and those of them that recompute
    for dtype, flops in load.products.items():
        rated = sheet.rated(dtype, peaks.products[dtype])
        if rated is None:
            return reached
        least += flops / rated
        again += load.recomputed.get(dtype, 0.0) / rated
    names = " and ".join(load.products)
    rate = sum(load.products.values()) / least
    mfu = (least - again) / seconds if again else None
    return dataclasses.replace(reached, rated=rate, chip=f"{sheet.name} {names}", mfu=mfu)


def _devices(measured: Measurement) -> set[str]:
    """Return the devices on which the code computes: one, or all that something is spread over."""
    places = [set(place.devices) for place in (*measured.inputs, *measured.outputs)]
    devices = set[str]().union(*places)
    if devices not in places or any(note.code == "half-product" for note in measured.notes):
        return set()
    return devices


def _bound(load: Workload, peaks: DevicePeaks) -> _Bound | None:
    """Return the peak that takes longer to do the work; None where it is not known."""
    bounds: list[_Bound] = []
    if load.products:
        if not peaks.products.keys() >= load.products.keys():
            return None
        spent = (flops / peaks.products[dtype] for dtype, flops in load.products.items())
        bounds.append(_Bound(_PRODUCTS, sum(load.products.values()), sum(spent)))
    if peaks.bandwidth and load.nbytes is not None and load.nbytes >= peaks.beyond:
        bounds.append(_Bound("memory bandwidth", float(load.nbytes), load.nbytes / peaks.bandwidth))
    known = [bound for bound in bounds if bound.seconds > 0]
    return max(known, key=lambda bound: bound.seconds, default=None)


def _load(framework: Framework, snippet: Snippet, *, exact: bool) -> Workload | None:
    """Return what the code has to do, from its program; None where that is not known."""
    found = ask_tracer(framework, snippet, GraphTracer.workload, exact=exact)
    if found is None:
        return None
    call, load = found
    arguments = (*call.args, *call.kwargs.values())
    several = sum(len(find_arrays(argument, [framework])) for argument in arguments)
    if several > len(find_arrays(arguments, [framework])):
        return dataclasses.replace(load, nbytes=None)  # an array that is given twice is read once
    return load
