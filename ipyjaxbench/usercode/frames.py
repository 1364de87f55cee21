"""Which expression of the user's code is being evaluated: its line and its text."""

import ast
import itertools
import linecache
from types import FrameType, TracebackType

from ipyjaxbench.usercode.call import called_name
from ipyjaxbench.usercode.origin import PACKAGE, is_users_file


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
    if trace is None:
        return None
    rest = strip_hook_frames(trace.tb_next)
    if trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
        return rest
    trace.tb_next = rest
    return trace
