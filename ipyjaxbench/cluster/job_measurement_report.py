"""How a job's measurement is shown: the step of all, a row for each rank, who waits for whom."""

from collections.abc import Iterator, Sequence

from ipyjaxbench import stats, units
from ipyjaxbench.cluster.exchange import describe, peak_share
from ipyjaxbench.cluster.job_measurement import JobMeasurement, RankMeasurement
from ipyjaxbench.cluster.rank_names import name_ranks
from ipyjaxbench.cluster.rank_notes import list_notes
from ipyjaxbench.reports import (
    Bar,
    Bars,
    Block,
    Facts,
    Footer,
    Headline,
    Notes,
    Report,
    Table,
    report,
)
from ipyjaxbench.timing import VERDICT_MEANINGS, name_column
from ipyjaxbench.usercode import first_line

_UNKNOWN = "-"
_MAX_ROWS = 12  # ranks; of more the worst are shown
_MAX_HOST = 16  # characters
_MIN_LOST = 0.05  # of the time: from here on ranks do wait


@report.register
def _(job: JobMeasurement) -> Report:
    """Return the blocks in the order in which they are read."""
    ranks = units.count(len(job.ranks), job.member)
    alone = ", each by itself" if not job.job and len(job.ranks) > 1 else ""
    detail = f"per call, the slowest of {ranks}{alone}"
    if len(job.ranks) == 1:
        detail = f"per call on {ranks}"
    figure, statistic = job.headline.apart()
    detail = f"{statistic} {detail}"
    if not job.is_elapsed:
        detail = f"CPU time, {detail}"
    blocks: list[Block] = [
        Headline(
            first_line(job.code),
            figure,
            detail,
            job.verdict,
            VERDICT_MEANINGS[job.verdict],
        )
    ]
    blocks += [_table(job), *_picture(job), Facts(tuple(_facts(job)))]
    if notes := list_notes(job):
        blocks.append(Notes(notes))
    return Report((*blocks, _footer(job)))


def _table(job: JobMeasurement) -> Table:
    """Return a row for each rank; of many, for those with the lowest scores."""
    times = name_column(each.measurement.headline for each in job.ranks)
    columns = [*_columns(job, times)]
    shown = _shown(job)
    rows = [tuple(own[place] for _, own in columns) for place in shown]
    caption = ""
    if len(shown) < len(job.ranks):
        caption = f"the {len(shown)} slowest of {len(job.ranks):,} {job.member}s"
        rest = [each for place, each in enumerate(job.ranks) if place not in set(shown)]
        others = {
            "": f"other {len(rest):,}",
            "first call": _ends([each.measurement.first_call for each in rest]),
            times: _ends([each.measurement.headline.value for each in rest]),
        }
        rows.append(tuple(others.get(head, "") for head, _ in columns))
    head = tuple(head for head, _ in columns)
    return Table(caption, head, tuple(rows), folded=False)


def _shown(job: JobMeasurement) -> list[int]:
    """Return the places of the ranks that have a row."""
    everyone = [*range(len(job.ranks))]
    if len(everyone) <= _MAX_ROWS:
        return everyone
    scores = job.scores or [-each.measurement.median for each in job.ranks]
    return sorted(everyone, key=scores.__getitem__)[:_MAX_ROWS]


def _columns(job: JobMeasurement, times: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the columns with their cells, ``times`` by that name; what all share is below."""
    unknown = (None,) * len(job.ranks)
    yield "", list(job.labels)
    if len({each.host for each in job.ranks}) > 1:
        yield "host", [_short(each.host) for each in job.ranks]
    if len(devices := [_device(each) for each in job.ranks]) and len(set(devices)) > 1:
        yield "device", devices
    measured = [each.measurement for each in job.ranks]
    yield "first call", [units.duration(each.first_call, 3) for each in measured]
    compiling = [each.phases.get("compile") for each in measured]
    if any(compiling):
        yield "compile", [units.duration(s, 2) if s else _UNKNOWN for s in compiling]
    yield times, [each.headline.cell(3, times) for each in measured]
    if job.job:
        yield "waits", [_wait(seconds) for seconds in job.waits or unknown]
    scores = job.scores or unknown
    yield "score", [_UNKNOWN if score is None else f"{score:.2f}" for score in scores]


def _wait(seconds: float | None) -> str:
    if seconds is None:
        return _UNKNOWN
    return units.duration(seconds, 2) if seconds else "0"


def _short(host: str) -> str:
    """Return a host's name without its domain, and of a long one both ends."""
    name = host.partition(".")[0]
    half = _MAX_HOST // 2
    return name if len(name) <= _MAX_HOST else f"{name[: half - 1]}…{name[-half:]}"


def _device(rank: RankMeasurement) -> str:
    """Return on what a rank's arrays are, such as "cuda:0"."""
    placed = (*rank.measurement.outputs, *rank.measurement.inputs)
    kinds = dict.fromkeys(
        "cpu" if device.startswith("cpu") else device for each in placed for device in each.devices
    )
    return " ".join([*kinds][:1]) + (f" +{len(kinds) - 1}" if len(kinds) > 1 else "")


def _ends(times: Sequence[float]) -> str:
    return units.span(min(times), max(times), 3)


def _picture(job: JobMeasurement) -> Iterator[Bars]:
    """Draw what each rank computes by itself, where some wait for others."""
    if job.slowest is None:
        return
    rows = []
    for place in _shown(job):
        own = max(job.ranks[place].measurement.median - job.waits[place], 0.0)
        wait = job.waits[place]
        aside = f"then waits {units.duration(wait, 2)}" if wait else "others wait for it"
        rows.append(Bar(job.labels[place], own, own, own, units.duration(own, 3), aside))
    yield Bars(tuple(rows), "own work per call")


def _facts(job: JobMeasurement) -> Iterator[tuple[str, str]]:
    if job.slowest is not None:
        wait = max(job.waits)
        share = units.percent(wait / job.median)
        longest = f"{units.duration(wait, 2)} for it ({share} of a call)"
        host = job.ranks[job.slowest].host
        yield "slowest", f"rank {job.slowest} ({host}): others wait up to {longest}"
    elif job.waits:
        steady = (job.lost or 0.0) < _MIN_LOST
        changes = "no single one: the rank that comes last changes from call to call"
        yield "slowest", "none: no rank keeps the others waiting" if steady else changes
    elif job.job:
        yield "slowest", f"? {_unknown(job)}"
    if job.lost is not None:
        yield "lost", f"{units.percent(job.lost)} of all ranks' time, in waiting for the last one"
    if job.skew is not None:
        yield "skew", f"ranks begin within {units.duration(job.skew, 2)} of each other"
    if len(job.ranks) > _MAX_ROWS:
        medians = [each.measurement.median for each in job.ranks]
        yield "all", f"median {units.duration(stats.median(medians), 3)}, {_ends(medians)}"
    yield from _exchanged(job)


def _unknown(job: JobMeasurement) -> str:
    """Say why it is not known how long ranks wait, and which ranks do not know it."""
    if not job.is_elapsed:
        return "CPU time does not show what a rank waits for"
    reasons: dict[str, list[str]] = {}
    for label, each in zip(job.labels, job.ranks, strict=True):
        if not each.collectives:
            reasons.setdefault(each.unknown or "not measured", []).append(label)
    everyone = [len(own) == len(job.ranks) for own in reasons.values()] == [True]
    return "; ".join(
        reason if everyone else f"{name_ranks(own)}: {reason}" for reason, own in reasons.items()
    )


def _exchanged(job: JobMeasurement) -> Iterator[tuple[str, str]]:
    """Say what a call exchanges, where all ranks exchange the same."""
    first, *others = (
        [(each.kind, each.count, each.nbytes) for each in rank.exchanged] for rank in job.ranks
    )
    if not first or any(other != first for other in others):
        return
    exchanges = job.ranks[0].exchanged
    share = peak_share(exchanges, [rank.collectives for rank in job.ranks])
    reached = "" if share is None else f"; {units.percent(share)} of the network's peak"
    yield "exchanged", f"{describe(exchanges)}{reached}"


def _footer(job: JobMeasurement) -> Footer:
    hosts = [*dict.fromkeys(each.host for each in job.ranks)]
    devices = {_device(each) for each in job.ranks} - {""}
    where = hosts[0] if len(hosts) == 1 else units.count(len(hosts), "host")
    device = f"{devices.pop()} in each" if len(devices) == 1 else ""
    return Footer((where, device, units.versions(job.ranks[0].measurement.frameworks)))
