"""Calls made without a tracer: they end with their time, and what they change is put back."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from ipyjaxbench.adapters.shared.diagnosis import eager
from ipyjaxbench.adapters.shared.diagnosis.eager import attempt

HELD: list[str] = []


def is_here(file: str) -> bool:
    return file == __file__


@contextmanager
def emptied() -> Iterator[None]:
    yield
    HELD.clear()


def test_what_takes_too_long_or_raises_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert attempt(lambda: 3, is_here) == 3
    assert attempt(lambda: 1 // 0, is_here) is None
    monkeypatch.setattr(eager, "MAX_SECONDS", 0.0)
    assert attempt(lambda: 3, is_here) is None


def test_changes_are_put_back_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eager, "MAX_SECONDS", 0.0)
    attempt(partial(HELD.append, "changed"), is_here, emptied)
    assert HELD == []
