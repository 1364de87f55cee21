"""Arrays that the first call gave another dtype, or moved, so that later calls need not."""

from collections.abc import Container, Iterator, Sequence

from ipyjaxbench.frameworks import (
    Framework,
    MutableState,
    Placement,
    Scope,
    find_placements,
)
from ipyjaxbench.reports import Note
from ipyjaxbench.timing.validity import notes

_MAX_ARRAYS = 10_000  # under one name: more are not looked at again


def check_conversions(
    scope: Scope, frameworks: Sequence[Framework], reset: Container[str]
) -> Iterator[Note]:
    """Note what is of another dtype, or elsewhere, than before the first call.

    This is what becomes of a module of a library: its arrays are not copied beforehand.

    Args:
        scope: what the code reads, and how it was before.
        frameworks: only those matter whose arrays change in place.
        reset: names of which it is known how calls depend on their state.
    """
    own = [f for f in frameworks if f.capability(MutableState).counts_changes]
    names = {f.name for f in own}
    for before in scope.inputs:
        if before.framework in names and before.name not in reset and before.arrays < _MAX_ARRAYS:
            values = {before.name: scope.read_values.get(before.name)}
            for after in find_placements(values, own):
                if after.framework == before.framework and _of(after) != _of(before):
                    yield notes.converted_once(before.name, *_in_words(before, after))


def _of(placement: Placement) -> tuple[object, ...]:
    return placement.dtype, placement.devices


def _in_words(before: Placement, after: Placement) -> tuple[str, str]:
    """Return what differs: dtypes, devices or both."""
    parts = [(" and ".join(each.devices), each.dtype) for each in (before, after)]
    kept = [i for i in range(2) if parts[0][i] != parts[1][i]]
    was, now = (", ".join(reversed([each[i] for i in kept])) for each in parts)
    return was, now
