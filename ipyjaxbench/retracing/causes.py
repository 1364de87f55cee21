"""Which changes of a call caused a trace: those from the nearest earlier call that can have."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from ipyjaxbench.retracing.cache_key import (
    KINDS,
    MAYBE,
    PLACEMENT,
    Change,
    Property,
    Signature,
)
from ipyjaxbench.retracing.key_changes import changes


def compare(
    new: Signature,
    known: Sequence[Signature],
    *,
    placed: bool = False,
    accepted: Collection[Property] = (),
    beside: Sequence[Change] = (),
) -> list[Change]:
    """Return in what a signature differs from the nearest known one, the latest of these.

    Args:
        new: of the call.
        known: of earlier calls.
        placed: whether nothing was traced, so that only where arrays lie can have changed.
        accepted: paths of values, each with a property that the latest program takes as it is:
            no causes.
        beside: causes that no signature holds.
    """
    latest, *earlier = ([*changes(old, new)] for old in reversed(known))
    left = [c for c in latest if not _is_accepted(c, accepted)]
    if beside and not left:
        return [*beside]
    differences = [left or latest, *earlier]
    if not placed:
        nearest = min(map(_causes_of_trace, differences), key=_distance)
        return [*_without_omitted(nearest), *beside]
    others = [[c for c in each if c.kind != MAYBE] for each in differences]
    # Of calls that the same trace serves: of others there is no telling what makes the program.
    same = [each for each in others if all(c.kind in (*PLACEMENT, "setting") for c in each)]
    if same:
        return min(same, key=len)
    placement = [[c for c in each if c.kind in (*PLACEMENT, "setting")] for each in others]
    return min(placement, key=_distance) or min(others, key=_distance)


def _is_accepted(change: Change, accepted: Collection[Property]) -> bool:
    """Whether a program takes what changed; of what came or went, what holds it tells."""
    path = change.path
    if change.kind == "structure" and not change.old:
        path = path[: max(path.rfind("["), path.rfind("."), 0)]
    return (path, change.kind) in accepted


def is_same_trace(one: Signature, other: Signature) -> bool:
    """Whether a trace that was made with one signature serves a call with the other."""
    return all(each.kind in (*PLACEMENT, MAYBE) for each in changes(one, other))


def is_same_owner(one: Signature, other: Signature) -> bool:
    """Whether two compiled objects, which are the first argument, differ in nothing of a key."""
    names = {*one.form[:1], *other.form[:1]}
    return all(re.split(r"[.\[]", each.path)[0] not in names for each in changes(one, other))


def _causes_of_trace(changes: Sequence[Change]) -> list[Change]:
    """Return what can have caused a trace; a number's value only where nothing else can."""
    excluded: tuple[tuple[str, ...], ...] = ((*PLACEMENT, MAYBE), PLACEMENT, ())
    causes = ([c for c in changes if c.kind not in kinds] for kinds in excluded)
    found: list[Change] = next(filter(None, causes), [])
    return [replace(c, kind="static value") if c.kind == MAYBE else c for c in found]


def _without_omitted(changes: Sequence[Change]) -> list[Change]:
    """Leave out that a call leaves an argument out where the other one gives no default."""
    values = {each.path for each in changes if each.kind == "static value"}
    return [
        each
        for each in changes
        if each.kind != "form" or each.path not in values or "omitted" not in (each.old, each.new)
    ]


def _distance(changes: Sequence[Change]) -> tuple[int, int]:
    """Return a key by which the fewest and lightest come first, and no changes come last."""
    return len(changes) or len(KINDS), -sum(KINDS.index(c.kind) for c in changes)
