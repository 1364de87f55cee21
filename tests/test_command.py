"""Options in front of code."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from ipyjaxbench.command import Command, ShownOptions
from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.commands import COMMANDS, COMPARE, DEVICES, EXPLAIN, GRAPH, HISTORY, TIME
from ipyjaxbench.option import flag, option, options_of
from ipyjaxbench.timing.options import FwtimeOptions
from ipyjaxbench.validation import count, seconds

WHOLE = "must be a whole number, 1 or more, for example"
SECONDS = "must be a number of seconds, 0 or more, for example"
DIGITS = "must be a whole number from 1 to 15, for example"

PROTECT = "(If it is code, type -- in front of it.)"

CODE = st.text(max_size=60).filter(lambda text: not text.strip().startswith("-"))
FLAGS = st.lists(
    st.sampled_from(["-q", "-o", "-n 10", "-n10", "-r 5", "-p4", "-v r", "--cpu"]),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize(("line", "expected"), [
    ("-n10 f()", FwtimeOptions(number=10)),
    ("-n=10 f()", FwtimeOptions(number=10)),
    ("--number=10 f()", FwtimeOptions(number=10)),
    ("--number 10 f()", FwtimeOptions(number=10)),
    ("--repeat=7 f()", FwtimeOptions(repeat=7)),
    ("-b 0.5 f()", FwtimeOptions(budget=0.5)),
    ("-b1e-3 f()", FwtimeOptions(budget=0.001)),
    ("-p5 f()", FwtimeOptions(precision=5)),
    ("-t f()", FwtimeOptions(clock="calendar")),
    ("--cpu --cpu f()", FwtimeOptions(clock="cpu")),
    ("--quick f()", FwtimeOptions(aim="quick")),
    ("--precise f()", FwtimeOptions(aim="precise")),
    ("--no-restore f()", FwtimeOptions(restore=False)),
    ("--name 'my own' f()", FwtimeOptions(name="my own")),
    ('--against "\'" f()', FwtimeOptions(against="'")),
    ('--against "x f()', FwtimeOptions(against='"x')),
    ("--fresh f()", FwtimeOptions(fresh=True)),
    ("--fresh 4 f()", FwtimeOptions(fresh=4)),
    ("--fresh 4 -n 5 f()", FwtimeOptions(fresh=4, number=5)),
    ("--ops -n 3 --profile f()", FwtimeOptions(profile=True, ops=True, number=3)),
    ("-n 1 -n 2 f()", FwtimeOptions(number=2)),
    ("  -n10   -r5 f()", FwtimeOptions(number=10, repeat=5)),
    ("-n\t10\tf()", FwtimeOptions(number=10)),
])  # fmt: skip
def test_every_spelling_of_an_option_is_understood(line: str, expected: FwtimeOptions) -> None:
    assert TIME.split(line) == (expected, ShownOptions(), "f()")


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        *((f"--fresh 4 {code}", 4, code) for code in (
            "[f()]", "'x'.join(y)", "y = f()", "notes(x)", "not f(x)", "for x in y: f(x)", "~x",
            ".5 * x", "# four", "",
        )),
        *((f"--fresh {code}", 1, code) for code in (
            "4 * x", "4 - x", "4 -x", "4 if x else y", "4 not in x", "4, 5", "4.5", "4e3 ** x",
        )),
        ("--fresh=4 * x", 4, "* x"),
        ("--fresh -- 4", 1, "4"),
        ("--fresh 4 -- f(x)", 4, "f(x)"),
    ],
)  # fmt: skip
def test_a_number_behind_an_option_that_needs_none_is_its_value_where_no_code_begins_with_it(
    line: str, number: int, code: str
) -> None:
    assert TIME.split(line) == (FwtimeOptions(fresh=number), ShownOptions(), code)


@pytest.mark.parametrize(("line", "expected"), [
    ("--quiet f()", ShownOptions(quiet=True)),
    ("--return f()", ShownOptions(returned=True)),
    ("-qo f()", ShownOptions(quiet=True, returned=True)),
    ("-qon10 f()", ShownOptions(quiet=True, returned=True)),
    ("-vresult f()", ShownOptions(variable="result")),
    ("--variable=result f()", ShownOptions(variable="result")),
    ("-q -- f()", ShownOptions(quiet=True)),
])  # fmt: skip
def test_every_spelling_of_an_option_of_all_magics_is_understood(
    line: str, expected: ShownOptions
) -> None:
    chosen, shown, code = TIME.split(line)
    assert (shown, code) == (expected, "f()")
    assert chosen == FwtimeOptions(number=10 if "10" in line else None)


@pytest.mark.parametrize(
    "code",
    ["-x + 1", "-x", "-1", "-(x)", "-beta * 2", "-b.sum()", "f(x, -n)", "x -n 10", "{x}", "$x",
     'print("a  b")', "f(  x ,y )  # a  comment", "x = [\t1]", r"r'\\d+  \\s'", "x--1", ""],
)  # fmt: skip
def test_code_is_kept_as_it_was_typed(code: str) -> None:
    assert TIME.split(code) == (FwtimeOptions(), ShownOptions(), code)
    assert TIME.split(f"-n 10 {code}") == (FwtimeOptions(number=10), ShownOptions(), code)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        *((f"--profile {code}", code) for code in (
            "not x", "await f(x)", "lambda: 1", "del x", "x = 3; y", "!ls f(x)", "%time f(x)",
            "f (", "not", "f",
        )),
        ("-n 5 gpu f(x)", "gpu f(x)"),  # the option has its value
        ("--profile -- gpu f(x)", "gpu f(x)"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_as_value_is_code(line: str, code: str) -> None:
    assert TIME.split(line)[-1] == code


def test_names_of_results_may_stand_before_and_behind_options() -> None:
    for line in ("before after -q", "before -q after", "-q before after", " -q  before  after "):
        _, shown, names = COMPARE.split(line)
        assert (shown.quiet, names) == (True, "before after")
    chosen, _, names = COMPARE.split("--sweep n=1,2 before --sweep k=3 after")
    assert (chosen.sweep, names) == ((("n", "1,2"), ("k", "3")), "before after")
    assert HISTORY.split("--last 5 soft max")[-1] == "soft max"
    assert DEVICES.split("--start x f(y)")[-1] == "x f(y)"


@given(FLAGS, CODE)
def test_any_code_survives_behind_options(flags: list[str], code: str) -> None:
    # A word that leaves no code, in front of code, is refused as a value.
    first, blank, _ = code.strip().partition(" ")
    assume(not (blank and first.isidentifier()))
    *chosen, rest = TIME.split(f"{' '.join(flags)} {code}")
    assert rest == code.strip()
    assert chosen == [*TIME.split(" ".join(flags))[:2]]
    assert chosen != [FwtimeOptions(), ShownOptions()]


@given(st.text(max_size=60))
def test_two_dashes_protect_any_code(code: str) -> None:
    assert TIME.split(f"-- {code}") == (FwtimeOptions(), ShownOptions(), code.strip())
    if not code.strip().startswith("-"):
        assert TIME.split(code) == (FwtimeOptions(), ShownOptions(), code.strip())


@given(st.text(max_size=60))
def test_any_line_is_split_or_refused_in_one_line(line: str) -> None:
    try:
        _, _, code = TIME.split(f"-{line}")
    except OptionError as error:
        code, message = "", str(error)
    else:
        message = ""
    assert len(message.splitlines()) <= 1
    assert f"-{line}".rstrip().endswith(code)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-n x f()", f"-n x: {WHOLE} -n 5"),
        ("-n -1 f()", f"-n -1: {WHOLE} -n 5"),
        ("--number= f()", f"--number : {WHOLE} --number 5"),
        ("-b -1 f()", f"-b -1: {SECONDS} -b 5"),
        ("-b inf f()", f"-b inf: {SECONDS} -b 5"),
        ("-p 16 f()", f"-p 16: {DIGITS} -p 5"),
        ("-v 1x f()", "-v 1x: must be a valid variable name, for example -v result"),
        ("-n", "-n needs a value, for example -n 5"),
        ("-q --budget", "--budget needs a value, for example --budget 5"),
        ("--profile gpu f(x)", "--profile gpu: --profile takes no value. Type --profile f(x)"),
        ("-n 5 --fresh on x = f(x)",
         "--fresh on: --fresh takes a number or nothing. Type --fresh x = f(x)"),
        ("--name '' f()",
         ("--name : must be a name without ; ? \\ or quotes that does not begin with -, for"
          " example --name before")),
        *((f"{line} f()", f"{both} cannot be combined: leave out one of them")
          for line, both in (("--calendar --cpu", "-t and --cpu"), ("-c -t", "-c and -t"),
                             ("-tqc", "-t and -c"),
                             ("--quick --precise", "--quick and --precise"))),
        *((f"{line} f()", f"{first} and -b cannot be combined: leave out one of them")
          for line, first in (("-n 5 -b 1", "-n"), ("-r 5 -b 1", "-r"), ("-b1 -n5 -r5", "-n"))),
        ("-q=1 f()", "-q=1: -q takes no value. Type -q alone."),
        ("--cpu=yes f()", "--cpu=yes: --cpu takes no value. Type --cpu alone."),
        ("--device gpu f(x)", "--profile gpu: --profile takes no value. Type --profile f(x)"),
        ("--numbr=3 f()", f"unknown option --numbr. Did you mean --number? {PROTECT}"),
        ("--zzz f()", f"unknown option --zzz. %fwtime? lists all options. {PROTECT}"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_one_line(line: str, message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        TIME.split(line)


@pytest.mark.parametrize(("command", "line", "message"), [
    (HISTORY, "--lst 3", "unknown option --lst. Did you mean --last?"),
    (HISTORY, "-x", "unknown option -x. %fwhistory? lists all options."),
    *((GRAPH, f"{line} f(x)", f"{both} cannot be combined: leave out one of them")
      for line, both in (("--dynamo --export", "--dynamo and --export"),
                         ("--stage hlo --export", "--stage and --export"),
                         ("--depth 3 --flat", "--depth and --flat"))),
])  # fmt: skip
def test_mistakes_of_other_magics_are_told_too(
    command: Command[Any], line: str, message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        command.split(line)
    assert str(caught.value) == message


def test_an_old_flag_means_the_new_one_and_is_reported() -> None:
    options, shown, code = TIME.split("--device -r 3 f(x)")
    assert (options, code) == (FwtimeOptions(profile=True, repeat=3), "f(x)")
    assert shown.renamed == (("--device", "--profile"),)
    assert TIME.split("--profile f(x)")[1].renamed == ()
    assert "--device" not in TIME.help()
    assert "--device" not in TIME.rows_by_flag


def test_the_help_names_what_is_done_by_default() -> None:
    defaults = FwtimeOptions()
    assert f"seconds to spend after the first call ({defaults.seconds:g})" in TIME.help()
    assert f"significant digits shown ({defaults.precision})" in TIME.help()


def test_the_examples_of_the_help_are_understood() -> None:
    lines = re.findall(r"(?<!%)%fwtime (.*)", TIME.help().partition("examples:")[2])
    assert [TIME.split(line)[0] for line in lines[1:]] == [
        FwtimeOptions(budget=5.0), FwtimeOptions(memory=True),
        FwtimeOptions(number=100, repeat=7), FwtimeOptions(engines="all"),
    ]  # fmt: skip
    assert TIME.split(lines[1])[2] == lines[1].removeprefix("-b 5 ")


@dataclass(frozen=True, kw_only=True)
class Baking:
    """How bread is baked."""

    loaves: int = option(2, "-l, --loaves", count, "how many are baked at once ({loaves})")
    minutes: float | None = option(None, "--minutes-in-the-oven 40", seconds, "how long it takes")
    crust: str = option("thin", "--crust thick", ("thin", "thick"), "one of two")
    steam: bool = flag("--steam", "with water in the oven")
    cooled: bool = flag("--hot", "to be eaten at once", default=True)


BAKE = Command(name="fwtime", options=Baking, usage=("%bake dough", "%%bake"), examples="examples:")
BAKE_HELP = """\
usage: %bake dough
       %%bake

options:
  -l, --loaves N          how many are baked at once (2)
  --minutes-in-the-oven SECONDS
                          how long it takes
  --crust CRUST           one of two
  --steam                 with water in the oven
  --hot                   to be eaten at once
"""


def test_the_help_is_a_table_of_the_options() -> None:
    _, _, rest = BAKE.help().partition("\n\n")
    assert rest.startswith(BAKE_HELP)
    assert rest.endswith("\n\nexamples:")
    assert "how many are baked at once (7)" in BAKE.help({"loaves": 7, "unknown": 1})


def test_a_long_help_goes_on_below_where_it_began() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Long:
        fits: bool = flag("--as-long-as-it-may-be", "two blanks are behind it")
        over: bool = flag("--longer-than-it-may-be", " ".join(["word"] * 20))

    lines = Command(name="fwtime", options=Long).help().splitlines()
    first = next(i for i, line in enumerate(lines) if "may-be" in line)
    assert lines[first : first + 4] == [
        "  --as-long-as-it-may-be  two blanks are behind it",
        "  --longer-than-it-may-be",
        f"{'':26}{' '.join(['word'] * 11)}",  # 54 columns of 80 hold eleven
        f"{'':26}{' '.join(['word'] * 9)}",
    ]


def test_options_know_how_they_are_typed() -> None:
    rows = {row.field: row for row in options_of(Baking)}
    assert [row.flags for row in rows.values()] == [
        ("-l", "--loaves"), ("--minutes-in-the-oven",), ("--crust",), ("--steam",), ("--hot",),
    ]  # fmt: skip
    assert [row.sample for row in rows.values()] == ["5", "40", "thick", "5", "5"]
    assert [row.takes_value for row in rows.values()] == [True, True, True, False, False]
    assert rows["crust"].choices == ("thin", "thick")
    assert rows["loaves"].choices == ()
    chosen, _, rest = BAKE.split("--hot --steam --crust thick -l3 dough")
    assert chosen == Baking(loaves=3, crust="thick", steam=True, cooled=False)
    assert rest == "dough"


def test_what_is_configured_stands_for_what_is_not_typed() -> None:
    configured = {"loaves": 7, "steam": True, "of another magic": 1}
    chosen, _, _ = BAKE.split("-l 3 dough", configured)
    assert chosen == Baking(loaves=3, steam=True)


def test_magics_are_called_by_their_names() -> None:
    assert [COMMANDS[name].typed for name in ("fwtime", "fwcompare")] == ["%fwtime", "%%fwcompare"]
    assert EXPLAIN.purpose == EXPLAIN.help().partition("\n")[0]
