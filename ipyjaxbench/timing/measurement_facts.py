"""The labelled lines in the report of a measurement."""

import math
from collections.abc import Iterator

from ipyjaxbench import ratios, stats, units
from ipyjaxbench.timing.compile_cost import program_rows, spell_phases
from ipyjaxbench.timing.device_time import ProfiledPass
from ipyjaxbench.timing.figure_change import Change
from ipyjaxbench.timing.measurement import Measurement, summarize
from ipyjaxbench.timing.verdict import headline

_MIN_SHOWN_EXTRA_SECONDS = 1e-4  # by which a first call must differ to be shown
_QUEUED_SHARE = 0.9  # throughput and dispatch are shown where they are below this of a call
_SLOWED_RATIO = 1.25  # times as slow: then the time of profiled calls is shown
_MIN_TAILS = 20  # samples from which on 5 % of them are one

Row = tuple[str, str]


def list_facts(m: Measurement, *, is_drawn: bool) -> Iterator[Row]:
    """Yield a label and words for each line; ``is_drawn`` where a picture shows the first call."""
    yield from _against(m)
    yield from _spread(m)
    yield from _modes(m)
    yield from _samples(m)
    yield from _first_call(m, is_drawn=is_drawn)
    yield from _device(m)


def floor_leads(m: Measurement) -> bool:
    """Whether the low end leads, which is the steadiest part of samples that scatter."""
    codes = [note.code for note in m.notes]
    return headline(m.half_width, m.verdict, codes) is stats.floor


def scatters(m: Measurement) -> bool:
    """Whether another run may find half or twice the median: then a range says more than a ±."""
    return 1 < m.half_width < math.inf


def _against(m: Measurement) -> Iterator[Row]:
    """Yield the measurement that was kept, and what has changed since."""
    earlier = m.against
    if earlier is None:
        return
    if earlier.base is None:
        yield "compared", f"{earlier.name}: no earlier measurement of this code with such data"
        return
    change = Change(earlier.base, summarize(m))
    name = {"last": "the last run", "best": "the best run"}.get(earlier.name, f"'{earlier.name}'")
    when = units.ago(earlier.age) if earlier.age is not None else "in this session"
    if change.verdict not in ratios.EXPLAINED:
        words = f"not with {name}, since this run is {change.verdict}"
    elif change.ratio is None:
        words = f"no clear difference from {name}"
    else:
        words = change.ratio.versus(name)
    yield "compared", f"{words}; that took {earlier.base.words()}, {when}"
    if earlier.differs:
        yield "changed", " · ".join(earlier.differs)


def _spread(m: Measurement) -> Iterator[Row]:
    if floor_leads(m) or scatters(m):
        if len(m.samples) < _MIN_TAILS:
            ends = units.span(min(m.samples), max(m.samples))
        else:
            low, high = (stats.quantile(m.samples, p) for p in (0.05, 0.95))
            ends = f"{units.span(low, high)} (5–95 %)"
        median = f", median {units.duration(m.median, m.precision)}" if floor_leads(m) else ""
        yield "range", ends + median
    if m.causes:
        yield "noise", "; ".join(m.causes)


def _modes(m: Measurement) -> Iterator[Row]:
    if m.throughput is not None and m.throughput < _QUEUED_SHARE * m.leading:
        each = units.duration(m.throughput, m.precision)
        yield "throughput", f"{each} per call when many are queued before one wait"
    if any(note.code in ("unsynchronised", "recompiles") for note in m.notes):
        return  # the one says so; of the other compiling is the most
    if m.dispatch is not None and m.dispatch < _QUEUED_SHARE * m.leading:
        returned = units.duration(m.dispatch, m.precision)
        yield "dispatch", f"returns after {returned}, work still running"


def _samples(m: Measurement) -> Iterator[Row]:
    if not m.batches:
        return
    taken = f"{len(m.samples):,}"
    taken += f" of {units.count(m.loops, 'call')} each" if m.loops > 1 else ""
    taken += f" in {units.duration(m.elapsed, 2)}" if m.elapsed else ""
    if not floor_leads(m) and len(m.samples) > 1:
        taken += f", fastest {units.duration(m.floor, m.precision)}"
    yield "samples", taken


def _first_call(m: Measurement, *, is_drawn: bool) -> Iterator[Row]:
    did = bool(m.compilations) or bool(m.phases)
    extra = m.first_call - m.median
    if did or m.compilations == 0 or extra > max(0.5 * m.median, _MIN_SHOWN_EXTRA_SECONDS):
        in_memory = ", already compiled (in memory)" if m.compilations == 0 and not did else ""
        if not is_drawn:
            yield "first call", spell_phases(m.first_call, m.phases, m.precision) + in_memory
        # The picture says what one program took to compile.
        if not is_drawn or len(m.programs) != 1 or m.programs[0].origin != "compiled":
            yield from program_rows(m.programs)
    if m.fresh is not None:
        yield "cold call", m.fresh.words(m.precision)
    if m.counterpart is not None and m.batches:
        yield "break-even", m.counterpart.words(m.median, m.half_width)


def _device(m: Measurement) -> Iterator[Row]:
    if m.roof is not None:
        yield "roofline", m.roof.words()
    if m.device is not None:
        for profiled in m.device.passes:
            yield "device", _busy(m, profiled)
        if reasons := m.device.reasons:
            yield "device", "; ".join(f"unknown for {name}: {why}" for name, why in reasons.items())


def _busy(m: Measurement, profiled: ProfiledPass) -> str:
    per_device = [
        (device, seconds / profiled.calls) for device, seconds in profiled.devices.items()
    ]
    busy = [f"{units.duration(spent, m.precision)} on {device}" for device, spent in per_device]
    launches = profiled.launches / profiled.calls
    words = f"busy {', '.join(busy)} per call ({units.percent(profiled.share)} of the time)"
    words += f", {whole(launches)} operation{'' if launches == 1 else 's'}"
    calls = units.count(profiled.calls, "more call")
    each_call = profiled.elapsed / profiled.calls
    if each_call > _SLOWED_RATIO * m.median:
        calls += f" of {units.duration(each_call, m.precision)}"
    return f"{words}; {calls} under {profiled.framework}'s profiler"


def whole(n: float) -> str:
    """Return a mean count, as a whole number where it is one."""
    return f"{n:,.0f}" if n == int(n) else units.number(n)
