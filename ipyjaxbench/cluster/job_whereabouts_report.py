"""How arrays over all ranks are shown: a line for each, what differs, parts drawn, each rank."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ipyjaxbench import units
from ipyjaxbench.cluster.differences import describe_differences
from ipyjaxbench.cluster.job_whereabouts import JobArray, JobWhereabouts
from ipyjaxbench.cluster.rank_names import name_ranks
from ipyjaxbench.cluster.rank_table import make_rank_table
from ipyjaxbench.device import (
    ArrayPlacement,
    array_traits,
    describe_array,
    draw_shardings,
    fold_arrays,
)
from ipyjaxbench.reports import Block, Calls, Facts, Footer, Headline, Report, report

_MAX_ARRAYS = 40  # that are named one by one
_EVEN = 1.01


@report.register
def _(job: JobWhereabouts) -> Report:
    """Return the blocks in the order in which they are read."""
    arrays = list(job.arrays)
    if not job.asked:
        arrays.sort(key=lambda each: -sum(each.held))
    blocks: list[Block] = [_headline(job)]
    if different := tuple(describe_differences(job)):
        blocks.append(Facts(different))
    if arrays:
        blocks.append(_tree(job, arrays))
    if job.asked:
        blocks += draw_shardings([_drawn(job, each) for each in arrays])
    blocks.append(make_rank_table(job))
    blocks.append(Facts(tuple(_facts(job))))
    versions = (f"{name} {version}" for name, version in job.frameworks.items())
    return Report((*blocks, Footer((units.count(len(job.by_host), "host"), *versions))))


def _headline(job: JobWhereabouts) -> Headline:
    counts = [0] * len(job.ranks)
    for each in job.arrays:
        for place in each.ranks if each.array.framework and not each.array.deleted else ():
            counts[place] += each.array.arrays
    asked, all_ranks = len(job.answering), units.count(job.size, job.member)
    ranks = all_ranks if asked == job.size else f"{asked} of {all_ranks}"
    hosts = units.count(len(job.by_host), "host")
    count = max(counts, default=0)
    figure = units.count(count, "array") if count else "no arrays"
    detail = f"{units.size(sum(job.held))} in {ranks} on {hosts}"
    return Headline(", ".join(job.asked) or "all variables", figure, detail, "", "")


def _tree(job: JobWhereabouts, arrays: Sequence[JobArray]) -> Calls:
    """Return a line for each array; its framework is told where there are several."""
    everywhere = f"in all {job.member}s"
    head: tuple[str, ...] = ("name", "framework", "type", "size", everywhere, "where")
    rows = [*_rows(job, arrays)]
    if len({each.array.framework for each in arrays} - {""}) < 2:
        head, rows = (head[0], *head[2:]), [(row[0], *row[2:]) for row in rows]
    return Calls(head, tuple(rows))


def _rows(job: JobWhereabouts, arrays: Sequence[JobArray]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each array; of very many, for those that begin alike."""
    groups: dict[tuple[object, ...], list[JobArray]] = {}
    for number, each in enumerate(arrays):
        alone = len(arrays) <= _MAX_ARRAYS
        groups.setdefault((number,) if alone else (each.ranks, each.is_global), []).append(each)
    left = _MAX_ARRAYS
    for group in groups.values():
        placed = [job.placement(each) for each in group]
        all_held = [
            replace(one, nbytes=sum(each.held), of="", deleted=False)
            for one, each in zip(placed, group, strict=True)
        ]
        most = max(left, 1)
        folded, totals = fold_arrays(placed, most), fold_arrays(all_held, most)
        for one, total in [*zip(folded, totals, strict=True)][: max(left, 0)]:
            size = units.size(total.nbytes) if one.framework else ""
            where = ", ".join(_where(job, group[0], one))
            yield one.name, one.framework, *describe_array(one), size, where
        left -= len(folded)
    if left < 0:
        yield "...", "", f"{-left:,} more", "", "", ""


def _where(job: JobWhereabouts, of: JobArray, each: ArrayPlacement) -> Iterator[str]:
    if len(of.ranks) < len(job.answering):
        yield f"in {name_ranks([job.ranks[place].label for place in of.ranks])}"
    elif each.framework and not of.is_global and len(of.ranks) > 1:
        yield f"in each {job.member}"
    if each.framework and not each.deleted:
        if each.sharding is not None:
            yield each.sharding.describe()
        elif of.is_global:
            yield f"parts in each {job.member}"
    yield from array_traits(each)


def _drawn(job: JobWhereabouts, each: JobArray) -> ArrayPlacement:
    """Return an array as it is drawn; one that each rank has for itself is drawn for the first."""
    placed = job.placement(each)
    if each.is_global and not job.lacking(each):
        return placed
    return replace(placed, name=f"{placed.name} in {job.ranks[each.ranks[0]].label}")


def _facts(job: JobWhereabouts) -> Iterator[tuple[str, str]]:
    held, mean = job.held, sum(job.held) / max(len(job.held), 1)
    if len(held) > 1 and mean:
        if job.imbalance < _EVEN:
            about = "about " if len(set(held)) > 1 else ""
            yield "balance", f"each {job.member} holds {about}{units.size(round(mean))}"
        else:
            fullest = job.ranks[job.answering[held.index(max(held))]]
            yield (
                "balance",
                (
                    f"{fullest.label} ({fullest.host}) holds most: {units.size(max(held))},"
                    f" {job.imbalance:.2f}× the mean"
                ),
            )
    copies = sum(
        each.array.arrays
        for each in job.arrays
        if not each.is_global and len(each.ranks) > 1 and each.array.framework
    )
    if copies:
        arrays = "1 array has" if copies == 1 else f"{copies:,} arrays have"
        yield "copies", f"{arrays} the same shape in each {job.member}; values were not compared"
    if any(rank.unnamed for rank in job.ranks):
        counts = [sum(n for n, _ in rank.unnamed.values()) for rank in job.ranks]
        sizes = [sum(n for _, n in rank.unnamed.values()) for rank in job.ranks]
        which = units.count(sum(counts), "unnamed array")
        most = job.ranks[sizes.index(max(sizes))].label
        yield "unnamed", f"{which}, {units.size(sum(sizes))} here; most in {most}"
