"""What is raised in the user's code shows the user's lines: frames of this package hide."""

import itertools
from collections.abc import Callable
from traceback import walk_tb
from typing import Any

import pytest

from ipyjaxbench.usercode import (
    PACKAGE,
    Snippet,
    Source,
    evaluate_expressions,
    read_call,
    read_call_of_shapes,
    run_in_loop,
    run_in_new_loop,
)
from ipyjaxbench.usercode.awaiting import finish


def loop_of(code: str, names: dict[str, Any]) -> None:
    loop = Snippet(Source.plain(code), names).loop(waits=[])
    loop(itertools.repeat(None, 1), itertools.count().__next__, len, ())


def is_number(value: object) -> bool:
    return isinstance(value, int)


async def fails() -> None:
    raise ZeroDivisionError


async def inside() -> None:
    await run_in_loop(lambda: finish(fails()))


NAMES: dict[str, Any] = {"f": len, "fails": fails, "x": 1}
WAYS: dict[str, Callable[[], object]] = {
    "a call's argument": lambda: read_call(Source.plain("f(1 / 0)"), NAMES, is_number),
    "a function": lambda: read_call(Source.plain("(1 / 0)(f)"), NAMES, is_number),
    "an owner": lambda: read_call(Source.plain("f(1 / 0).g()"), NAMES, is_number),
    "what stands before": lambda: read_call(Source.plain("1 / 0\nf(x)"), NAMES, is_number),
    "a function with shapes": lambda: read_call_of_shapes(Source.plain("1 / 0"), NAMES, []),
    "an expression": lambda: evaluate_expressions(NAMES, "x/0"),
    "one run": lambda: Snippet(Source.plain("1 / 0"), dict(NAMES)).run(),
    "a loop around a cell": lambda: loop_of("from math import *\n1 / 0", dict(NAMES)),
    "a loop that awaits": lambda: run_in_new_loop(loop_of, "await fails()", dict(NAMES)),
    "a cell that awaits": lambda: run_in_new_loop(
        loop_of, "from math import *\nawait fails()", dict(NAMES)
    ),
    "in a loop that runs": lambda: run_in_new_loop(lambda: finish(inside())),
}


@pytest.mark.parametrize("name", WAYS)
def test_every_frame_between_the_caller_and_the_users_code_hides(name: str) -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        WAYS[name]()
    frames = [frame for frame, _ in walk_tb(raised.value.__traceback__)]
    ours = [each for each in frames if each.f_code.co_filename.startswith(PACKAGE)]
    assert len(ours) > 0
    shown = [each.f_code.co_name for each in ours if not each.f_locals.get("__tracebackhide__")]
    assert shown == []


@pytest.mark.parametrize("code", ["f", "await fails()"])
def test_what_is_refused_is_raised_out_of_hidden_frames(code: str) -> None:
    with pytest.raises(Exception, match=r"is not called|awaits") as raised:
        read_call(Source.plain(code), NAMES, is_number)
    _, first, *_ = (frame for frame, _ in walk_tb(raised.value.__traceback__))
    assert first.f_locals["__tracebackhide__"]
