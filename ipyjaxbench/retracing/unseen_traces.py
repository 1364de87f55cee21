"""What is told of programs that were not seen, or not all: they are held against today's."""

import re
from collections.abc import Collection, Iterator, Sequence
from contextvars import copy_context
from typing import Any

from ipyjaxbench.retracing.cache_key import ANOTHER, Change
from ipyjaxbench.retracing.kept_trace import Unseen
from ipyjaxbench.retracing.protocol import Args, CallWatch, Kwargs
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.usercode import MOST_READ, WITHIN, Reads

_MOST_NAMED = 3


def changes_unseen(
    watch: CallWatch, function: Any, args: Args, kwargs: Kwargs
) -> tuple[Change, ...]:
    """Return what may have changed since a trace that was not seen, if the program shows that."""
    is_another, now = judge_unseen(watch, function, args, kwargs)
    if not is_another:
        return ()
    given = {each.removesuffix("=") for each in watch.signature(function, args, kwargs).form}
    path = stale_names(now, given)
    return (Change("stale", path, new=f"was changed after {watch.name(function)} was traced"),)


def stale_names(now: Reads, given: Collection[str] = ()) -> str:
    """Return the names of which one changed, as a path; without what is given, if others are left.

    Example:
        >>> from ipyjaxbench.usercode import Imprint
        >>> stale_names(Reads({"a": Imprint("1", 1), "b": Imprint("1", 1)}))
        'a or b'
    """
    roots = roots_of(now)
    names = [each for each in roots if each.partition(" of ")[0] not in given] or roots
    *first, last = [*names[:_MOST_NAMED], *[ANOTHER] * (len(names) > _MOST_NAMED)]
    return f"{', '.join(first)} or {last}" if first else last


def judge_unseen(
    watch: CallWatch, function: Any, args: Args, kwargs: Kwargs
) -> tuple[bool | None, Reads]:
    """Hold the program that is kept against today's where the trace was not seen.

    Returns:
        Whether it is another one, None where the programs alone do not tell, and what is read now.
    """
    code = watch.traced_code(function, args, kwargs)
    now = (code.reads() if code is not None else None) or Reads()
    if code is None or not now.paths or now.raised or now.is_cut or now.side_effects:
        return None, now
    signature = watch.signature(function, args, kwargs)
    contents = hash((now.own, *((path, each.content) for path, each in now.values.items())))
    for each in TRACE_LOG.unseen:
        if (each.contents, each.signature) == (contents, signature) and not each.code.is_dropped():
            return each.answer, now
    with TRACE_LOG.paused():
        TRACE_LOG.compared += 1
        answer = copy_context().run(code.is_another_program, function, if_unsure=None)
    TRACE_LOG.unseen.append(Unseen(signature, contents, code, answer))
    return answer, now


def roots_of(reads: Reads) -> list[str]:
    """Return the names that a function reads, without parts of what they stand for."""
    paths = sorted(reads.paths, key=lambda path: WITHIN in path)  # those last that have no name
    return [*dict.fromkeys(re.split(rf"[.{WITHIN}\[]", path)[0] for path in paths)]


def first_of(names: Sequence[str]) -> str:
    """Return the first of some names, in words."""
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def not_compared(name: str, reads: Reads) -> Iterator[str]:
    """Say what was left out when a program's reads were compared with those of now."""
    if reads.is_cut:
        yield f"{name} reads more than {MOST_READ:,} values; the others were not compared"
    parts = {path: each.words for path, each in reads.values.items() if each.is_part}
    named = [f"{path.partition(WITHIN)[0]} ({words})" for path, words in parts.items()]
    if named:
        yield f"only part of {first_of([*dict.fromkeys(named)])} was compared"
