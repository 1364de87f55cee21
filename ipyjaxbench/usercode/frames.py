"""Which expression of the user's code is being evaluated: its line and its text."""

import ast
import gc
import itertools
import linecache
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_ITERABLE_COROUTINE
from types import FrameType, TracebackType

from ipyjaxbench.usercode.call import called_name
from ipyjaxbench.usercode.call_frames import is_call_frame
from ipyjaxbench.usercode.origin import PACKAGE, is_users_file

_GENERATOR = CO_ASYNC_GENERATOR | CO_COROUTINE | CO_GENERATOR | CO_ITERABLE_COROUTINE


def expression_at(frame: FrameType | None) -> tuple[int, str, str]:
    """What the innermost frame of the user's code evaluates.

    Args:
        frame: from which to look outward.

    Returns:
        The line, the text, and the function that it is in, "" outside of functions; 0 and no words
        where no frame is the user's.
    """
    while frame is not None and not is_users_file(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return 0, "", ""
    name = frame.f_code.co_name
    line, text = expression_of_instruction(frame, frame.f_lasti, frame.f_lineno)
    one_line = " ".join(part.strip() for part in text.splitlines())
    return line, one_line, "" if name == "<module>" else name


def expression_of_instruction(frame: FrameType, instruction: int, line: int) -> tuple[int, str]:
    """Return where the expression begins that an instruction evaluates, and its text.

    Where that is not known, the whole line: what `line` is for.
    """
    code, names = frame.f_code, frame.f_globals
    positions = itertools.islice(code.co_positions(), instruction // 2, None)
    start, end, left, right = next(positions)
    if start is None or end is None or left is None or right is None:
        return line, linecache.getline(code.co_filename, line, names).strip()
    lines = [text.encode() for text in linecache.getlines(code.co_filename, names)[start - 1 : end]]
    if lines:
        lines[-1] = lines[-1][:right]  # positions count bytes
        lines[0] = lines[0][left:]
    return start, b"".join(lines).decode(errors="replace")


def called_name_in(text: str) -> str:
    """Return the last name of what an expression calls; "" where it is no call.

    >>> called_name_in("np.asarray(x)"), called_name_in("x + 1")
    ('asarray', '')
    """
    try:
        return called_name(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return ""


def strip_hook_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without our frames between a call of the user's and what is called."""
    return _join(each for each in _steps(trace) if not _file_of(each.tb_frame).startswith(PACKAGE))


def strip_our_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without our frames, nor those of libraries that we called ourselves.

    It ends in the user's code, also where an interrupt came while ours ran.
    """
    kept: list[TracebackType] = []
    is_ours = False
    for each in _steps(trace):
        file = _file_of(each.tb_frame)
        is_ours = file.startswith(PACKAGE) or (is_ours and not is_users_file(file))
        if not is_ours:
            kept.append(each)
    return _join(kept)


def current_frames() -> dict[int, FrameType]:
    """Return the frame that each thread is in, by the thread's id.

    Before Python 3.12 its garbage collector may run meanwhile, and hang where it frees what waits
    for the same lock, as what is local to threads does (CPython issue 106883): it rests.
    """
    if sys.version_info >= (3, 12) or not gc.isenabled():
        return sys._current_frames()
    gc.disable()
    try:
        return sys._current_frames()
    finally:
        gc.enable()


def clear_our_frames(error: BaseException) -> None:
    """Clear the variables of our frames that have called those in tracebacks, and are in none.

    Python keeps the callers of a frame with it. Frames that run still keep theirs.
    """
    traces = [each.__traceback__ for each in errors_behind(error)]
    shown = {id(each.tb_frame) for trace in traces for each in _steps(trace)}
    for frame in frames_behind(*traces):
        if _file_of(frame).startswith(PACKAGE) and id(frame) not in shown:
            with suppress(RuntimeError):
                frame.clear()


def errors_behind(*errors: BaseException | None) -> Iterator[BaseException]:
    """Yield errors, what caused them, and what was being handled when they were raised."""
    waiting, found = [*errors], set()
    while waiting:
        error = waiting.pop(0)
        if isinstance(error, BaseException) and id(error) not in found:
            found.add(id(error))
            yield error
            waiting += [error.__cause__, error.__context__]
            waiting += error.exceptions if isinstance(error, BaseExceptionGroup) else ()


def frames_behind(*traces: TracebackType | None) -> Iterator[FrameType]:
    """Yield the frames in tracebacks, and their callers; no generator that may go on."""
    found: set[int] = set()
    for each in itertools.chain.from_iterable(map(_steps, traces)):
        frame: FrameType | None = each.tb_frame
        while frame is not None and id(frame) not in found:
            found.add(id(frame))
            caller = frame.f_back
            if frame is each.tb_frame or not frame.f_code.co_flags & _GENERATOR:
                yield frame
            frame = caller


def _steps(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        after = trace.tb_next
        yield trace
        trace = after


def _join(steps: Iterable[TracebackType]) -> TracebackType | None:
    """Return a traceback of these steps, from the outermost on."""
    joined: TracebackType | None = None
    for each in reversed([*steps]):
        each.tb_next = joined
        joined = each
    return joined


def _file_of(frame: FrameType) -> str:
    return PACKAGE if is_call_frame(frame) else frame.f_code.co_filename
