"""Compiled functions in the user's code that run what was traced with other values."""

from collections.abc import Callable, Iterator, Sequence
from types import MethodType
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import find_reach, loaded
from ipyjaxbench.graphs import notes
from ipyjaxbench.reports import Note
from ipyjaxbench.retracing import (
    CallWatch,
    Change,
    describe_changes,
    find_stale,
    stale_in_all,
    stale_parts,
)
from ipyjaxbench.timing import CodeFacts, note_stale_program
from ipyjaxbench.usercode import Call, ask, call_of, unwrap

_MADE = " for a new "


def note_stale_programs(watch: CallWatch, code: CodeFacts) -> Iterator[Note]:
    """Yield a note for each function that the code calls whose program is stale.

    Where the arguments of a call are not known, that is so where each of its programs is.
    """
    calls = [
        (called, given)
        for function, given in code.calls
        for called in (function, call_of(function))
        if ask(watch.takes, called)
    ]
    found = [
        (f, stale_in_all(watch, f) if given is None else find_stale(watch, f, *given))
        for f, given in calls
    ]
    known = [function for function, _ in calls]
    tokens = {_token(watch, function) for function in known}
    owners = [each.__self__ for each in known if type(each) is MethodType]
    reached = (f for f in code.functions if not any(f is each for each in owners))
    named = [called for f in reached for called in (f, call_of(f)) if called is not None]
    others = [f for f in named if ask(watch.takes, f) and _token(watch, f) not in tokens]
    apart = (each for each in others if not _is_part(each, [*known, *others]))
    found += [(function, stale_in_all(watch, function)) for function in apart]
    stale = {watch.name(function): (function, why) for function, why in found if why}
    for name, (function, why) in stale.items():
        advice = watch.how_to_renew(function, why)
        yield note_stale_program(name, describe_changes(why), advice)


def note_stale_graphs(
    watch: CallWatch, call: Call, find: Callable[..., tuple[Change, ...]] = find_stale
) -> Iterator[Note]:
    """Yield a note for each compiled function that a call is, or calls, whose program is stale.

    Args:
        watch: of the framework.
        call: whose graph is made of the code of now.
        find: gives what changed since the program of a call was traced.
    """
    both = (call.function, call_of(call.function))
    compiled = next((each for each in both if ask(watch.takes, each)), None)
    try:
        if compiled is None:
            parts = [*stale_parts(watch, call.function)]
            around = [function for function, _ in parts]
            found = [(function, why) for function, why in parts if not _is_part(function, around)]
        else:
            found = [(compiled, find(watch, compiled, call.args, call.kwargs))]
    except CODE_ERRORS:  # the user's objects may raise anything
        return
    stale = {watch.name(function): (function, why) for function, why in reversed(found) if why}
    for name, (function, why) in reversed(stale.items()):
        advice = watch.how_to_renew(function, why)
        yield notes.cached_is_stale(name, describe_changes(why), advice)


def define_all_again(watch: CallWatch, function: Any, define: Callable[[Any], str]) -> str:
    """Return what to do for a function, and first for those in it that it would find stale.

    Args:
        watch: of its framework.
        function: as it is called.
        define: gives what to do for one alone.
    """
    try:
        parts = [inner for inner, _ in stale_parts(watch, function)]
    except CODE_ERRORS:  # the user's objects may raise anything
        parts = []
    texts = dict.fromkeys(map(define, (*reversed(parts), function)))
    # What is made by one call is made anew by one: of these the last says it of the whole.
    by_call = {text.partition(_MADE)[0]: text for text in texts}
    return ", then ".join(by_call.values())


def _token(watch: CallWatch, function: object) -> int | None:
    """Return what tells functions apart, also behind methods and partials."""
    try:
        return watch.token(function)
    except CODE_ERRORS:  # the user's objects may raise anything
        return None


def _is_part(function: object, compiled: Sequence[object]) -> bool:
    """Whether it is reached from another compiled one: then it is in the program of that."""
    around = [unwrap(each) for each in compiled if each is not function]
    return any(each is function for each in find_reach(around, loaded()[0]).functions)
