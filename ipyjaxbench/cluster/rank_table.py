"""A table of ranks with what they hold; ranks that hold the same share a row."""

from collections.abc import Sequence

from ipyjaxbench import units
from ipyjaxbench.cluster.job_whereabouts import JobWhereabouts
from ipyjaxbench.cluster.rank_names import name_ranks
from ipyjaxbench.device import shorten_devices
from ipyjaxbench.reports import Table

_MAX_ROWS = 12


def make_rank_table(job: JobWhereabouts) -> Table:
    """Return a row for each rank, for ranks of one host that hold the same, or for each host.

    Of very many rows those that hold most are shown.
    """
    held = dict(zip(job.answering, job.held, strict=True))
    alike: dict[tuple[str, str], list[int]] = {}
    hosts: dict[str, list[int]] = {}
    for place in job.answering:
        host = job.ranks[place].host
        alike.setdefault((host, units.size(held[place])), []).append(place)
        hosts.setdefault(host, []).append(place)
    groups = [*(alike if len(alike) <= _MAX_ROWS else hosts).values()]
    caption = ""
    if len(groups) > _MAX_ROWS:
        caption = f"the {_MAX_ROWS} fullest of {len(groups)} hosts"
        groups.sort(key=lambda group: -sum(held[place] for place in group))
    head = ("", "host", "devices", "each holds", "together")
    rows = tuple(_row(job, group, held) for group in groups[:_MAX_ROWS])
    return Table(caption, head, rows, folded=False)


def _row(job: JobWhereabouts, group: Sequence[int], held: dict[int, int]) -> tuple[str, ...]:
    ranks = [job.ranks[place] for place in group]
    devices = list(dict.fromkeys(device for rank in ranks for device in rank.devices))
    if any(device.startswith("cpu:") for device in devices):
        devices = [device for device in devices if device != "cpu"]  # of the same host
    sizes = (units.size(end(held[place] for place in group)) for end in (min, max))
    each = " to ".join(dict.fromkeys(sizes))
    return (
        name_ranks([rank.label for rank in ranks]),
        ranks[0].host,
        shorten_devices(devices),
        each,
        units.size(sum(held[place] for place in group)),
    )
