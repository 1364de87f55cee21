"""The pictures and the table in the report of a measurement."""

import itertools
from collections.abc import Iterator

from ipyjaxbench import stats, units
from ipyjaxbench.graphs import change_tables
from ipyjaxbench.reports import (
    Axis,
    Block,
    Chart,
    Code,
    Details,
    Distribution,
    Listing,
    Mark,
    Segment,
    Series,
    Stack,
    Table,
)
from ipyjaxbench.timing.compile_cost import split_phases
from ipyjaxbench.timing.compile_passes_report import axis_rows, list_lines, list_passes
from ipyjaxbench.timing.device_time import MAX_SHOWN_OPERATIONS
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.measurement_facts import whole
from ipyjaxbench.usercode import first_line

_NARROW_RATIO, _MIN_PICTURED_SAMPLES = 1.2, 20
_MAX_LABEL = 24  # letters
_AROUND = 4.0  # times: how far a roofline goes beyond the dot and the ridge


def draw_first_call(m: Measurement) -> Iterator[Stack]:
    """Yield the parts of the first call, and of the cold one, above a later call."""
    calls = [("first call", m.first_call, m.phases)]
    passes = m.fresh.passes if m.fresh is not None else ()
    if m.fresh is not None and m.fresh.seconds is not None and (passes or not m.phases):
        calls = [("cold call", m.fresh.seconds, m.fresh.phases)]
    rows: list[tuple[str, tuple[Segment, ...], str]] = []
    for name, total, phases in calls:
        segments = tuple(itertools.starmap(Segment, split_phases(total, phases).items()))
        if not segments:
            return
        rows.append((name, segments, units.duration(total, m.precision)))
    rows += itertools.chain.from_iterable(map(axis_rows, passes))
    # A later call that compiles is not all "run".
    if m.batches and m.verdict != "RECOMPILES":
        value = m.headline.value
        rows.append(("later calls", (Segment("run", value),), units.duration(value, m.precision)))
    yield Stack(tuple(rows))


def draw_distribution(m: Measurement) -> Iterator[Distribution]:
    """Yield a picture of the samples where they are not one narrow peak."""
    if _is_worth_a_look(m):
        yield _distribution(m)


def fold_distribution(m: Measurement) -> Iterator[Details]:
    """Yield the same picture, folded, where the samples are as one expects them to be."""
    if len(m.samples) > 1 and _has_steady_state(m) and not _is_worth_a_look(m):
        pictures = (_distribution(m),)
        yield Details(units.count(len(m.samples), "sample"), pictures, printed=False)


def _distribution(m: Measurement) -> Distribution:
    """Return the picture of the samples, over those of the run that they are held against."""
    if m.against is None:
        return Distribution("spread", m.samples, m.precision)
    before = tuple(ps * 1e-12 for ps in m.against.picoseconds)
    return Distribution("spread", m.samples, m.precision, before, m.against.name)


def _is_worth_a_look(m: Measurement) -> bool:
    if len(m.samples) < _MIN_PICTURED_SAMPLES or not _has_steady_state(m):
        return False
    if m.against is not None and m.against.picoseconds:
        return True
    return stats.quantile(m.samples, 0.95) > _NARROW_RATIO * stats.floor(m.samples)


def _has_steady_state(m: Measurement) -> bool:
    return m.verdict not in ("RECOMPILES", "INVALID")


def draw_roofline(m: Measurement) -> Iterator[Chart]:
    """Yield the device's measured peaks with a dot for the call, where all of them are known."""
    call = m.roof
    if call is None or call.intensity is None or call.peak is None or call.bandwidth is None:
        return
    ridge = call.peak / call.bandwidth
    ends = min(ridge, call.intensity) / _AROUND, max(ridge, call.intensity) * _AROUND
    limit = [(x, min(call.peak, call.bandwidth * x)) for x in (ends[0], ridge, ends[1])]
    height = call.speed if call.of == "matmul peak" else call.speed * call.intensity
    peak = f"peak {units.flops(call.peak, '/s')}"
    memory = units.bandwidth(call.bandwidth)
    yield Chart(
        Axis(f"FLOP per byte (memory: {memory})", "FLOP/B"),
        Axis("speed" if call.devices == 1 else "speed of each device", "FLOP/s"),
        (
            Series(
                units.cut(first_line(m.code), _MAX_LABEL),
                ((call.intensity, height, height, height),),
                line=False,
            ),
            Series(peak, tuple((x, y, y, y) for x, y in limit), limit=True),
        ),
        (Mark(ridge, "compute-bound →"),),
    )


def list_compilation(m: Measurement) -> Iterator[Table | Listing]:
    """Yield the passes of compilers, and the lines of which the programs are."""
    for passes in m.fresh.passes if m.fresh is not None else ():
        yield from list_passes(passes)
        yield from list_lines(passes)


def list_changes(m: Measurement) -> Iterator[Block]:
    """Yield what differs in compiled programs since the run that it is held against."""
    for program in m.against.programs if m.against is not None else ():
        yield from change_tables(program.changes, f"{program.name}: what differs")
        if program.diff:
            code = Code("diff", program.diff)
            lines = units.count(program.diff.count("\n") + 1, "line")
            yield Details(f"{program.name}: difference in optimized HLO, {lines}", (code,))


def list_operations(m: Measurement) -> Iterator[Table]:
    """Yield the operations of each profiled pass."""
    for profiled in m.device.passes if m.device is not None and m.device.listed else ():
        rows = tuple(
            (
                operation.name,
                whole(operation.count / profiled.calls),
                units.duration(operation.seconds / profiled.calls, m.precision),
                units.share(operation.seconds / profiled.worked if profiled.worked else 0.0),
            )
            for operation in profiled.operations[:MAX_SHOWN_OPERATIONS]
        )
        head = ("operation", "runs", "self time", "share")
        yield Table(f"{profiled.framework}: operations of one call", head, rows)
