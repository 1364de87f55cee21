"""Which lines of the user's are recorded, and when; and that Python's hook is as it was."""

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ipyjaxbench.timing.perfetto import line_recorder
from ipyjaxbench.timing.perfetto.line_recorder import LineRecorder, LineSpan

SOURCE = """\
import textwrap
def outer(n):
    total = 0
    for i in range(n):
        total += inner(i)
    return total
def inner(i):
    return len(textwrap.dedent(" a\\n b"))
def fails():
    raise KeyError
def gen():
    yield 1
    yield 2
def between(each):
    return next(each), inner(0), next(each)
"""


@pytest.fixture
def code(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Functions in a file of the user's; no debugger is on meanwhile, not even coverage's."""
    path = tmp_path / "users.py"
    path.write_text(SOURCE)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(SOURCE, str(path), "exec"), names)
    before = sys.gettrace()
    sys.settrace(None)
    yield names
    sys.settrace(before)


def recorded(run: Callable[..., object], *args: object) -> list[LineSpan]:
    """The spans of one run, on a clock that ticks when it is read, but this file's own."""
    recorder = LineRecorder(itertools.count(1).__next__)
    with recorder.on():
        run(*args)
    assert recorder.reason == ""
    return [span for span in recorder.spans if span.file != __file__]


def test_lines_are_recorded_in_the_order_in_which_they_end(code: dict[str, Any]) -> None:
    spans = recorded(code["outer"], 2)
    assert {Path(span.file).name for span in spans} == {"users.py"}  # none of libraries
    assert [(span.function, span.line) for span in spans] == [
        *[("outer", 3), ("outer", 4), ("inner", 8), ("outer", 5)],
        *[("outer", 4), ("inner", 8), ("outer", 5), ("outer", 4), ("outer", 6)],
    ]
    inner, caller = spans[2:4]
    assert caller.begun < inner.begun < inner.ended < caller.ended  # as long as what it calls
    code["__name__"] = "pytest.made_up"  # a file that a library wrote elsewhere
    assert recorded(code["outer"], 2) == []


def test_generators_are_recorded_only_while_they_run(code: dict[str, Any]) -> None:
    spans = recorded(code["between"], code["gen"]())
    first, between, second = (span for span in spans if span.function != "between")
    assert [first.line, between.line, second.line] == [12, 8, 13]
    assert first.ended < between.begun < between.ended < second.begun


def test_the_hook_is_as_before_also_after_an_error(code: dict[str, Any]) -> None:
    with pytest.raises(KeyError):
        recorded(code["fails"])
    assert sys.gettrace() is None


def test_a_debugger_that_is_on_is_left_alone_and_named(code: dict[str, Any]) -> None:
    seen: list[str] = []

    def debugger(frame: FrameType, event: str, arg: object) -> None:
        seen.append(frame.f_code.co_name)

    recorder = LineRecorder(lambda: 0)
    sys.settrace(debugger)
    with recorder.on():
        code["outer"](1)
        now = sys.gettrace()
    sys.settrace(None)
    assert now is debugger
    assert "inner" in seen
    assert recorder.spans == []
    assert recorder.reason == "without lines, as a debugger or a coverage tool is on"


def test_of_many_lines_some_are_kept(code: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_recorder, "MAX_LINES", 50)
    recorder = LineRecorder(lambda: 0)
    with recorder.on():
        code["outer"](1_000)
    assert len(recorder.spans) == 50
    assert recorder.reason == "only the first 50 lines"
