"""How the result of timing is told: headline first, then what it is made of."""

from collections.abc import Iterator

from ipyjaxbench import ratios, stats, units
from ipyjaxbench.frameworks import Placement
from ipyjaxbench.reports import (
    CHANGES_MEANING,
    Block,
    Distribution,
    Facts,
    Headline,
    Notes,
    Report,
    Table,
    report,
)
from ipyjaxbench.timing.compile_cost import program_rows, spell_phases
from ipyjaxbench.timing.device_time import MAX_SHOWN_OPERATIONS, ProfiledPass
from ipyjaxbench.timing.figure_change import Change
from ipyjaxbench.timing.measurement import Measurement, median_with_interval, summarize
from ipyjaxbench.timing.verdict import VERDICT_MEANINGS, headline
from ipyjaxbench.usercode import first_line

_MIN_SHOWN_EXTRA_SECONDS = 1e-4  # by which a first call must differ to be shown
_QUEUED_SHARE = 0.9  # throughput and dispatch are shown where they are below this of latency
_SLOWED_RATIO = 1.25  # times as slow: then the time of profiled calls is shown
_NARROW_RATIO, _MIN_PICTURED_SAMPLES = 1.2, 20


@report.register
def _(m: Measurement) -> Report:
    """The blocks in the order in which they are read."""
    marked = sorted(m.notes, key=lambda note: note.mark != CHANGES_MEANING)
    facts = (*_trust(m), *_modes(m), *_taken(m), *_first_call(m), *_device(m), *_around(m))
    first = tuple(_against(m))
    figures: list[Block] = [Facts((*first, *facts)), *_distribution(m), *_operations(m)]
    caveats: list[Block] = [Notes(tuple(marked))]
    # Where the figure cannot be believed the reason comes first.
    is_wrong = m.verdict in ("RECOMPILES", "INVALID")
    rest = caveats + figures if is_wrong else figures + caveats
    return Report((_headline(m), *rest))


def _headline(m: Measurement) -> Headline:
    word = m.verdict
    detail = "latency: call and wait" if _queues(m) else "per call"
    if word == "ONCE":
        detail = _one_sample(m)
    elif word == "RECOMPILES":
        detail = "per call, compilation included"
    elif word == "FEW":
        detail += f", {len(m.batches)} samples"
    elif m.waited and not _queues(m):
        detail += ", waited for"
    if m.clock == "cpu":
        detail = f"CPU time, {detail}"
    figure = median_with_interval(m)
    if _floor_leads(m):
        figure, detail = units.duration(m.floor, m.precision), f"at its fastest, {detail}"
    return Headline(first_line(m.code), figure, detail, word, VERDICT_MEANINGS[word])


def _one_sample(m: Measurement) -> str:
    if not m.batches:
        return "one call, compilation included" if m.phases else "one call"
    calls = m.batches[0][0]
    return "one warm call" if calls == 1 else f"per call, one sample of {calls:,} calls"


def _floor_leads(m: Measurement) -> bool:
    """The low end is the steadiest part of samples that scatter."""
    codes = [note.code for note in m.notes]
    return headline(m.half_width, m.verdict, codes) is stats.floor


def _queues(m: Measurement) -> bool:
    """Whether calls cost less when they are not waited for one by one."""
    unwaited = [seconds for seconds in (m.throughput, m.dispatch) if seconds is not None]
    return any(seconds < _QUEUED_SHARE * m.leading for seconds in unwaited)


def _against(m: Measurement) -> Iterator[tuple[str, str]]:
    """The measurement that was kept, and what has changed since."""
    earlier = m.against
    if earlier is None:
        return
    if earlier.base is None:
        yield "against", f"{earlier.name}: nothing of this code with such data was kept before"
        return
    change = Change(earlier.base, summarize(m))
    ratio, word = change.ratio, change.verdict
    explained = dict(ratios.EXPLAINED)
    if ratio and ratio.covers_one():
        explained["CAN'T TELL"] = "runs at two times differ as much by themselves"
    when = f", {units.ago(earlier.age)}" if earlier.age is not None else ", in this session"
    meaning = f"{word}: {explained[word]}" if word in explained else word
    takes = f"{ratio.words()}× {ratio.interval()} the time of" if ratio else "no ratio to"
    name = {"last": "the last run", "best": "the best run"}.get(earlier.name, f"'{earlier.name}'")
    yield "against", f"{takes} {name} ({earlier.base.words()}{when}). {meaning}"
    if earlier.differs:
        yield "differs", " · ".join(earlier.differs)


def _trust(m: Measurement) -> Iterator[tuple[str, str]]:
    if _floor_leads(m):
        yield "median", median_with_interval(m)
    if m.causes:
        yield "because", "; ".join(m.causes)


def _modes(m: Measurement) -> Iterator[tuple[str, str]]:
    if m.throughput is not None and m.throughput < _QUEUED_SHARE * m.leading:
        each = units.duration(m.throughput, m.precision)
        yield "throughput", f"{each} a call, when many are queued and waited for once"
    if m.dispatch is not None and m.dispatch < _QUEUED_SHARE * m.leading:
        yield "dispatch", f"{units.duration(m.dispatch, m.precision)} until Python goes on"


def _taken(m: Measurement) -> Iterator[tuple[str, str]]:
    if not m.batches:
        return
    taken = units.count(len(m.samples), "sample")
    if m.loops > 1:
        taken += f" of {units.count(m.loops, 'call')}"
    taken += f" in {units.duration(m.elapsed, 2)}" if m.elapsed else ""
    taken += f" · this run ± {units.percent(m.known)}" if 0 < m.known <= 1 else ""
    if _floor_leads(m) or len(m.samples) == 1:
        yield "samples", taken
    else:
        yield "fastest", f"{units.duration(m.floor, m.precision)} · {taken}"


def _first_call(m: Measurement) -> Iterator[tuple[str, str]]:
    did = bool(m.compilations) or bool(m.phases)
    extra = m.first_call - m.median
    if did or m.compilations == 0 or extra > max(0.5 * m.median, _MIN_SHOWN_EXTRA_SECONDS):
        in_memory = ", already compiled (in memory)" if m.compilations == 0 and not did else ""
        yield "first call", spell_phases(m.first_call, m.phases, m.precision) + in_memory
        yield from program_rows(m.programs)
    if m.fresh is not None:
        yield "fresh", m.fresh.words(m.precision)
    if m.counterpart is not None and m.batches:
        yield "pays back", m.counterpart.words(m.median, m.half_width)


def _device(m: Measurement) -> Iterator[tuple[str, str]]:
    if m.roof is not None:
        yield "reaches", m.roof.words()
    if m.device is not None:
        for profiled in m.device.passes:
            yield "device", _busy(m, profiled)
        if reasons := m.device.reasons:
            yield "device", "; ".join(f"not told by {name}: {why}" for name, why in reasons.items())


def _busy(m: Measurement, profiled: ProfiledPass) -> str:
    per_device = [
        (device, seconds / profiled.calls) for device, seconds in profiled.devices.items()
    ]
    busy = [f"{units.duration(spent, m.precision)} on {device}" for device, spent in per_device]
    words = f"busy {', '.join(busy)} per call, {units.percent(profiled.share)} of the time"
    launches = profiled.launches / profiled.calls
    words += f" · {_whole(launches)} operation{'' if launches == 1 else 's'} a call"
    calls = units.count(profiled.calls, "call")
    apart = f"separate pass under {profiled.framework}'s profiler: {calls}"
    each_call = profiled.elapsed / profiled.calls
    if each_call > _SLOWED_RATIO * m.median:
        apart += f" of {units.duration(each_call, m.precision)}"
    return f"{words} ({apart})"


def _operations(m: Measurement) -> Iterator[Table]:
    """The operations of each profiled pass."""
    for profiled in m.device.passes if m.device is not None and m.device.listed else ():
        rows = tuple(
            (
                operation.name,
                _whole(operation.count / profiled.calls),
                units.duration(operation.seconds / profiled.calls, m.precision),
                units.share(operation.seconds / profiled.worked if profiled.worked else 0.0),
            )
            for operation in profiled.operations[:MAX_SHOWN_OPERATIONS]
        )
        head = ("operation", "runs", "time", "share")
        yield Table(f"{profiled.framework}: operations in a call, by their own time", head, rows)


def _whole(n: float) -> str:
    """Return a mean count, as a whole number where it is one."""
    return f"{n:,.0f}" if n == int(n) else units.number(n)


def _around(m: Measurement) -> Iterator[tuple[str, str]]:
    inputs, outputs = _places(m.inputs), _places(m.outputs)
    if inputs or outputs:
        yield "where", " → ".join([inputs, outputs]).strip() if outputs else inputs
    yield "with", units.versions(m.frameworks)


def _places(placements: tuple[Placement, ...]) -> str:
    shown = [placement.words() for placement in placements[:4]]
    if len(placements) > len(shown):
        shown.append(f"and {len(placements) - len(shown)} more")
    return ", ".join(shown)


def _distribution(m: Measurement) -> Iterator[Distribution]:
    """A picture, where the samples are not one narrow peak."""
    samples = m.samples
    if len(samples) < _MIN_PICTURED_SAMPLES or m.verdict in ("RECOMPILES", "INVALID"):
        return
    if stats.quantile(samples, 0.95) <= _NARROW_RATIO * stats.floor(samples):
        return
    yield Distribution("spread", m.samples, m.precision)
