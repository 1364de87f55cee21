"""What a framework does by default is told once in a session, what was set each time."""

from collections.abc import Callable

import pytest

from ipyjaxbench import Measurement
from ipyjaxbench.frameworks import registry
from ipyjaxbench.reports import MIME, Note
from ipyjaxbench.timing.validity.setting_notes import default_precision, reduced_precision
from tests.fake_framework import FakeFramework
from tests.shell import Shell

KEY = "tests.fake_framework"
ADVICE = 'fake.precision = "highest"'
BY_DEFAULT = default_precision("fake:0", "fake's default", 3e-4, ADVICE)
CHOSEN = reduced_precision("fake:0", 'fake.precision is "fast"', 3e-4, ADVICE)
LINE = "%fwtime -n 1 -r 8 f()"


@pytest.fixture
def fake(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> FakeFramework:
    """A framework that multiplies in fewer bits unless it is told otherwise."""
    monkeypatch.setitem(registry._TABLE, KEY, f"{KEY}:FakeFramework")
    adapter = registry._class(KEY)()
    assert isinstance(adapter, FakeFramework)
    monkeypatch.setitem(registry._made, KEY, adapter)
    adapter.cautions = [BY_DEFAULT]
    shell.names["device"] = adapter.device
    shell.run("%reload_ext ipyjaxbench\ndef f():\n    return device.start(dispatch=10, work=1000)")
    return adapter


def shown(shell: Shell, form: str = "plain") -> str:
    """The last report, without its line breaks."""
    return " ".join(shell.shown[-1].data[f"text/{form}"].split())


@pytest.fixture
def told(shell: Shell, fake: FakeFramework) -> Callable[[str], bool]:
    """Whether the report of a cell tells the format, in text as in HTML."""

    def tells(cell: str = LINE) -> bool:
        shell.run(cell)
        in_text, in_html = ("float32 matrix products" in shown(shell, k) for k in ("plain", "html"))
        assert in_text == in_html
        return in_text

    return tells


def test_a_default_is_told_in_the_first_report_and_kept_in_every_record(
    shell: Shell, told: Callable[[str], bool]
) -> None:
    for is_told in (True, False, False):
        assert told(f"r = {LINE}") == is_told
        saved = Measurement.from_dict(shell.shown[-1].data[MIME])
        assert BY_DEFAULT in saved.notes
        assert BY_DEFAULT in shell.names["r"].notes
    assert ADVICE not in shown(shell)


def test_each_framework_has_its_own_and_a_device_has_none_and_what_was_set_is_told_each_time(
    told: Callable[[str], bool], fake: FakeFramework
) -> None:
    assert told(LINE)
    fake.cautions = [default_precision("fake:1", "fake's default", 4e-4, ADVICE)]
    assert not told(LINE)
    fake.cautions = [default_precision("gpu:0", "another's default", 3e-4, "another.exact = True")]
    assert told(LINE)
    fake.cautions = [CHOSEN]
    assert [told(LINE) for _ in range(3)] == [True] * 3


def test_a_report_that_nobody_reads_tells_nothing(
    shell: Shell, told: Callable[[str], bool]
) -> None:
    shell.run(f"r = %fwtime -q -n 1 -r 8 f()\n{LINE.replace('-n', '--json -n')}")
    assert BY_DEFAULT.text in shown(shell)  # the record has it
    assert told(LINE)


def test_loading_again_tells_again_and_other_notes_stay(
    shell: Shell, told: Callable[[str], bool], fake: FakeFramework
) -> None:
    assert [told(LINE), told(LINE)] == [True, False]
    shell.run("%reload_ext ipyjaxbench")
    fake.cautions = [BY_DEFAULT, Note("watched", "A profiler is active.")]
    assert [told(LINE), told(LINE)] == [True, False]
    assert "A profiler is active." in shown(shell)


def test_arms_that_differ_are_told_each_time_and_arms_alike_once(
    shell: Shell, told: Callable[[str], bool]
) -> None:
    alike = "%%fwcompare -n 1 -r 8\na: f()\nb: (f(), f())[1]"
    apart = "%%fwcompare -n 1 -r 8\na: f()\nb: sum(range(9))"
    assert [told(alike), told(alike), told(LINE)] == [True, False, False]
    assert [told(apart), told(apart)] == [True, True]
    assert "a: float16: float32 matrix products" in shown(shell)
    shell.run("%fwtime -q -n 1 -r 8 --name one f()\n%fwtime -q -n 1 -r 8 --name two sum(range(9))")
    assert told("%fwcompare one two")
