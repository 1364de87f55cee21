"""What is not the same in all ranks, in words."""

from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.cluster.job_whereabouts import JobArray, JobWhereabouts
from ipyjaxbench.cluster.rank_names import name_ranks
from ipyjaxbench.device import ArrayPlacement, array_traits, describe_array

_MAX_LINES = 8
_MAX_NAMES = 3


def describe_differences(job: JobWhereabouts) -> Iterator[tuple[str, str]]:
    """Yield a line for each rank that has no answer, and for arrays that not all have alike."""
    silent: dict[str, list[str]] = {}
    failed: dict[tuple[str, str], list[str]] = {}
    for rank in job.ranks:
        if rank.silent:
            silent.setdefault(rank.silent, []).append(rank.label)
        for failure in rank.failures.items():
            failed.setdefault(failure, []).append(rank.label)
    for reason, labels in silent.items():
        yield "no answer", f"{name_ranks(labels)} {reason}"
    for (expression, reason), labels in failed.items():
        yield "failed", f"{expression} in {name_ranks(labels)}: {reason}"
    lines = _differences(job)
    for words, names in [*lines.items()][:_MAX_LINES]:
        more = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
        yield "differs", f"{', '.join(names[:_MAX_NAMES])}{more}: {words}"
    if len(lines) > _MAX_LINES:
        yield "", f"{len(lines) - _MAX_LINES:,} more differences"


def _differences(job: JobWhereabouts) -> dict[str, list[str]]:
    """Return how arrays differ, each difference with the names of all that have it."""
    variants: dict[str, list[JobArray]] = {}
    for each in job.differing:
        variants.setdefault(each.array.name, []).append(each)
    found: dict[str, list[str]] = {}
    for name, group in variants.items():
        found.setdefault(_describe(job, group), []).append(name)
    return found


def _describe(job: JobWhereabouts, variants: Sequence[JobArray]) -> str:
    if len(variants) == 1:
        [only] = variants
        lacking = name_ranks([job.ranks[place].label for place in job.lacking(only)])
        here = name_ranks([job.ranks[place].label for place in only.ranks])
        few = len(only.ranks) < len(job.lacking(only))
        return f"in {here} alone" if few else f"not in {lacking}"
    kinds = [describe_array(each.array)[0] for each in variants]
    placed = [job.placement(each) for each in variants]
    for describe in (_place, _size, _traits):
        if len(set(kinds)) == len(variants):
            break
        more = [describe(each) for each in placed]
        if len(set(more)) > 1:
            kinds = [f"{kind} {words}".strip() for kind, words in zip(kinds, more, strict=True)]
    both = zip(kinds, variants, strict=True)
    return "; ".join(
        f"{words} in {name_ranks([job.ranks[place].label for place in each.ranks])}"
        for words, each in both
    )


def _place(each: ArrayPlacement) -> str:
    if each.sharding is not None:
        return each.sharding.describe()
    platforms = dict.fromkeys(device.partition(":")[0] for device in each.devices)
    return f"on {' '.join(platforms)}" if platforms else ""


def _size(each: ArrayPlacement) -> str:
    return units.size(each.nbytes)


def _traits(each: ArrayPlacement) -> str:
    return ", ".join(array_traits(each))
