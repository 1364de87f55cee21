"""The names that code loads while it runs."""

import sys
from types import SimpleNamespace

import pytest

from ipyjaxbench.usercode import LoadedNames

verbose, here, there, owner = False, 1, 2, SimpleNamespace(rate=3)


def read(given: int = 0) -> int:
    if verbose:
        return there
    return here + given + owner.rate


def by_text() -> int:
    return int(globals()["here"])


def test_what_is_loaded_is_known_and_what_is_not_reached_is_not() -> None:
    before = sys.gettrace()
    for _ in range(LoadedNames.runs):
        with LoadedNames() as loaded:
            found = [read(n) for n in range(2)]
    assert (found, sys.gettrace()) == ([4, 5], before)
    assert loaded.names is not None
    assert loaded.names >= {"verbose", "here", "given", "owner", "rate"}
    assert "there" not in loaded.names


def test_nothing_is_known_where_names_are_texts_or_another_tracer_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for _ in range(LoadedNames.runs):
        with LoadedNames() as loaded:
            by_text()
    assert loaded.names is None
    monkeypatch.setattr(sys, "gettrace", lambda: print)
    with LoadedNames() as loaded:
        read()
    assert loaded.names is None
