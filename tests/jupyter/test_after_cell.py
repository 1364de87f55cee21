"""What is looked at after each cell."""

import sys
from typing import Any

import pytest
from IPython.core.error import UsageError

from ipyjaxbench import retracing
from ipyjaxbench.jupyter import after_cell, screen
from ipyjaxbench.jupyter.after_cell import LastError, TraceWatcher
from ipyjaxbench.retracing import CacheMiss, Leaf, Signature
from ipyjaxbench.retracing.trace_log import TraceLog


class Process:
    """A process in which functions are traced, and what is shown below cells."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log, self.shown = TraceLog(), list[tuple[Any, Any]]()
        self.asked = 0
        monkeypatch.setattr(retracing, "TRACE_LOG", self.log)
        monkeypatch.setattr(retracing, "keep_learning", self._learn)
        monkeypatch.setattr(screen, "show", lambda shown, **how: self.shown.append((shown, how)))
        monkeypatch.setattr(after_cell, "_NEEDED", ("json",))

    def _learn(self) -> None:
        self.asked += 1

    def trace(self, name: str, seconds: float = 0.25) -> None:
        signature = Signature({"x": Leaf("array", "float32", (self.log.event_count,))}, ("x",))
        phases = {"trace": seconds, "compile": seconds}
        self.log.record("jax", CacheMiss(name, signature, placed=False, phases=phases))

    def lines(self, watcher: TraceWatcher) -> list[str]:
        """What is shown below the cell that has run."""
        self.shown.clear()
        watcher.on_cell_end()
        assert all(how == {"raw": True} for _, how in self.shown)
        return [shown["text/plain"] for shown, _ in self.shown]


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Process:
    return Process(monkeypatch)


def test_a_line_names_what_a_cell_traced(process: Process) -> None:
    watcher = TraceWatcher({}, {})
    process.trace("before")
    watcher.switch(on=True)
    assert watcher.is_on
    assert process.lines(watcher) == []
    process.trace("f")
    process.trace("f")
    assert process.lines(watcher) == [
        "traced: f (first call), f (x: f32[1] → f32[2] (shape)), 2 times in 1.0 s"
    ]
    assert process.lines(watcher) == []


@pytest.fixture
def watcher(process: Process) -> TraceWatcher:
    watcher = TraceWatcher({}, {})
    watcher.switch(on=True)
    return watcher


def test_what_was_traced_for_one_reason_is_told_together(
    process: Process, watcher: TraceWatcher
) -> None:
    for name in "abcd":
        process.trace(name)
    process.trace("a")
    process.trace("a")
    (line,) = process.lines(watcher)
    assert line == (
        "traced: a, b, c and 1 more (first call), a (x: 3 shapes (f32[0], f32[4], f32[5])),"
        " 6 times in 3.0 s"
    )


def test_of_many_reasons_the_most_expensive_are_named(
    process: Process, watcher: TraceWatcher
) -> None:
    for name in "abcde":
        process.trace(name, 1.0)
        process.trace(name, 2.0)
    (line,) = process.lines(watcher)
    assert line.startswith(
        "traced: a, b, c and 2 more (first call), a (x: f32[0] → f32[1] (shape)), b"
    )
    assert line.endswith("(shape)) and 3 other reasons, 10 times in 30 s")


def test_what_is_traced_while_it_is_off_is_never_shown(process: Process) -> None:
    watcher = TraceWatcher({}, {})
    process.trace("f")
    assert process.lines(watcher) == []
    watcher.switch(on=True)
    watcher.switch(on=False)
    process.trace("f")
    assert process.lines(watcher) == []
    watcher.is_on = True
    assert process.lines(watcher) == []
    assert process.asked == 3  # it learns all the same


def test_without_any_framework_nothing_is_learned(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(after_cell, "_NEEDED", ("a_module_that_is_not_there",))
    TraceWatcher({}, {}).on_cell_end()
    assert process.asked == 0


def ends(last: LastError, monkeypatch: pytest.MonkeyPatch, error: BaseException | None) -> None:
    """A cell ends with an error."""
    monkeypatch.setattr(sys, "last_value", error, raising=False)
    last.on_cell_end()


def test_the_last_error_is_that_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    last, error, typed = LastError(), ValueError("no"), UsageError("unknown option")
    monkeypatch.delattr(sys, "last_value", raising=False)
    assert last.value() is None  # no cell has failed yet
    ends(last, monkeypatch, typed)
    assert last.value() is typed  # there is no other
    ends(last, monkeypatch, error)
    assert last.value() is error
    ends(last, monkeypatch, typed)
    assert last.value() is error
    shown = UsageError("an error of tracing")
    shown.diagnosis = "why"
    ends(last, monkeypatch, shown)
    assert last.value() is shown
    ends(last, monkeypatch, typed)
    assert last.value() is shown
    last.forget()
    assert last.value() is typed
