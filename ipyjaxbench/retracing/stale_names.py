"""The names of a session that stand for functions whose programs are stale, or lead to some."""

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MethodType
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.retracing.cache_key import Change
from ipyjaxbench.retracing.protocol import CallWatch, call_watches
from ipyjaxbench.retracing.stale import stale_since_latest
from ipyjaxbench.usercode import ask, call_of, callables_in

_MOST_OBJECTS = 20  # whose programs of one method are looked at: each takes a millisecond


def find_stale_functions(names: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Change, ...]]]:
    """Yield what leads to compiled functions whose latest program is stale, each with what changed.

    Of several that lead to one function it is the first; of a method one for each object, as far as
    these are not too many.
    """
    watches = [watch for _, watch in call_watches(loaded()[0])]
    told: set[tuple[object, int]] = set()
    looks = Counter[int]()
    for name, value in callables_in(names):
        methods = (
            (f"{name}.{end}", each) for w in watches for end, each in w.methods(value).items()
        )
        for path, called in ((name, value), (name, call_of(value)), *methods):
            if type(called) is MethodType:
                looks[id(called.__func__)] += 1
                if looks[id(called.__func__)] > _MOST_OBJECTS:
                    continue
            watch = next((each for each in watches if ask(each.takes, called)), None)
            changes = stale_since_latest(watch, called) if watch is not None else ()
            if watch is None or not changes:
                continue
            which = _which(watch, called)
            is_told = which in told or (not which[1] and any(each == which[0] for each, _ in told))
            told.add(which)
            if not is_told:
                yield path, changes


def _which(watch: CallWatch, compiled: Any) -> tuple[object, int]:
    """Return what tells functions apart, whatever stands for one, and of methods whose."""
    try:
        owner = 0 if (found := watch.owner(compiled)) is None else id(found)
        return watch.token(compiled) or id(compiled), owner
    except CODE_ERRORS:  # the user's objects may raise anything
        return id(compiled), 0
