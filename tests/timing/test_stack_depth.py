"""Calls as deep on Python's stack as in the user's cell."""

import sys
import threading
from contextvars import ContextVar
from typing import Any

import pytest

from ipyjaxbench import measure_code
from ipyjaxbench.timing.stack_depth import call_at, depth_of_caller
from tests.shell import Shell

DEPTHS = """
import sys
seen = []
def see():
    frame, above = sys._getframe(1), 0
    while frame := frame.f_back:
        above += 1
    seen.append(above)
see()
"""
found: dict[str, Any] = {}
exec(DEPTHS, found)


@pytest.mark.parametrize("depth", [0, 1, 2, 60])
def test_a_function_is_called_with_so_many_frames_above_it(depth: int) -> None:
    def called() -> None:
        found["see"]()

    call_at(depth, called)
    found["see"]()
    assert found["seen"][-2:] == [depth, depth_of_caller()]


@pytest.mark.parametrize(
    "line",
    ["%fwtime --no-restore -n 3 -r 5 see()", "%%fwtime --no-restore -n 3 -r 5\nx = 1\nsee()",
     "%fwtime --no-restore -n 3 -r 5 locals(); see()"],  # which cannot be a function
)  # fmt: skip
def test_samples_are_as_deep_as_a_plain_cell(shell: Shell, line: str) -> None:
    shell.run(DEPTHS)
    shell.run(line)
    plain, _, *later = shell.names["seen"]
    assert len(later) > 10
    assert set(later) == {plain}
    shell.names["seen"].clear()
    shell.run("%%fwcompare -b 0.1\none: see()\ntwo: see()")
    later = shell.names["seen"]
    assert len([depth for depth in later if depth == plain]) >= len(later) - 4


def test_what_is_raised_comes_through_with_the_users_line() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        call_at(5, lambda: 1 / 0)
    assert raised.traceback[-1].name == "<lambda>"
    with pytest.raises(KeyboardInterrupt):
        call_at(5, lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    try:
        raise ValueError
    except ValueError:  # an error that is handled outside is not seen inside
        assert call_at(3, sys.exc_info) == (None, None, None)


def test_context_variables_are_those_of_the_caller() -> None:
    var: ContextVar[int] = ContextVar("var", default=0)
    var.set(1)
    assert call_at(3, lambda: (var.get(), var.set(2))[0]) == 1
    assert var.get() == 2


def test_threads_have_stacks_of_their_own() -> None:
    found: list[Any] = []
    names = {"see": lambda: sys._getframe(1).f_back is not None}
    thread = threading.Thread(
        target=lambda: found.append(measure_code("assert see()", names, number=2, repeat=2))
    )
    thread.start()
    thread.join()
    assert not {"runs-once", "stopped-by-error"} & {note.code for note in found[0].notes}
