"""The reasons for which calls were traced or compiled, grouped and counted."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ipyjaxbench.retracing.cache_key import Change, describe_changes
from ipyjaxbench.retracing.traces import COSTLY, TracedCall

_MAX_VALUES = 3  # that are named
_MAX_NAMES = 3  # of functions
_MAX_CHANGES = 3
#: Kind of a change -> its plural, where what it changed between is listed.
_PLURALS = {
    "shape": "shapes",
    "rank": "ranks",
    "dtype": "dtypes",
    "type": "types",
    "scalar": "types",
    "weak type": "types",
    "static value": "static values",
    "number": "static values",
    "order": "orders",
    "device": "devices",
    "sharding": "shardings",
    "layout": "layouts",
    "setting": "settings",
    "option": "options",
}


@dataclass(frozen=True)
class Reason:
    """What calls that were traced or compiled have in common.

    Attributes:
        words: the reason, in one line.
        functions: whose calls these are.
        calls: how many calls it explains.
        seconds: how long they took.
    """

    words: str
    functions: str
    calls: int
    seconds: float


def group_reasons(calls: Iterable[TracedCall]) -> list[Reason]:
    """Return the reasons for which calls were traced or compiled, the most expensive first.

    Calls share a reason where the same arguments of the same function changed in the same way;
    first calls of functions are one reason.
    """
    groups: dict[object, list[TracedCall]] = {}
    for call in calls:
        if call.state in COSTLY:
            groups.setdefault(_key(call), []).append(call)
    reasons = [
        Reason(_words(group), _functions(group), len(group), math.fsum(c.seconds for c in group))
        for group in groups.values()
    ]
    return sorted(reasons, key=lambda reason: -reason.seconds)


def _key(call: TracedCall) -> object:
    if len(call.causes) == 1 and call.causes[0].kind == "first":
        return call.causes[0].new
    changes = tuple((change.kind, change.path or change.new) for change in call.causes)
    return call.framework, call.name, changes or call.says


def _functions(calls: Sequence[TracedCall]) -> str:
    names = [*dict.fromkeys(call.name for call in calls)]
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more


def _words(calls: Sequence[TracedCall]) -> str:
    first = calls[0]
    if not first.causes:
        return f"{first.framework}: {first.says}" if first.says else "unknown"
    if len(calls) == 1 and len(first.causes) <= _MAX_CHANGES:
        return describe_changes(first.causes)
    texts = [_changes(changes) for changes in zip(*(call.causes for call in calls), strict=True)]
    more = f"; {len(texts) - _MAX_CHANGES} more" if len(texts) > _MAX_CHANGES else ""
    return "; ".join(texts[:_MAX_CHANGES]) + more


def _changes(changes: Sequence[Change]) -> str:
    """Return one change that calls share, with the values that it went through."""
    first = changes[0]
    values = [*dict.fromkeys(_values(changes))]
    if len(changes) == 1 or len(values) < 3 or first.kind not in _PLURALS:
        return first.words()
    shown = ", ".join(values[:_MAX_VALUES]) + ", …" * (len(values) > _MAX_VALUES)
    name = f"{first.path}: " if first.path else ""
    return f"{name}{len(values):,} {_PLURALS[first.kind]} ({shown})"


def _values(changes: Sequence[Change]) -> Iterator[str]:
    for change in changes:
        yield from filter(None, (change.old, change.new))
