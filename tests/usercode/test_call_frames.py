"""Calls that are made for the user's code have its place."""

import sys
from types import FrameType
from typing import Any

import pytest

from ipyjaxbench.usercode import Site, expression_of_instruction, strip_our_frames
from ipyjaxbench.usercode.call_frames import CallFrames, is_call_frame

SITE = Site(1, "f(3)", "<cell>")


def through(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function from a frame like that of the caller."""
    return CallFrames().caller(SITE, sys._getframe(1))(function, args, kwargs)


def test_the_frame_has_the_place_of_the_callers() -> None:
    def look(n: int, *, by: int) -> tuple[FrameType, str]:
        frame = sys._getframe(1)
        return frame, expression_of_instruction(frame, frame.f_lasti, frame.f_lineno)[1] * n * by

    frame, text = through(look, 1, by=1)
    own = sys._getframe()
    assert is_call_frame(frame)
    assert not is_call_frame(own)
    assert frame.f_code is not own.f_code
    assert (frame.f_code.co_filename, frame.f_code.co_name) == (__file__, own.f_code.co_name)
    assert frame.f_globals is own.f_globals
    assert text == "through(look, 1, by=1)"


def test_a_place_has_one() -> None:
    frames = CallFrames()
    assert frames.caller(SITE, sys._getframe()) is frames.caller(SITE, sys._getframe())


def test_it_is_in_no_traceback() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        through(lambda: 1 / 0)
    shown = []
    trace = strip_our_frames(raised.value.__traceback__)
    while trace is not None:
        shown.append(trace.tb_frame)
        trace = trace.tb_next
    assert sys._getframe() in shown
    assert not any(map(is_call_frame, shown))
