"""How near a timed call comes to its device's peaks: the roofline model.

A program takes at least as long as its products take at the measured peak of their dtypes, and as
what goes in and out takes at the measured bandwidth of the memory; whichever is longer binds it
(Williams, Waterman, Patterson: Roofline: an insightful visual performance model for multicore
architectures, Communications of the ACM 52, 2009). Both are bounds from below.
"""

import ast
import dataclasses
from collections.abc import Sequence
from types import FunctionType
from typing import NamedTuple

from ipyjaxbench.device import BUSY, DevicePeaks, find_peaks, has_peaks
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import Framework, find_arrays, find_compiler, find_reach
from ipyjaxbench.graphs import GraphTracer, Workload, rolled_back, roots_of
from ipyjaxbench.timing.measurement import Measurement, Roofline
from ipyjaxbench.timing.validity import notes
from ipyjaxbench.usercode import (
    Call,
    Muted,
    OutOfTimeError,
    Snippet,
    Source,
    arguments,
    is_plain,
    is_users_file,
    is_users_function,
    only_value,
    read_call,
    time_limit,
)

_TRACE_SECONDS = 3.0  # for tracing code of the user's: a framework's tracer may have to be loaded
_MIN_REPORTED_SHARE = 0.01  # a smaller share of a peak would only distract
_BEYOND_RATIO, _SHORTCUTS_RATIO = 1.1, 3.0  # times a peak: from then on something was not done
_WITHOUT_STEADY_STATE = ("RECOMPILES", "INVALID", "ONCE")
_WAIT_METHOD = "block_until_ready"  # of a JAX array; it computes nothing


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
    peaks = _peaks_of(frameworks[0], measured)
    load = None if peaks is None else _load(frameworks[0], snippet, exact=measured.exact)
    bound = None if peaks is None or load is None else _bound(load, peaks)
    if peaks is None or load is None or bound is None:
        return measured
    reached = _roofline(load, peaks, bound, measured.leading)
    if _MIN_REPORTED_SHARE <= reached.share <= (_BEYOND_RATIO if peaks.others <= BUSY else 1.0):
        return dataclasses.replace(measured, roof=reached)
    most = _SHORTCUTS_RATIO if load.shortcuts else _BEYOND_RATIO + peaks.spread
    typical = _roofline(load, peaks, bound, measured.median)
    if typical.share > most and peaks.others <= BUSY:
        memory = bound.of == "memory bandwidth"
        note = notes.impossible_speed(bound.work, typical.speed, typical.ceiling, memory=memory)
        return dataclasses.replace(measured, notes=(*measured.notes, note))
    return measured


def _roofline(load: Workload, peaks: DevicePeaks, bound: _Bound, seconds: float) -> Roofline:
    """Return how near a call of so many seconds comes to what binds it."""
    reached = Roofline(bound.of, bound.work / seconds, bound.work / bound.seconds)
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


def _peaks_of(framework: Framework, measured: Measurement) -> DevicePeaks | None:
    """Return what was measured of the one device on which the code computes."""
    places = (*measured.inputs, *measured.outputs)
    devices = {device for place in places for device in place.devices}
    if len(devices) != 1 or any(note.code == "half-product" for note in measured.notes):
        return None
    return find_peaks(framework, devices.pop())


def _bound(load: Workload, peaks: DevicePeaks) -> _Bound | None:
    """Return the peak that takes longer to do the work; None where it is not known."""
    bounds: list[_Bound] = []
    if load.products:
        if not peaks.products.keys() >= load.products.keys():
            return None
        spent = (flops / peaks.products[dtype] for dtype, flops in load.products.items())
        bounds.append(_Bound("matmul peak", sum(load.products.values()), sum(spent)))
    if peaks.bandwidth and load.nbytes is not None and load.nbytes >= peaks.beyond:
        bounds.append(_Bound("memory bandwidth", float(load.nbytes), load.nbytes / peaks.bandwidth))
    known = [bound for bound in bounds if bound.seconds > 0]
    return max(known, key=lambda bound: bound.seconds, default=None)


def _load(framework: Framework, snippet: Snippet, *, exact: bool) -> Workload | None:
    """Return what the code has to do, from its program; None where that is not known.

    To trace a function of the user's is one more run of its Python code: where the calls were
    numbered, there is none.
    """
    source = _as_expression(snippet)
    if source is None:
        return None

    def is_data(value: object) -> bool:
        return bool(find_arrays(value, [framework]))

    try:
        with Muted(), time_limit(_TRACE_SECONDS, is_users_file):
            call = read_call(source, snippet.names, is_data)
            if exact and _runs_python(call, framework):
                return None
            with rolled_back(roots_of(call), framework):
                load = framework.capability(GraphTracer).workload(call)
    # The code was timed, and need not be one that can be traced; nor does the figure depend on it.
    except (*CODE_ERRORS, OutOfTimeError):
        return None
    arguments = (*call.args, *call.kwargs.values())
    several = sum(len(find_arrays(argument, [framework])) for argument in arguments)
    if load is not None and several > len(find_arrays(arguments, [framework])):
        return dataclasses.replace(load, nbytes=None)  # an array that is given twice is read once
    return load


def _runs_python(call: Call, framework: Framework) -> bool:
    """Whether Python code of the user's runs in a call; what was compiled before is its own."""
    if find_compiler(call.function, [framework]):
        return False
    values = (call.function, *call.args, *call.kwargs.values())
    reached = find_reach(values, [framework]).functions
    # What is no plain function may be of a class of the user's.
    return any(type(each) is not FunctionType or is_users_function(each) for each in reached)


def _as_expression(snippet: Snippet) -> Source | None:
    """Return the code as one expression whose parts can be had without running user code."""
    node = only_value(snippet.statements)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value if node.func.attr == _WAIT_METHOD and not node.args else node
    if node is None or (isinstance(node, ast.Call) and not all(map(is_plain, arguments(node)))):
        return None
    return snippet.as_expression(node)
