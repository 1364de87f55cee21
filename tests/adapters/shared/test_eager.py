"""Calls made without a tracer: they end with their time, and what they change is put back."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from ipyjaxbench.adapters.shared.diagnosis import eager
from ipyjaxbench.adapters.shared.diagnosis.eager import are_same, attempt
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.usercode import deadline

HELD: list[str] = []


def is_here(file: str) -> bool:
    return file == __file__


@contextmanager
def emptied() -> Iterator[None]:
    yield
    HELD.clear()


def test_what_takes_too_long_or_raises_gives_nothing_and_is_put_back(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert attempt(lambda: 3, is_here) == 3
    assert attempt(lambda: 1 // 0, is_here) is None
    assert attempt(partial(print, "unseen"), is_here) is None
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(eager, "MAX_SECONDS", 0.0)
    assert attempt(lambda: 3, is_here) is None
    attempt(partial(HELD.append, "changed"), is_here, emptied)
    assert HELD == []


def test_code_has_its_time_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    monkeypatch.setattr(deadline, "_CLOCK", clock)

    def work(nanoseconds: int) -> str:
        clock.advance(nanoseconds)
        return "done"

    limit = round(eager.MAX_SECONDS * 1e9)
    assert attempt(partial(work, limit), is_here) == "done"
    assert attempt(partial(work, limit + 1), is_here) is None


def test_results_are_the_same_where_they_are_as_many_and_the_same_one_by_one() -> None:
    assert are_same([1, 2], [1, 2], int.__eq__)
    assert are_same([], [], int.__eq__)
    for one, other in (([1, 2], [1, 3]), ([1, 2], [1]), ([1], [1, 2])):
        assert not are_same(one, other, int.__eq__)
