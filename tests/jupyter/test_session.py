"""What the magics of one shell share."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.jupyter.session import Session
from ipyjaxbench.records import Journal, Location, store
from tests.results import STEADY, measured
from tests.shell import Shell


@pytest.fixture
def session(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """One of a shell that runs no cell, with a store of its own."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("IPYJAXBENCH_HISTORY", raising=False)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    return Session(shell.shell)


def in_kernel(request: object) -> Any:
    """A kernel that was asked to run a cell."""
    return SimpleNamespace(
        user_ns={}, kernel=object(), get_parent=lambda: request, execution_count=7
    )


@pytest.mark.parametrize(
    ("request_", "cell"),
    [({"metadata": {"cellId": "cell-7"}}, "cell-7"), ({"metadata": {"cellId": 7}}, ""),
     ({"metadata": {}}, ""), ({"metadata": "cell-7"}, ""), ({}, ""), (None, "")],
)  # fmt: skip
def test_a_cell_is_known_where_a_page_names_it(
    session: Session, request_: object, cell: str
) -> None:
    session.shell = in_kernel(request_)
    assert session.location == Location(os.getcwd(), "", cell, 7)


def test_what_is_not_known_of_a_place_is_empty(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def removed() -> str:
        raise FileNotFoundError

    monkeypatch.setattr(os, "getcwd", removed)
    assert session.location == Location("", "", "", session.shell.execution_count)
    session.shell = in_kernel({"metadata": {"cellId": "cell-7"}})
    session.shell.kernel = None
    assert session.location.cell == ""


def test_a_result_is_kept_under_its_name_and_in_the_history(session: Session) -> None:
    m = measured(STEADY)
    session.keep(m, "base")
    session.keep(m)
    assert session.measurements == {"base": m}
    assert [entry.label for entry in store.read_store().entries] in (["", "base"], ["base", ""])
    session.close()


@pytest.mark.parametrize(("variable", "is_kept"), [("0", False), ("1", True), ("", True)])
def test_the_environment_turns_the_history_off(
    session: Session, monkeypatch: pytest.MonkeyPatch, variable: str, is_kept: bool
) -> None:
    monkeypatch.setenv("IPYJAXBENCH_HISTORY", variable)
    assert session.records_history is is_kept
    session.settings.history = False
    assert not session.records_history


def test_what_is_wrong_with_the_history_is_kept_in_words(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no room")

    monkeypatch.setattr(session.journal, "append", fail)
    session.keep(measured(STEADY))
    assert session.journal.trouble == "ValueError: no room"


def test_only_a_journal_that_was_needed_is_closed(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[Journal] = []

    def close(journal: Journal) -> None:
        closed.append(journal)

    monkeypatch.setattr(Journal, "close", close)
    session.close()
    assert closed == []
    journal = session.journal
    session.close()
    assert closed == [journal]


def test_where_figures_are_kept_is_shown_below_the_report_of_what_was_kept(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ipyjaxbench.jupyter import screen

    shown: list[str] = []
    monkeypatch.setattr(screen, "show", lambda it, raw: shown.append(it["text/plain"]))
    kept, other = measured(STEADY), measured(STEADY)
    session.keep(kept)
    session.show_history_notice(other)
    session.journal.trouble = "the disk is full"
    session.show_history_notice(kept)
    assert shown == []
    session.journal.trouble = ""
    session.show_history_notice(kept)
    assert len(shown) == 1
    assert shown[0].startswith("Measurements are saved in ")
    session.show_history_notice(kept)
    session.keep(other)
    session.show_history_notice(other)
    assert len(shown) == 1  # it is said once for each home
    session.close()
