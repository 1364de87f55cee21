"""Makes seconds by part of the rows of steps: what is host, what device, and what is left."""

from collections.abc import Sequence

from ipyjaxbench import stats
from ipyjaxbench.steps.insert_marks import Site
from ipyjaxbench.steps.line_kinds import LineKinds
from ipyjaxbench.steps.step_parts import StepTime
from ipyjaxbench.steps.step_rows import Row

_EARLY = slice(1, 9)  # rows after the first: a queue of work for the device is not full yet
_LAST = 8  # rows: the queue is full then, if it fills at all
_LOW = 0.1  # quantile
_TIMES = 3  # longer than usual: what is worth being called a wait for a place in the queue


def parts_of_sites(sites: Sequence[Site], kinds: LineKinds, rows: Sequence[Row]) -> list[str]:
    """Return for each site what its time is, but for the waits: "host", "call" or "rest"."""
    dispatching = kinds.dispatching
    last = max(dispatching, default=len(sites))
    parts = []
    for site in range(len(sites)):
        done = kinds.in_call.get(site, ())
        waited = any(row.waits.get(site, 0) > row.busy.get(site, 0) for row in rows[_EARLY])
        if site in dispatching and sum(done) > len(done) / 2 and not waited:
            parts.append("call")
        else:
            parts.append("host" if site <= last or site == len(sites) - 1 else "rest")
    return parts


def queue_waits(
    sites: Sequence[int], rows: Sequence[Row], *, is_behind: bool | None
) -> dict[int, float]:
    """Return for each site the nanoseconds that it takes while there is room in the queue.

    Where the device is behind, what a statement that gives it work takes longer is a wait for room.
    Where that is not known (None), it is so if at the end a statement takes much longer than first.
    """
    usual: dict[int, float] = {}
    if is_behind is False:
        return usual
    for site in sites:
        took = [row.busy.get(site, 0) / row.steps for row in rows[1:] if not row.compiled]
        if took:
            early = stats.median(took[: _EARLY.stop - 1])
            if is_behind is None and stats.median(took[-_LAST:]) <= _TIMES * early:
                continue
            usual[site] = min(early, stats.quantile(sorted(took), _LOW))
    return usual


def split_site(row: Row, site: int, usual: dict[int, float]) -> tuple[float, float]:
    """Return the nanoseconds that a site was busy for in a row, and those that it waited for."""
    busy, waited = float(max(row.busy.get(site, 0), 0)), float(row.waits.get(site, 0))
    room = usual.get(site, busy) * row.steps
    queued = 0.0 if row.compiled or busy <= _TIMES * room else busy - room
    return busy - queued, waited + queued


def step_time(row: Row, parts: Sequence[str], usual: dict[int, float]) -> StepTime:
    """Return the seconds of a row by part."""
    spent = {"data": float(row.data), "host": 0.0, "call": 0.0, "rest": 0.0, "device": 0.0}
    for site in row.busy:
        busy, waited = split_site(row, site, usual)
        spent[parts[site]] += busy
        spent["device"] += waited
    return StepTime(
        **{part: ns * 1e-9 for part, ns in spent.items()},
        steps=row.steps,
        compiled=row.compiled,
        complete=row.complete,
    )
