"""Makes calls for the user's code, from a frame that has its file, line and names.

A warning that what is called gives to its caller has the place that it has without us.
"""

import ast
import itertools
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

from ipyjaxbench.usercode.instrumented_tree import Site

_FUNCTION = "__fw_function"
_CALL = f"lambda {_FUNCTION}, __fw_args, __fw_kwargs: {_FUNCTION}(*__fw_args, **__fw_kwargs)"
_Caller = Callable[[Any, Any, Any], Any]


class CallFrames:
    """What makes the calls of single places in the user's code."""

    def __init__(self) -> None:
        self._callers: dict[Site, _Caller] = {}

    def caller(self, site: Site, frame: FrameType) -> _Caller:
        """Return what calls a function, with its arguments and those by name.

        Args:
            site: the place.
            frame: of the user's, which is there.
        """
        known = self._callers.get(site)
        if known is None:
            known = self._callers[site] = _caller_like(frame)
        return known


def is_call_frame(frame: FrameType) -> bool:
    """Whether it is one of these frames, and none of the user's own."""
    return frame.f_code.co_varnames[:1] == (_FUNCTION,)


def _caller_like(frame: FrameType) -> _Caller:
    code, tree = frame.f_code, ast.parse(_CALL, mode="eval")
    positions = itertools.islice(code.co_positions(), frame.f_lasti // 2, None)
    line, end, left, right = next(positions)
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.arg):
            node.lineno, node.end_lineno = line or frame.f_lineno, end or frame.f_lineno
            node.col_offset, node.end_col_offset = left or 0, right or 0
    (made,) = (
        each
        for each in compile(tree, code.co_filename, "eval", dont_inherit=True).co_consts
        if isinstance(each, type(code))
    )
    return FunctionType(
        made.replace(co_name=code.co_name, co_qualname=code.co_qualname), frame.f_globals
    )
