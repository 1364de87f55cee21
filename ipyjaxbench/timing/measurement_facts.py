"""The labelled lines in the report of a measurement."""

from collections import Counter
from collections.abc import Iterator

from ipyjaxbench import ratios, units
from ipyjaxbench.frameworks import DISK_MISS
from ipyjaxbench.graphs import ProgramComparison
from ipyjaxbench.timing.compile_cost import program_rows, spell_phases
from ipyjaxbench.timing.device_time import ProfiledPass
from ipyjaxbench.timing.figure_change import Change
from ipyjaxbench.timing.measurement import Measurement, summarize

_MIN_SHOWN_EXTRA_SECONDS = 1e-4  # by which a first call must differ to be shown
_QUEUED_SHARE = 0.9  # throughput and dispatch are shown where they are below this of a call
_MAX_MISSES = 3  # of the disk cache
_SLOWED_RATIO = 1.25  # times as slow: then the time of profiled calls is shown

Row = tuple[str, str]


def list_facts(m: Measurement, *, is_drawn: bool) -> Iterator[Row]:
    """Yield a label and words for each line; ``is_drawn`` where a picture shows the first call."""
    yield from _against(m)
    if m.causes:
        yield "noise", "; ".join(m.causes)
    yield from _modes(m)
    yield from _samples(m)
    yield from _first_call(m, is_drawn=is_drawn)
    yield from _device(m)


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
        words = change.ratio.versus(name) + ", by the medians" * change.shows_others
    yield "compared", f"{words}; that took {earlier.base.headline.words()}, {when}"
    if earlier.differs:
        yield "changed", " · ".join(earlier.differs)
    for program in earlier.programs:
        yield "program", _program(program)
    if earlier.programs_unknown:
        yield "program", f"not compared: {earlier.programs_unknown}"


def _program(program: ProgramComparison) -> str:
    if program.changes:
        counts = units.count(len(program.changes), "count")
        return f"{program.name} compiles to another program: {counts} differ, see below"
    if program.diff:
        return f"{program.name}: the same fusions and operations; the program's text differs"
    count = units.count(program.instructions, "instruction")
    return f"{program.name}: the same compiled program, {count}"


def _modes(m: Measurement) -> Iterator[Row]:
    if m.throughput is not None and m.throughput < _QUEUED_SHARE * m.headline.value:
        each = units.duration(m.throughput, m.precision)
        yield "throughput", f"{each} per call when many are queued before one wait"
    if any(note.code in ("unsynchronised", "recompiles") for note in m.notes):
        return  # the one says so; of the other compiling is the most
    if m.dispatch is not None and m.dispatch < _QUEUED_SHARE * m.headline.value:
        returned = units.duration(m.dispatch, m.precision)
        yield "dispatch", f"returns after {returned}, work still running"


def _samples(m: Measurement) -> Iterator[Row]:
    if not m.batches:
        return
    taken = count_calls(m)
    taken += f" in {units.duration(m.elapsed, 2)}" if m.elapsed else ""
    if len(m.samples) > 1:
        taken += f", {m.spread.span(m.precision)}"
    if m.headline.of == "samples":  # the headline is their low end
        taken += f", median {units.duration(m.median, m.precision)}"
    yield "samples", taken


def count_calls(m: Measurement) -> str:
    """Return how many samples there are of how many calls; with ``-n`` or ``-r`` they add up.

    Example:
        >>> batches = ((19, 1000), (20, 1000), (20, 1000))
        >>> m = Measurement("f(x)", {}, 0.01, {}, None, 20, batches, (3,), exact=True)
        >>> count_calls(m)
        '1 of 19 calls + 2 of 20 calls + first call'
    """
    counts = Counter(calls for calls, _ in m.batches)
    if len(counts) > 2 or (len(counts) == 2 and not m.exact):  # merged, as calls differ
        total = units.count(sum(calls for calls, _ in m.batches), "call")
        shown = f"{len(m.batches):,} of {total} in all"
    elif [*counts] == [1]:
        shown = f"{len(m.batches):,}"
    elif len(counts) == 1:
        ((calls, samples),) = counts.items()
        each = " each" if samples > 1 else ""
        shown = f"{samples:,} of {units.count(calls, 'call')}{each}"
    else:
        parts = (f"{samples:,} of {units.count(n, 'call')}" for n, samples in counts.items())
        shown = " + ".join(parts)
    return f"{shown} + first call" if m.exact else shown


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
    yield from (("autotuning", tuned.words()) for tuned in m.autotuned)
    yield from _disk_misses(m)
    if m.fresh is not None:
        yield "cold call", m.fresh.words(m.precision)
        for passes in m.fresh.passes:
            if passes.reason:
                yield "passes", f"unknown for {passes.framework}: {passes.reason}"
        if m.fresh.recompiled and m.verdict not in ("RECOMPILES", "INVALID"):
            yield "recompiled", m.fresh.recompiled_words()
    if m.counterpart is not None and m.batches:
        yield "break-even", m.counterpart.words(m.median, m.half_width)


def _disk_misses(m: Measurement) -> Iterator[Row]:
    """Yield why the disk cache did not have what the first call compiled.

    With ``--fresh`` it is asked for: then a first entry is named too, and what was compiled before
    the measurement.
    """
    fresh = m.fresh.programs if m.fresh is not None else ()
    misses = [p.disk_miss for p in m.programs if p.disk_miss is not None]
    when = "" if misses else ", when it was compiled"
    misses = misses or [p.disk_miss for p in fresh if p.disk_miss is not None]
    shown = [miss for miss in misses if miss.is_news or m.fresh is not None]
    for miss in shown[:_MAX_MISSES]:
        of = f" of {miss.program}" if len(misses) > 1 else ""
        yield "disk cache", f"{DISK_MISS}{of}{when}: {miss.words()}"
    if len(shown) > _MAX_MISSES:
        yield "disk cache", f"and {len(shown) - _MAX_MISSES} more programs that it did not have"
    if not shown:  # else that says whether it keeps what it did not have
        for use in m.caches:
            yield "disk cache", use.words()


def _device(m: Measurement) -> Iterator[Row]:
    if m.roof is not None:
        yield "roofline", m.roof.words()
    if m.device is not None:
        for profiled in m.device.passes:
            yield "device", _busy(m, profiled)
        if reasons := m.device.reasons:
            yield "device", "; ".join(f"unknown for {name}: {why}" for name, why in reasons.items())
    if m.trace is not None:
        yield "trace", m.trace.words()
    if m.cold is not None:
        yield "cold caches", m.cold.words(m.median, m.precision)
    if m.energy is not None:
        yield "energy", m.energy.words()
    for peak in m.memory:
        yield "peak memory", peak.words()


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
