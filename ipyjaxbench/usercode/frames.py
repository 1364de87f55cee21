"""Which expression of the user's code is being evaluated: its line and its text."""

import ast
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
    start, end, left, right = [*frame.f_code.co_positions()][frame.f_lasti // 2]
    file, name = frame.f_code.co_filename, frame.f_code.co_name
    name = "" if name == "<module>" else name
    if start is None or end is None or left is None or right is None:
        return frame.f_lineno, linecache.getline(file, frame.f_lineno).strip(), name
    lines = [linecache.getline(file, number).encode() for number in range(start, end + 1)]
    lines[-1] = lines[-1][:right]  # positions count bytes
    lines[0] = lines[0][left:]
    return start, b" ".join(line.strip() for line in lines).decode(errors="replace"), name


def called_name_in(text: str) -> str:
    """The last name of what an expression calls; "" where it is no call.

    >>> called_name_in("np.asarray(x)"), called_name_in("x + 1")
    ('asarray', '')
    """
    try:
        return called_name(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return ""


def strip_hook_frames(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames that stand between a call of the user's and what is called."""
    if trace is None:
        return None
    rest = strip_hook_frames(trace.tb_next)
    if trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
        return rest
    trace.tb_next = rest
    return trace
