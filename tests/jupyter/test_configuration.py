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
from ipyjaxbench.jupyter.commands import COMPARE
from ipyjaxbench.jupyter.settings import IpyJaxBench
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.steady_state import Steady
from tests.shell import Shell


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[TimeOptions]:
    """What measurements were told to do."""
    seen: list[TimeOptions] = []

    def run(self: Steady, typical: int, run: Any = Steady.run) -> None:
        seen.append(self.options)
        run(self, typical)

    monkeypatch.setattr(Steady, "run", run)
    return seen


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


def test_the_budget_is_what_a_measurement_spends_and_each_arm_of_a_comparison(
    shell: Shell, chosen: list[TimeOptions]
) -> None:
    shell.run("%config IpyJaxBench.budget = 0.05\n%fwtime -q sum(range(9))")
    assert [options.seconds for options in chosen] == [0.05]
    options, _, _ = COMPARE.split("", shell.session.settings.option_values())
    assert options.seconds_for(4) == pytest.approx(0.2)


@pytest.mark.parametrize("options", ["-n 2 -r 3", "--quick", "-b 0.01", "--precise -b 0.01"])
def test_what_is_typed_stands_in_place_of_a_configured_budget(
    shell: Shell, chosen: list[TimeOptions], options: str
) -> None:
    shell.run(f"%fwtime -q {options} 1 + 1")
    shell.run(f"%config IpyJaxBench.budget = 99\n%fwtime -q {options} 1 + 1")
    without, configured = ((o.number, o.repeat, o.number or o.seconds) for o in chosen)
    assert configured == without


def test_a_configured_precision_is_shown_and_a_typed_one_wins(shell: Shell) -> None:
    shell.run("%config IpyJaxBench.precision = 6\n%fwtime -n 1 -r 3 1 + 1")
    assert "10.0000 ms" in shell.shown[-1].data["text/plain"]
    shell.run("%fwtime -p 2 -n 1 -r 3 1 + 1")
    assert "10 ms" in shell.shown[-1].data["text/plain"]


def test_progress_can_be_left_out(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    class Screen(invocation.Screen):
        def __init__(self, shell: object, *, active: bool) -> None:
            asked.append(active)
            super().__init__(shell, active=active)

    monkeypatch.setattr(invocation, "Screen", Screen)
    shell.run("%fwtime -n1 -r1 1\n%config IpyJaxBench.progress = False\n%fwtime -n1 -r1 1")
    assert asked == [True, False]
    assert len(shell.shown) == 2


def test_watching_is_one_setting_however_it_is_turned_on(
    shell: Shell, settings: IpyJaxBench
) -> None:
    shell.run("%trace_cached --watch on")
    assert settings.watch
    shell.run("%config IpyJaxBench.watch = False")
    assert not shell.session.watcher.is_on


def test_all_is_listed_with_help_and_the_value_of_now(shell: Shell) -> None:
    shell.run("%config IpyJaxBench.budget = 7\n%config IpyJaxBench")
    for name in ("budget", "precision", "progress", "history", "restore", "watch"):
        assert f"IpyJaxBench.{name}=<" in shell.text
    assert "Current: 7.0" in shell.text
    assert "Seconds to spend" in shell.text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("budget = -1", "budget = -1: must be a number of seconds, 0 or more"),
        ("budget = 'x'", "'budget' trait of an IpyJaxBench instance expected a float"),
        ("precision = 0", "'precision' trait of an IpyJaxBench instance should not be less than 1"),
        ("history = 'no'", "'history' trait of an IpyJaxBench instance expected a boolean"),
    ],
)
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


def test_the_help_tells_what_is_configured(shell: Shell) -> None:
    for budget, told in (("5", 5), ("None", 2)):
        shell.run(f"%config IpyJaxBench.budget = {budget}\n%config IpyJaxBench.precision = 4")
        text = getdoc(shell.shell.find_line_magic("fwtime")) or ""
        assert f"after the first call ({told})" in text
        assert "digits shown (4)" in text


def test_reloading_keeps_what_was_configured_and_what_was_kept(
    shell: Shell, settings: IpyJaxBench
) -> None:
    shell.run("%config IpyJaxBench.budget = 0.03\n%fwtime -q -n 9 -r 9 --name one 1")
    shell.run("%reload_ext ipyjaxbench\n%config IpyJaxBench.precision = 5")
    assert (settings.budget, settings.precision) == (0.03, 5)
    shell.run("%fwtime -q -n 9 -r 9 --name two 2\n%fwcompare one two")


class loaded_with:
    """The extension, loaded for the first time in a shell with such a configuration."""

    def __init__(self, shell: Shell, **values: object) -> None:
        self.shell, self.values = shell.shell, values

    def __enter__(self) -> Session:
        jupyter.unload(self.shell)
        self.session = self.shell.meta.pop("ipyjaxbench_session")
        self.shell.config["IpyJaxBench"] = Config(self.values)
        try:
            jupyter.load(self.shell)
        except BaseException:
            self.__exit__()
            raise
        return self.shell.meta["ipyjaxbench_session"]

    def __exit__(self, *_: object) -> None:
        jupyter.unload(self.shell)
        self.shell.config.pop("IpyJaxBench", None)
        self.shell.meta["ipyjaxbench_session"] = self.session
        jupyter.load(self.shell)


def test_the_configuration_file_is_read_and_a_bad_value_is_one_line(shell: Shell) -> None:
    with loaded_with(shell, budget=4.5, watch=True) as session:
        assert session.settings.budget == 4.5
        assert session.watcher.is_on
    words = r"c\.IpyJaxBench in ipython_config\.py: budget = -1: "
    with pytest.raises(UsageError, match=words), loaded_with(shell, budget=-1.0):
        pass
