"""The names of a session that stand for functions whose programs are stale."""

from collections.abc import Iterator, Mapping
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.retracing.cache_key import Change
from ipyjaxbench.retracing.protocol import CallWatch, call_watches
from ipyjaxbench.retracing.stale import stale_since_latest, token_of
from ipyjaxbench.usercode import ask, attributes, call_of, is_users_class


def find_stale_functions(names: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Change, ...]]]:
    """Yield names of compiled functions whose latest program is stale, each with what changed.

    Of several names of one function it is the first; what the session keeps of results comes last.
    """
    watches = [watch for _, watch in call_watches(loaded()[0])]
    told: set[object] = set()
    for name, value in _callables(names):
        for called in (value, call_of(value)):
            watch = next((each for each in watches if ask(each.takes, called)), None)
            changes = stale_since_latest(watch, called) if watch is not None else ()
            which = _which(watch, called) if watch is not None and changes else None
            if changes and which not in told:
                told.add(which)
                yield name, changes


def _callables(names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what names stand for, and what objects of the user's classes keep, by their names."""
    own = sorted(names.items(), key=lambda pair: pair[0].startswith("_"))
    yield from own
    for name, value in own:
        if is_users_class(type(value)):
            yield from ((f"{name}.{key}", each) for key, each in attributes(value).items())


def _which(watch: CallWatch, compiled: Any) -> object:
    """Return what tells functions apart, whatever stands for one."""
    try:
        return token_of(watch, compiled) or id(compiled)
    except CODE_ERRORS:  # the user's objects may raise anything
        return id(compiled)
