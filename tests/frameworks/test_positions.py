"""How far iterators and files are, and settings of Python: put back where that is possible."""

import array
import contextvars
import csv
import decimal
import gc
import io
import itertools
import logging
import os
import signal
import socket
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.interpreter_settings import (
    interpreter_settings,
    interpreter_states,
)
from ipyjaxbench.frameworks.state.positions import is_readable, is_unreadable, position_states
from ipyjaxbench.usercode import Muted


def state_of(value: Any, most: float = 100) -> Any:
    (state,) = position_states(value, CopyBudget(most)) or (None,)
    return state


MADE: dict[str, Callable[[], Iterator[Any]]] = {
    "generator": lambda: (i for i in range(10**9)),
    "range": lambda: iter(range(10**9)),
    "list": lambda: iter([*range(100)]),
    "reversed": lambda: reversed([*range(100)]),
    "dict": lambda: iter(dict.fromkeys(range(100))),
    "map": lambda: map(str, range(100)),
    "count": itertools.count,
    "repeat": lambda: itertools.repeat(1, 100),
    "islice": lambda: itertools.islice(range(100), 90),
    # Those that are inside of others move alone.
    "an iterator in an iterator": lambda: map(str, iter([1, 2, 3])),
    "a tuple of iterators": lambda: zip(iter([1, 2]), iter([1, 2]), strict=False),
    "a generator in an iterator": lambda: map(str, (i for i in [1, 2, 3])),
    "numbers counted in halves": lambda: itertools.count(0.5, 0.5),
    "a cycle": lambda: itertools.cycle([1, 2]),
    "a generator that waits in another": lambda: (j for i in [1] for j in iter([1, 2, 3])),
}


@pytest.mark.parametrize("kind", MADE)
def test_an_iterator_that_moves_shows_it_and_looking_takes_nothing(kind: str) -> None:
    value, other = MADE[kind](), MADE[kind]()
    state = state_of(value)
    assert (state.can_restore, state.changed()) == (False, False)
    assert next(value) == next(other)
    assert state.changed()


def test_the_end_of_an_iterator_is_another_place() -> None:
    async def work() -> None: ...

    coroutine = work()
    for value in (iter([]), (i for i in ()), reversed([1]), coroutine):
        state = state_of(value)
        assert not state.changed()
        coroutine.close() if value is coroutine else [*value]
        assert state.changed()


class Own(Iterator[int]):
    """An iterator of the user's."""

    def __next__(self) -> int:
        return 1


OF_A_LIBRARY: Any = type("Theirs", (Iterator,), {"__next__": len, "__module__": "csv"})


@pytest.mark.parametrize(("make", "readable", "unreadable"), [
    (lambda: iter([]), True, False), (lambda: (i for i in ()), True, False),
    (itertools.count, True, False), (Own, False, False), (OF_A_LIBRARY, False, True),
    (lambda: csv.reader([]), False, True), (lambda: io.StringIO("a"), False, False),
    (list, False, False), (lambda: array.array("d"), False, False),
])  # fmt: skip
def test_which_iterators_are_readable(
    make: Callable[[], Any], readable: bool, unreadable: bool
) -> None:
    value = make()
    assert (is_readable(value), is_unreadable(value)) == (readable, unreadable)
    assert isinstance(value, io.StringIO) or (state_of(value) is not None) == readable


class Shown(io.TextIOBase):
    """Where a kernel shows what is printed."""

    __module__ = "ipykernel.iostream"


@pytest.mark.parametrize("muted", [False, True])
def test_what_is_printed_moves_nothing(monkeypatch: pytest.MonkeyPatch, muted: bool) -> None:
    own, other = Shown(), Shown()
    monkeypatch.setattr(sys, "stderr", own)
    with Muted() if muted else nullcontext():
        assert [is_unreadable(each) for each in (own, sys.stderr, other)] == [False, False, True]
    with open(os.devnull, "w") as file:
        assert state_of(file) is not None
        monkeypatch.setattr(sys, "__stdout__", file)
        assert state_of(file) is None


@pytest.mark.parametrize("made", [io.StringIO("abc"), io.BytesIO(b"abc")])
def test_files_in_memory_are_copied_where_there_is_memory(made: Any) -> None:
    state, small = state_of(made, 3), state_of(made, 2)
    assert (state.nbytes, state.can_restore, small.can_restore) == (3, True, False)
    assert [state.changed(), small.changed()] == [False, False]
    made.read(1)
    assert [state.changed(), small.changed()] == [True, True]
    state.restore()
    assert (made.tell(), small.changed()) == (0, False)
    made.seek(0, io.SEEK_END)
    made.write(made.getvalue()[:1])
    made.seek(0)
    assert [state.changed(), small.changed()] == [True, True]
    state.restore()
    assert made.getvalue() in ("abc", b"abc")


@pytest.mark.parametrize(("mode", "can"), [("rb", True), ("r+", False), ("a", False)])
def test_a_file_is_put_back_where_it_is_only_read(tmp_path: Path, mode: str, can: bool) -> None:
    path = tmp_path / "lines"
    path.write_text("abc\n")
    with path.open(mode) as fh:
        state = state_of(fh)
        assert (state.can_restore, state.changed()) == (can, False)
        if can:
            fh.read(2)
            assert state.changed()
            state.restore()
            assert fh.tell() == 0


def _switch_collector() -> None:
    (gc.disable if gc.isenabled() else gc.enable)()


CHANGES: dict[str, Callable[[], object]] = {
    "os: the working directory": lambda: os.chdir("/"),
    "os: os.environ": lambda: os.environ.update(FW_P="b", FW_NEW="c") or os.environ.pop("FW_Q"),
    "sys: the recursion limit": lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 1),
    "sys: the switch interval": lambda: sys.setswitchinterval(0.5),
    "gc: gc.isenabled()": _switch_collector,
    "gc: gc.get_threshold()": lambda: gc.set_threshold(999, 9, 9),
    "gc: gc.get_debug()": lambda: gc.set_debug(gc.DEBUG_UNCOLLECTABLE),
    "_warnings: warnings.filters": lambda: warnings.simplefilter("ignore"),
    "_signal: handlers of signals": lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN),
    "_socket: socket.getdefaulttimeout()": lambda: socket.setdefaulttimeout(77),
    "_csv: csv.field_size_limit()": lambda: csv.field_size_limit(99),
    "logging: loggers": lambda: logging.getLogger("of_a_test"),
    "logging: logging.disable": lambda: logging.disable(7),
    "decimal: decimal.getcontext()": lambda: setattr(decimal.getcontext(), "prec", 3),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_is_seen_and_put_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FW_P", "a")
    monkeypatch.setenv("FW_Q", "b")
    module, _, label = name.partition(": ")
    states = dict(interpreter_settings(module))
    CHANGES[name]()
    changed = {each for each, state in states.items() if state.changed()}
    states[label].restore()
    assert changed == {label}
    assert not states[label].changed()
    assert (os.environ["FW_P"], os.environ["FW_Q"], "FW_NEW" in os.environ) == ("a", "b", False)


def test_a_context_variable_that_was_not_set_cannot_be_put_back() -> None:
    def task() -> None:
        var = contextvars.ContextVar("var", default=0)
        (unset,) = interpreter_states(var) or ()
        assert (unset.can_restore, unset.changed()) == (False, False)
        var.set(0)  # what it stands for without, and set nevertheless
        assert unset.changed()
        (state,) = interpreter_states(var) or ()
        var.set(1)
        assert (state.can_restore, state.changed()) == (True, True)
        state.restore()
        assert var.get() == 0

    contextvars.copy_context().run(task)


def test_objects_that_are_settings_are_put_back() -> None:
    logger, held = logging.Logger("of_a_test"), {"a": 1}
    with decimal.localcontext() as context:
        (of_logger,), (of_context,) = (interpreter_states(each) or () for each in (logger, context))
        before = context.copy()
        context.prec, context.rounding, context.Emax, context.Emin = 3, "ROUND_UP", 9, -9
        context.clamp, context.capitals = 1 - context.clamp, 1 - context.capitals
        logger.setLevel(logging.ERROR)
        for state in (of_logger, of_context):
            assert state.changed()
            state.restore()
        assert (repr(context), logger.level) == (repr(before), logging.NOTSET)
    for value in (MappingProxyType(held), memoryview(b"a")):
        (state,) = interpreter_states(value) or ()
        assert [*state.parts] == [held if isinstance(value, MappingProxyType) else b"a"]


def test_a_module_that_is_imported_again_is_another_one_wherever_it_lies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "of_a_test", ModuleType("of_a_test"))
    (state,) = interpreter_states(sys.modules) or ()
    assert not state.changed()
    del sys.modules["of_a_test"]  # its memory would be free for the next one
    sys.modules["of_a_test"] = ModuleType("of_a_test")
    assert (state.changed(), state.can_restore) == (True, False)


@pytest.mark.parametrize("value", [3, {}, os.path, "a", SimpleNamespace()])
def test_other_values_are_no_settings(value: Any) -> None:
    assert interpreter_states(value) is None
    assert [*interpreter_settings("of_nobody")] == []
