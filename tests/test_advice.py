"""Advice is typed as it was printed, where it was printed, and runs."""

import importlib
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from IPython.core.error import UsageError

import ipyjaxbench
from ipyjaxbench import Peaks, Whereabouts
from ipyjaxbench.comparison import CompareOptions, notes as comparison_notes
from ipyjaxbench.device import DevicePeaks, FrameworkDevices
from ipyjaxbench.errors import OptionError, called_from
from ipyjaxbench.option import options_of, spell
from ipyjaxbench.reports import Note
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.timing import TimeOptions, notes as timing_notes
from tests.shell import Shell
from tests.test_notes import EXAMPLES

#: What is printed with an option in it, for those who time and for those who compare.
TIMING: dict[str, Callable[[], Note]] = {
    "over-budget": lambda: timing_notes.over_budget(0.005),
    "needs-longer": lambda: timing_notes.needs_longer(0.021, 0.02, 0.9),
    "below-clock": lambda: timing_notes.below_clock(350e-9, 50e-9, 100),
    "looked-at": lambda: timing_notes.looked_at(["f"]),
    "state-advanced": lambda: timing_notes.state_advanced(["x"], 3, restore=False),
}
COMPARING: dict[str, Callable[[], Note]] = {
    "other-threads": lambda: comparison_notes.other_threads({"1": ["a"], "2": ["b"]}),
    "other-precision": lambda: comparison_notes.other_precision({"TF32": ["a"], "": ["b"]}),
    "undecided": lambda: comparison_notes.undecided(["b"], 0.1, 0.9, None),
    "undecided, counted": lambda: comparison_notes.undecided(["b"], 0.1, 0.9, 30),
    "few-samples": lambda: comparison_notes.few_samples(["b"], 7, 20, None),
    "few-samples, timed": lambda: comparison_notes.few_samples(["b"], 7, 20, 0.5),
}

#: Those that name magics and functions, and no option with its value.
PROSE = (
    "slowed-by-others",
    "depends-on-interleaving",
    "warm-cache",
    "warm-cpu-cache",
    "converted-once",
)


class Place(NamedTuple):
    """Where advice is printed, and how an option is typed there."""

    caller: str
    option: str  # matches one, with its value
    typed: str  # holds OPTION where it is typed


FLAG, KEYWORD = r"(?<!\w)--?[a-z-]+(?: [\d.]+)?", r"\w+=[\w.]+"
TIMERS = [
    Place("%fwtime", FLAG, "%fwtime -q -o OPTION f(x)"),
    Place("measure", r"timer=Options\(.*?\)", "measure(f, x, OPTION)"),
    Place("measure_code", KEYWORD, "measure_code('f(x)', OPTION)"),
]
COMPARERS = [
    Place("%%fwcompare", FLAG, "%%fwcompare -q -o OPTION\na: f(x)\nb: f(x)"),
    Place("compare", KEYWORD, "compare({'a': f, 'b': f}, x, OPTION)"),
]


def type_advice(shell: Shell, place: Place, make: Callable[[], Note]) -> Any:
    with called_from(place.caller):
        note = make()
    found = re.search(place.option, f"{note.text} {note.advice}")
    assert found, note
    shell.run(
        "from ipyjaxbench import measure, measure_code, compare, Options\nx = [1, 2]; f = sum"
    )
    code = place.typed.replace("OPTION", found[0])
    return shell.run(code if code.startswith("%") else f"result = {code}") or shell.names["result"]


@pytest.mark.parametrize("place", TIMERS, ids=lambda place: place.typed.split()[0])
@pytest.mark.parametrize("code", TIMING)
def test_what_is_advised_when_timing_runs_there(shell: Shell, place: Place, code: str) -> None:
    assert isinstance(type_advice(shell, place, TIMING[code]), ipyjaxbench.Measurement)


@pytest.mark.parametrize("place", COMPARERS, ids=lambda place: place.caller)
@pytest.mark.parametrize("code", COMPARING)
def test_what_is_advised_when_comparing_runs_there(shell: Shell, place: Place, code: str) -> None:
    assert isinstance(type_advice(shell, place, COMPARING[code]), ipyjaxbench.Comparison)


@pytest.mark.parametrize("kind", [TimeOptions, CompareOptions])
def test_every_note_with_an_option_is_in_the_tables(kind: type) -> None:
    """A new Note that names an option has to be typed here too."""
    flags = {flag for row in options_of(kind) for flag in row.flags}
    with called_from("%fwtime"):
        for note, _ in EXAMPLES:
            named = flags & set(re.findall(r"(?<!\S)--?[a-z-]+", f"{note.advice} {note.text}"))
            assert not named or note.code in {*TIMING, *COMPARING, *PROSE}, note


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("%fwtime -q -o -b 0.01 clock.sleep(0.1)", "over-budget"),
        ("%fwtime -q -o --quick clock.sleep(0.6)", "over-budget"),
    ],
)
def test_advice_goes_with_what_was_typed(
    shell: Shell, line: str, code: str, scripted_clock: FakeClock
) -> None:
    shell.names["clock"] = scripted_clock
    measured = shell.run(line)
    advice = next(note.advice for note in measured.notes if note.code == code)
    (option,) = re.findall(FLAG, advice)
    value = "1" if option.startswith("-b") else option.split()[1][:2]
    assert shell.run(line.replace(" clock.", f" {option.split()[0]} {value} clock."))


@pytest.mark.parametrize(
    ("options", "advised"),
    [("-n 1 -r 5", "-r 20"), ("-r 5", "-r 20"), ("-b 0.001 --quick", "-b "), ("--quick", "-b ")],
)
def test_a_comparison_without_an_answer_advises_what_goes_with_what_was_typed(
    shell: Shell, options: str, advised: str
) -> None:
    cell = f"%%fwcompare -q -o {options} OPTION\na: sum(range(2000))\nb: sum(range(2010))"
    found = shell.run(cell.replace("OPTION", ""))
    for note in (note for note in found.notes if note.code in ("undecided", "few-samples")):
        option = re.match(FLAG, note.advice)
        assert option is None or option[0].startswith(advised.strip().split()[0])
        if option and not option[0].startswith("-b"):
            assert shell.run(cell.replace("OPTION", option[0]))
    if "5" in options:
        assert [note.advice for note in found.notes if note.code == "few-samples"] == [advised]


@pytest.mark.parametrize(("caller", "typed"), [
    ("%fwtime", "SETUP\nf(x)"),
    ("%%fwcompare", "%%fwcompare -q -b 0.1\nSETUP\na: f(x)\nb: f([1])"),
    ("measure_code", "measure_code('f(x)', SETUP, budget=0.05)"),
    ("measure", "SETUP"),
    ("compare", "compare({'a': lambda x: f(x), 'b': lambda: f([1])}, SETUP, budget=0.1)"),
])  # fmt: skip
def test_a_setup_is_typed_as_it_is_advised(shell: Shell, caller: str, typed: str) -> None:
    assert timing_notes.started_elsewhere(["x"], 1.0, 2.0).advice == "create x in the setup"
    with called_from(caller):
        _, _, setup = timing_notes.started_elsewhere(["x"], 1.0, 2.0).advice.partition(":  ")
    assert "x = " in setup or caller == "compare"
    setup = setup.replace("...", "[1]").replace("%%fwtime", "%%fwtime -q -b 0.05")
    setup = setup.replace('"f(x)"', '"f(x)", budget=0.05')
    label = "'a'" if caller == "compare" else "a"
    shell.run("from ipyjaxbench import compare, measure_code\nf = sum; make = lambda: [1]")
    shell.run(typed.replace("SETUP", setup.replace("LABEL", label)))


class Report(NamedTuple):
    """A text with advice between backticks, and how that is typed in a magic and in Python."""

    made: Callable[[], str]
    magic: str
    python: str


NOT_STARTED = FrameworkDevices("jax", "1.0", started=False)
DISTURBED = DevicePeaks(
    "numpy", "2.0", "cpu", "cpu", 2, "", products={"float32": 1e9}, bandwidth=None, beyond=0,
    upload=None, download=None, latency=1e-6, spread=0.0, others=0.5, seconds=1.0, taken=0.0,
)  # fmt: skip
UNFINISHED = replace(DISTURBED, missing=("int8",), others=0.0)
REPORTS = {
    "measured before": Report(
        lambda: str(Peaks((DISTURBED,), 0.0)).splitlines()[0],
        "%fwdevices --peak -v result OPTION",
        "result = peaks(OPTION)",
    ),
    "nothing started": Report(
        lambda: str(Peaks((), 0.0)), "%fwdevices -v result OPTION", "result = peaks(OPTION)"
    ),
    "no time": Report(
        lambda: " ".join(str(Peaks((UNFINISHED,), 0.0, 1.0)).split()).partition(" →")[0],
        "OPTION -v result",
        "result = OPTION",
    ),
    "disturbed": Report(
        lambda: str(Peaks((DISTURBED,), 0.0)).partition("→")[2],
        "OPTION -v result",
        "result = OPTION",
    ),
    "devices": Report(
        lambda: str(Whereabouts((), (NOT_STARTED,), (), {})), "OPTION -v result", "result = OPTION"
    ),
}


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("caller", ["%fwdevices", "devices", "peaks", ""])
def test_advice_of_reports_runs_where_it_is_shown(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, name: str, caller: str
) -> None:
    for name_of_file in ("measure_peaks", "locate"):  # real devices take seconds
        module = importlib.import_module(f"ipyjaxbench.device.{name_of_file}")
        monkeypatch.setattr(module, "loaded", lambda: ([], {}))
    report = REPORTS[name]
    with called_from(caller):
        text = report.made()
    (advised,) = re.findall("`(.*?)`", text)
    typed = report.magic if caller.startswith("%") else report.python
    assert ("--" in advised) == caller.startswith("%")
    shell.run("from ipyjaxbench import devices, peaks")
    shell.run(typed.replace("OPTION", advised))
    assert shell.names["result"] is not None


@pytest.mark.parametrize(
    ("line", "first", "second"),
    [("%fwtime -n 5 --quick 1", "-n", "--quick"), ("%fwtime -r 5 --precise 1", "-r", "--precise"),
     ("%fwtime -n 5 -b 1 1", "-n", "-b"), ("%fwtime --quick --precise 1", "--quick", "--precise")],
)  # fmt: skip
def test_options_that_contradict_each_other_are_named_as_they_are_typed(
    shell: Shell, line: str, first: str, second: str
) -> None:
    told = rf"^{first} and {second} cannot be combined: leave out one of them$"
    for typed in (line, f"%{line[:-2]}\n1", f"%%fwcompare {line[8:-2]}\na: 1\nb: 2"):
        with pytest.raises(UsageError, match=told):
            shell.run(typed)


def test_they_are_named_as_keywords_in_python() -> None:
    told = r"^number=5 and aim='quick' cannot be combined: leave out one of them$"
    for call in (
        lambda: ipyjaxbench.Options(number=5, aim="quick"),
        lambda: ipyjaxbench.measure_code("1", number=5, aim="quick"),
        lambda: ipyjaxbench.compare({"a": int, "b": int}, number=5, aim="quick"),
    ):
        with pytest.raises(OptionError, match=told):
            call()
    with called_from("%fwtime"):
        assert spell(TimeOptions, restore=False, aim="quick") == "--no-restore --quick"
