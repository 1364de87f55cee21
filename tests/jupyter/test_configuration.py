"""What can be configured, with %config and in ipython_config.py."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.core.oinspect import getdoc
from traitlets.config import Config

from ipyjaxbench import jupyter
from ipyjaxbench.jupyter import Session, invocation
from ipyjaxbench.jupyter.commands import COMPARE, TIME
from ipyjaxbench.jupyter.settings import IpyJaxBench
from tests.shell import Shell


@pytest.fixture(autouse=True)
def settings(shell: Shell) -> Iterator[IpyJaxBench]:
    """Those of the shell; as they were, afterwards."""
    (found,) = (each for each in shell.shell.configurables if isinstance(each, IpyJaxBench))
    before = {name: getattr(found, name) for name in found.trait_names(config=True)}
    yield found
    for name, value in before.items():
        setattr(found, name, value)
    shell.shell.config.pop("IpyJaxBench", None)  # where %config writes all, bad values too


def test_what_is_configured_stands_for_what_is_not_typed(settings: IpyJaxBench) -> None:
    assert settings.option_values() == {"precision": 3, "restore": True}
    settings.budget, settings.restore = 0.0, False
    assert settings.option_values() == {"usual": 0.0, "precision": 3, "restore": False}
    assert (settings.progress, settings.history, settings.watch) == (True, True, False)


def test_the_budget_is_that_of_a_measurement_and_of_each_arm_unless_one_is_typed(
    shell: Shell, settings: IpyJaxBench
) -> None:
    shell.run("%config IpyJaxBench.budget = 0.05")
    for typed, seconds in {"1": 0.05, "-b 9 1": 9.0}.items():
        assert TIME.split(typed, settings.option_values())[0].timing.seconds == seconds
    assert COMPARE.split("", settings.option_values())[0].seconds_for(4) == pytest.approx(0.2)


def test_a_configured_precision_is_shown_and_a_typed_one_wins(shell: Shell) -> None:
    shell.run("%config IpyJaxBench.precision = 6\n%fwtime -n 1 -r 3 1 + 1")
    assert "10.0000 ms" in shell.shown[-1].data["text/plain"]
    shell.run("%fwtime -p 2 -n 1 -r 3 1 + 1")
    assert "10 ms" in shell.shown[-1].data["text/plain"]


def test_progress_can_be_left_out(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    real = invocation.Screen

    def screen(shell: Any, *, active: bool) -> invocation.Screen:
        asked.append(active)
        return real(shell, active=active)

    monkeypatch.setattr(invocation, "Screen", screen)
    shell.run("%fwtime -n1 -r1 1\n%config IpyJaxBench.progress = False\n%fwtime -n1 -r1 1")
    assert asked == [True, False]
    assert len(shell.shown) == 2


def test_watching_is_one_setting_however_it_is_turned_on(
    shell: Shell, settings: IpyJaxBench
) -> None:
    shell.run("%trace_cached --watch on")
    assert settings.watch
    shell.run("%config IpyJaxBench.watch = False")
    assert not shell.shell.find_magic("fwtime").__self__.session.watcher.is_on


def test_all_is_listed_with_help_and_the_value_of_now(shell: Shell) -> None:
    shell.run("%config IpyJaxBench.budget = 7\n%config IpyJaxBench")
    for name in ("budget", "precision", "progress", "history", "restore", "watch"):
        assert f"IpyJaxBench.{name}=<" in shell.text
    assert "Current: 7.0" in shell.text
    assert "Seconds to spend" in shell.text
    for budget, told in (("5", 5), ("None", 2)):
        shell.run(f"%config IpyJaxBench.budget = {budget}\n%config IpyJaxBench.precision = 4")
        text = getdoc(shell.shell.find_line_magic("fwtime")) or ""
        assert f"after the first call ({told})" in text
        assert "digits shown (4)" in text


@pytest.mark.parametrize(("value", "words"), [
    ("budget = -1", "budget = -1: must be a number of seconds, 0 or more"),
    ("budget = 'x'", "'budget' trait of an IpyJaxBench instance expected a float"),
    ("precision = 0", "'precision' trait of an IpyJaxBench instance should not be less than 1"),
    ("history = 'no'", "'history' trait of an IpyJaxBench instance expected a boolean"),
])  # fmt: skip
def test_a_bad_value_is_told_in_one_line_and_changes_nothing(
    shell: Shell, settings: IpyJaxBench, caplog: pytest.LogCaptureFixture, value: str, words: str
) -> None:
    settings.update_config(settings.config)
    before = {name: getattr(settings, name) for name in settings.trait_names(config=True)}
    with caplog.at_level(logging.ERROR):
        shell.run(f"%config IpyJaxBench.{value}")
    (record,) = caplog.records
    assert words in record.getMessage()
    assert "\n" not in record.getMessage()
    assert {name: getattr(settings, name) for name in before} == before


def test_reloading_keeps_what_was_configured_and_what_was_kept(
    shell: Shell, settings: IpyJaxBench
) -> None:
    shell.run("%config IpyJaxBench.budget = 0.03\n%fwtime -q -n 9 -r 9 --name one 1")
    shell.run("%reload_ext ipyjaxbench\n%config IpyJaxBench.precision = 5")
    assert (settings.budget, settings.precision) == (0.03, 5)
    shell.run("%fwtime -q -n 9 -r 9 --name two 2\n%fwcompare one two")


def test_the_configuration_file_is_read_and_a_bad_value_is_one_line(shell: Shell) -> None:
    before = shell.shell.meta.pop("ipyjaxbench_session")
    try:
        jupyter.unload(shell.shell)
        shell.shell.config["IpyJaxBench"] = Config(budget=-1.0)
        with pytest.raises(
            UsageError, match=r"c\.IpyJaxBench in ipython_config\.py: budget = -1: "
        ):
            jupyter.load(shell.shell)
        shell.shell.config["IpyJaxBench"] = Config(budget=4.5, watch=True)
        jupyter.load(shell.shell)
        session: Session = shell.shell.meta["ipyjaxbench_session"]
        assert session.settings.budget == 4.5
        assert session.watcher.is_on
    finally:
        jupyter.unload(shell.shell)
        shell.shell.config.pop("IpyJaxBench", None)
        shell.shell.meta["ipyjaxbench_session"] = before
        jupyter.load(shell.shell)
