"""What a framework does by default is told once in a session, what was set each time."""

import pytest

from ipyjaxbench import Comparison, Measurement
from ipyjaxbench.comparison.comparison import ArmResult
from ipyjaxbench.jupyter.known_notes import BriefResult, KnownNotes
from ipyjaxbench.reports import MIME, Note, Result
from ipyjaxbench.timing.validity.notes import default_precision, reduced_precision
from tests.results import STEADY, measured
from tests.shell import Shell

ADVICE = 'fake.precision = "highest"'
BY_DEFAULT = default_precision("fake:0", "fake's default", 3e-4, ADVICE)
OF_DEVICE = default_precision("fake:1", "fake's default", 4e-4, ADVICE)
OTHER = default_precision("gpu:0", "another's default", 3e-4, "another.exact = True")
CHOSEN = reduced_precision("fake:0", 'fake.precision is "fast"', 3e-4, ADVICE)
WATCHED = Note("watched", "A profiler is active.")


def noted(*notes: Note) -> Measurement:
    return measured(STEADY, notes=notes)


def compared(*arms: Measurement) -> Comparison:
    return Comparison(tuple(ArmResult(*arm) for arm in zip("ab", arms, strict=True)), "a")


@pytest.mark.parametrize(
    ("results", "told"),
    [
        ([noted(BY_DEFAULT)] * 3, [True, False, False]),
        # Each framework has its own, and a device has none.
        ([noted(BY_DEFAULT), noted(OF_DEVICE), noted(OTHER)], [True, False, True]),
        ([noted(CHOSEN)] * 2, [True, True]),
        ([noted(BY_DEFAULT), noted(BY_DEFAULT, WATCHED)], [True, False]),
        # Arms that differ are told each time, and arms alike once.
        ([compared(noted(BY_DEFAULT), noted(BY_DEFAULT))] * 2, [True, False]),
        ([compared(noted(BY_DEFAULT), noted())] * 2, [True, True]),
    ],
)
def test_a_default_is_told_in_the_first_report_and_kept_in_every_record(
    results: list[Result], told: list[bool]
) -> None:
    known = KnownNotes()
    for result, is_told in zip(results, told, strict=True):
        shown = BriefResult(result, known)._repr_mimebundle_()
        for form in ("text/plain", "text/html"):
            words = " ".join(shown[form].split())
            assert ("float32 matrix products" in words) is is_told
            assert (WATCHED.text in words) is (WATCHED.text in str(result))
        assert type(result).from_dict(shown[MIME]) == result
        assert "float32 matrix products" in " ".join(str(BriefResult(result, known)).split())


def test_a_report_that_nobody_reads_tells_nothing_and_loading_again_tells_again(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ipyjaxbench.jupyter.fwtime._measure", lambda *_: (noted(BY_DEFAULT), None))
    shell.run("%reload_ext ipyjaxbench\nr = %fwtime -q f()\n%fwtime --json f()")
    for told in (True, False, None, True):
        if told is None:
            shell.run("%reload_ext ipyjaxbench")
            continue
        shell.run("%fwtime f()")
        assert (ADVICE in " ".join(shell.shown[-1].data["text/plain"].split())) is told
