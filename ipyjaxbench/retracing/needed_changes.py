"""Of several names that changed since a trace, those that its program depends on."""

import re
from ast import literal_eval
from collections.abc import Collection, Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing.kept_trace import Trace
from ipyjaxbench.retracing.read_changes import ReadChange
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.retracing.traced_code import TracedCode
from ipyjaxbench.usercode import Reads

_NAME = re.compile(r"\w+")
_MOST_TRIED = 4  # names, each of which takes another trace
_PLAIN = ("bool", "int", "float", "complex", "str", "bytes", "NoneType")


def needed_changes(trace: Trace, found: Sequence[ReadChange], now: Reads) -> tuple[ReadChange, ...]:
    """Return the changes without those of plain values that are known to make no difference.

    None is left where nothing else changed: then the program differs by what it draws at random.
    """
    found = without_hidden(found)
    before: Mapping[str, Any] = {}
    if now.side_effects:
        return found
    found = _used(trace, found)
    try:
        before = _plain_values(trace, found)
        with TRACE_LOG.paused():
            if 0 < len(before) < len(found) and copy_context().run(trace.code.is_given_by, before):
                found = tuple(each for each in found if each.path in before)
            needed = copy_context().run(_needed, trace.code, before) if before else None
    except CODE_ERRORS:  # it cannot be traced with those
        needed = None
    if needed is not None:
        found = tuple(each for each in found if each.path not in before or each.path in needed)
    return _with_uses(trace, found, before)


def _needed(code: TracedCode, before: Mapping[str, Any]) -> Collection[str] | None:
    """Return names that make today's program another one; None if not known."""
    needed = code.needs(before)
    is_tried = needed is None and 1 < len(before) <= _MOST_TRIED
    if not is_tried or not code.is_given_by(before):
        return needed
    left = {**before}
    for name in before:  # the others alone may give the program of then
        others = {each: value for each, value in left.items() if each != name}
        if others and code.is_given_by(others):
            left = others
    return left


def _used(trace: Trace, found: tuple[ReadChange, ...]) -> tuple[ReadChange, ...]:
    """Leave out names that today's trace does not load, or itself changes, if others are left.

    By the others it differs: what it does not load makes none of it.
    """
    try:
        with TRACE_LOG.paused():
            used = copy_context().run(trace.code.names_used) if len(found) > 1 else None
    except CODE_ERRORS:  # it cannot be traced
        used = None
    if used is None:
        return found
    loaded, changed = used
    left = tuple(
        each
        for each in found
        if not each.path or not loaded.isdisjoint(_NAME.findall(each.path))
        if not any(_is_within(each.path, name) for name in changed)
    )
    return left or found


def _is_within(path: str, name: str) -> bool:
    return path == name or path.startswith((f"{name}[", f"{name}."))


def _with_uses(
    trace: Trace, changes: tuple[ReadChange, ...], before: Mapping[str, Any]
) -> tuple[ReadChange, ...]:
    """Add whether numbers that changed could be given to a call as its data."""
    paths = {each.path for each in changes}
    numbers = {p: v for p, v in before.items() if p in paths and type(v) in (int, float)}
    try:
        with TRACE_LOG.paused():
            others = copy_context().run(trace.code.not_data, numbers) if numbers else None
    except CODE_ERRORS:
        others = None
    if others is None:
        return changes
    return tuple(
        replace(each, is_data=each.path not in others) if each.path in numbers else each
        for each in changes
    )


def without_hidden(found: Sequence[ReadChange]) -> tuple[ReadChange, ...]:
    """Leave out what a library keeps in an object, where that has another change that shows.

    Such parts have no values that could be compared: each object has its own.
    """
    shown = {_owner(each.path) for each in found if each.imprint != "opaque"}
    hidden = [each for each in found if each.imprint == "opaque" and _owner(each.path)]
    hidden = [each for each in hidden if _is_private(each.path) or _owner(each.path) in shown]
    return tuple(each for each in found if each not in hidden) if shown else (*found,)


def _owner(path: str) -> str:
    return path.rpartition(".")[0]


def _is_private(path: str) -> bool:
    return path.rpartition(".")[2].startswith("_")


def _plain_values(trace: Trace, found: Sequence[ReadChange]) -> Mapping[str, Any]:
    """Return what changed names stood for, of those that stood for a number or a text."""
    contents = {each.path: trace.reads.values.get(each.path) for each in found}
    return {
        path: literal_eval(imprint.content[1])
        for path, imprint in contents.items()
        if path.isidentifier() and imprint is not None and imprint.kind == "value"
        if isinstance(imprint.content, tuple) and imprint.content[0] in _PLAIN
    }
