"""Finds the stale programs that a block of code runs, whatever calls them."""

import ast
import linecache
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from traceback import walk_stack
from types import CodeType, FrameType
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS, StaleProgramError
from ipyjaxbench.frameworks import find_reach, loaded
from ipyjaxbench.host import Clock
from ipyjaxbench.retracing.cache_key import Change, describe_changes
from ipyjaxbench.retracing.protocol import CachedCall, CallWatch, call_watches
from ipyjaxbench.retracing.stale import find_stale, stale_since_latest
from ipyjaxbench.retracing.stale_calls import StaleCalls
from ipyjaxbench.usercode import ask, is_users_file, names_in


class StaleInBlock:
    """Looks at the cached calls while a ``with`` block runs.

    Frameworks report them, whatever they are called through. What one does not report, as a call
    that needs Python or a part of what is traced, is looked for in what the block names, at its
    end.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._watches: list[CallWatch] = []
        self._stale = StaleCalls(Clock.elapsed())
        self._looking = threading.local()
        self._called: set[int | None] = set()  # tokens of functions whose calls were reported
        self._begin: tuple[CodeType, int] | None = None  # of the block: its code and line
        self._found: StaleProgramError | None = None

    def open(self, inner: FrameType) -> None:
        """Look on from now on; the block is in the user's frame that is nearest to this one."""
        frame = _users_frame(inner)
        self._begin = frame.f_code, frame.f_lineno
        self._found = None
        with ExitStack() as stack:
            self._watches = [watch for _, watch in call_watches(loaded()[0])]
            for watch in self._watches:
                watch.report_hits(partial(self._on_hit, watch))
                stack.enter_context(watch)
            self._stack = stack.pop_all()

    def catch_up(self) -> None:
        """Look at the calls of what was imported since."""
        for watch in self._watches:
            watch.catch_up()

    def close(self) -> None:
        """Look on no more, and hold none of the user's values."""
        self._stack.close()
        self._stale.close()
        self._watches = []

    def error(self, inner: FrameType) -> StaleProgramError | None:
        """Return the error for the first stale program that the block ran, if it ran any."""
        return self._found or next(self._unreported(_users_frame(inner)), None)

    def _on_hit(self, watch: CallWatch, find: Callable[[], CachedCall | None]) -> None:
        if getattr(self._looking, "now", False):  # the code is traced aside
            return
        self._looking.now = True
        try:
            call = find()
            if call is not None and self._found is None:
                self._called.add(_token(watch, call.function))
                invocation = call.function, call.args, call.kwargs
                if watch.is_guarded:
                    changes = find_stale(watch, *invocation)
                else:
                    changes, _ = self._stale.find(watch, *invocation)
                if changes:
                    self._found = stale_program(watch, call.function, changes)
        finally:
            self._looking.now = False

    def _unreported(self, frame: FrameType) -> Iterator[StaleProgramError]:
        """Yield an error for what the block names whose calls were not reported."""
        code, line = self._begin or (None, 0)
        of_block = _names_in_block(frame, line) if frame.f_code is code else None
        names = {**frame.f_globals, **frame.f_locals}
        used = _names_of(frame.f_code) if of_block is None else of_block
        values = [names[each] for each in used if each in names]
        frameworks = loaded()[0]
        watches = [watch for _, watch in call_watches(frameworks)]
        for function in find_reach(values, frameworks).functions:
            watch = next((each for each in watches if ask(each.takes, function)), None)
            if watch is None or watch.is_guarded:  # such a one reports every call
                continue
            if _token(watch, function) in self._called:
                continue
            if changes := stale_since_latest(watch, function):
                yield stale_program(watch, function, changes)


def stale_program(watch: CallWatch, function: Any, changes: Sequence[Change]) -> StaleProgramError:
    """Return what is raised where a program is stale."""
    name = watch.name(function)
    fixes = "; ".join(watch.fixes(name, changes, function))
    return StaleProgramError(f"`{name}` runs a stale program: {describe_changes(changes)}. {fixes}")


def _users_frame(inner: FrameType) -> FrameType:
    frames = (f for f, _ in walk_stack(inner) if is_users_file(f.f_code.co_filename))
    return next(frames, inner)


def _names_of(code: CodeType) -> Iterable[str]:
    return (*names_in(code), *code.co_varnames, *code.co_cellvars, *code.co_freevars)


def _names_in_block(frame: FrameType, line: int) -> Iterable[str] | None:
    """Return the names in the ``with`` block that begins in a line; None where not known."""
    try:
        text = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
        nodes = [*ast.walk(ast.parse(text))]
    except (SyntaxError, ValueError):
        return None
    blocks = (n for n in nodes if isinstance(n, ast.With | ast.AsyncWith))
    heads = (b for b in blocks if b.lineno <= line <= (b.items[-1].context_expr.end_lineno or 0))
    block = next(heads, None)
    if block is None:
        return None
    inside = [node for each in block.body for node in ast.walk(each)]
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in inside):
        return None  # others run meanwhile
    return {each.id for each in inside if isinstance(each, ast.Name)}


def _token(watch: CallWatch, function: object) -> int | None:
    """Return what tells functions apart, also behind methods and partials."""
    try:
        return watch.token(function)
    except CODE_ERRORS:  # the user's objects may raise anything
        return None
