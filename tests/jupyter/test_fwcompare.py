"""`%%fwcompare` in a real IPython shell."""

import dataclasses

import pytest
from IPython.core.error import UsageError

from tests.shell import Shell

ARMS = "a: sum(range(1000))\nb: sum(range(9000))\n"


def test_the_set_up_above_the_arms_runs_once_and_its_names_go(shell: Shell) -> None:
    shell.run("runs, kept = [], 'mine'")
    setup = "runs.append(1)\nkept = 'other'\nimport decimal"
    shell.run(f"%%fwcompare -q -v found -n 3 -r 25\n{setup}\n{ARMS}")
    assert (shell.names["runs"], shell.names["kept"]) == ([1], "mine")
    assert "decimal" not in shell.names
    found = shell.names["found"]
    assert [side.label for side in found.sides] == ["a", "b"]
    assert [(found[label].loops, found[label].repeat) for label in "ab"] == [(3, 25)] * 2
    assert shell.shown == []


def test_arms_are_kept_under_the_name_and_their_labels(shell: Shell) -> None:
    for name in ("before", "after"):
        shell.run(f"%%fwcompare -q --quick --name {name}\n{ARMS}")
    shell.run("r = %fwcompare -q before.b after.b")
    assert [side.label for side in shell.names["r"].sides] == ["before.b", "after.b"]
    shell.run("m = %fwtime -q --quick --against before.a sum(range(1000))")
    assert shell.names["m"].against.name == "before.a"


def test_arms_of_a_sweep_are_kept_with_their_values(shell: Shell) -> None:
    shell.run(
        "%%fwcompare -q --quick --name s --sweep n=10,20\na: sum(range(n))\nb: list(range(n))"
    )
    shell.run("r = %fwcompare -q s.a.n=10 s.a.n=20")
    assert [side.label for side in shell.names["r"].sides] == ["s.a.n=10", "s.a.n=20"]
    assert not shell.names["r"].interleaved
    assert shell.run("%fwcompare -q -o s.a.n=20 s.b.n=20").interleaved
    shell.run("m = %fwtime -q --quick --against s.a.n=10 sum(range(10))")
    assert shell.names["m"].against.base is not None
    shell.run("h = %fwhistory -q s.a.n=10")
    found = shell.names["h"]
    assert {entry.name for entry in found} == {"s.a.n=10"}, (found.trouble, found.unread)


@pytest.mark.parametrize(
    ("line", "arms", "baseline"),
    [
        ("kept.a kept.c", ["a", "c"], "a"),
        ("--baseline kept.c kept.a kept.c", ["a", "c"], "c"),
        ("kept.the_last kept.a", ["the last", "a"], "the last"),
    ],
)
def test_kept_arms_of_one_cell_have_their_interleaved_ratio(
    shell: Shell, line: str, arms: list[str], baseline: str
) -> None:
    cell = "a: sum(range(99))\nthe last: sum(range(200))\nc: sum(range(300))"
    shell.run(f"%%fwcompare -q -r 30 -v run --name kept\n{cell}")
    shell.run(f"r = %fwcompare -q {line}")
    run, found = shell.names["run"], shell.names["r"]
    assert found.interleaved
    assert [found[side.label] for side in found.sides] == [run[arm] for arm in arms]
    other = next(arm for arm in arms if arm != baseline)
    (asked,) = (side.label for side in found.sides if side.label != found.baseline)
    of_run = dataclasses.replace(run, baseline=baseline).ratio(other)
    assert found.ratio(asked).pairs == of_run.pairs == 30
    assert found.ratio(asked).value == of_run.value
    assert "interleaved" in str(found)
    assert "not interleaved" not in str(found)


def test_kept_arms_of_two_cells_are_not_interleaved(shell: Shell) -> None:
    for name in ("one", "two"):
        shell.run(f"%%fwcompare -q -r 20 --name {name}\n{ARMS}")
    assert shell.run("%fwcompare -q -o one.a one.b").interleaved
    assert not shell.run("%fwcompare -q -o one.a two.a").interleaved
    assert not shell.run("%fwcompare -q -o one.a one.b two.a").interleaved
    shell.run("%fwtime -q -r 20 --name one.b sum(range(10))")
    assert not shell.run("%fwcompare -q -o one.a one.b").interleaved


def test_kept_names_may_have_spaces(shell: Shell) -> None:
    shell.run('%fwtime -q -b 0.05 --name "be fore" sum(range(100))')
    shell.run("%fwtime -q -b 0.05 --name after sum(range(100))")
    shell.run('r = %fwcompare -q "be fore" after')
    assert [side.label for side in shell.names["r"].sides] == ["be_fore", "after"]
    assert shell.run("%fwcompare -q -o be_fore after").baseline == "be_fore"
    assert shell.run('%fwtime -q -o -b 0.05 --against "be fore" 1 + 1').against.base is not None
    assert shell.run("%fwtime -q -o -b 0.05 --against be_fore 1 + 1").against.base is not None


def test_shell_commands_and_magics_may_stand_behind_a_label(shell: Shell) -> None:
    shell.run("%%fwcompare -q -v r -b 0.1\nsh: !true\nmagic: %precision 3\n")
    assert [side.failed for side in shell.names["r"].sides] == ["", ""]


def test_arms_without_a_name_are_known_by_their_labels(shell: Shell) -> None:
    shell.run("%fwtime -q -n 1 -r 3 -v kept --name a 1 + 1")
    for _ in range(2):
        shell.run(f"%%fwcompare -q -n 1 -r 20 -v run\n{ARMS}\nc: 1 + 1")
    found, run = shell.run("%fwcompare -q -o b c"), shell.names["run"]
    assert found.interleaved
    assert [found[label] for label in "bc"] == [run[label] for label in "bc"]
    assert shell.run("%fwcompare -q -o a b")["a"] == shell.names["kept"]  # a name is not taken
    assert (
        shell.run("%fwtime -q -o -n 1 -r 3 --against b 1 + 1").against.age is None
    )  # of the session


NEEDS_ARMS = ("-b 3", "--align", "--sweep n=1", "-n 3", "-r 3", "--quick", "--name c")
LONG = "b" * 25


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%fwcompare\na: 1", "'a' is the only arm, but a comparison needs two"),
        ("%%fwcompare --baseline c\na: 1\nb: 2", "baseline 'c': no such arm; the arms are a, b"),
        ("%%fwcompare f(x)\na: 1\nb: 2",
         "'f(x)' is not an option. Write the code in the lines below."),
        ("%%fwcompare --sweep n\na: n\nb: 2", "--sweep n: must be a name and its values"),
        ("%%fwcompare --sweep n=\na: n\nb: 2", "--sweep n=: must be a name and its values, for ex"),
        ("%%fwcompare --sweep n=1,1\na: n\nb: 2", "--sweep n=1,1: 1 appears twice. Values must be"),
        ("%%fwcompare --sweep n=1 --sweep n=2,3\na: n\nb: 2",
         "--sweep n=1 and --sweep n=2,3: n is swept twice: type one --sweep n=1,2,3"),
        ("%%fwcompare --sweep n=1..4 --sweep n=9\na: n\nb: 2",
         "--sweep n=1..4 and --sweep n=9: n is swept twice: leave out one of them"),
        ("%%fwcompare --sweep k=1\na: 1\nb: 2", "--sweep k: no arm or setup uses k"),
        ("%%fwcompare\na: 1\nb: foo(\nc: 2",
         "SyntaxError in line 3, 'b: foo(': '(' was never closed"),
        ("%%fwcompare -b 3 -n 2\na: 1\nb: 2", "-n and -b cannot be combined: leave out"),
        ("%%fwcompare --quick -r 2\na: 1\nb: 2", "-r and --quick cannot be combined: leave out"),
        *((f"%fwcompare {option} one two", f"{option.split()[0]} needs a cell of arms: it cannot")
          for option in NEEDS_ARMS),
        ("%%fwcompare\ny: int = 3\na: 1\nb: 2",
         "'y: int = 3' would be read as an arm: remove the annotation"),
        (f"%%fwcompare\na: 1\n{LONG}: 2",
         f"label '{LONG}': must be a label of at most 24 characters, for example a"),
        ("%%fwcompare\nb = 1\n<b>: 2\na: 1",
         "label '<b>': must be a label that begins with a letter, digit or _"),
        ("%%fwcompare\na: 1\n<b>: 2",
         "label '<b>': must be a label that begins with a letter, digit or _"),
        ("%%fwcompare --foo\na: 1\nb: 2", "unknown option --foo. %%fwcompare? lists all options."),
        ("%fwcompare nope two", "no result is named 'nope': "),
        ("%fwtime -q -n9 -r9 --name one 1\n%fwcompare one one",
         "'one' appears twice: labels must be unique"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(cell: str, message: str, shell: Shell) -> None:
    with pytest.raises(UsageError) as caught:
        shell.run(cell)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value).splitlines()) == 1


def test_one_arm_that_fails_is_shown_and_stops_the_notebook_at_the_end(shell: Shell) -> None:
    with pytest.raises(ZeroDivisionError):
        shell.run("%%fwcompare -v r -b 0.1\na: 1\nb: 1 / 0\nc: 2")
    assert "b failed: ZeroDivisionError: division by zero." in shell.shown[0].data["text/plain"]
    assert shell.names["r"].ratio("c") is not None
    assert "1 / 0" in shell.text
    assert "contender.py" not in shell.text


@pytest.mark.parametrize("option", ["", "--keep-going", "--sweep n=1,2", "-q"])
def test_arms_that_all_fail_stop_the_notebook(shell: Shell, option: str) -> None:
    with pytest.raises(ZeroDivisionError):
        shell.run(f"%%fwcompare -b 0.1 {option}\nn = 1\na: n / 0\nb: n / 0.0")
    assert len(shell.shown) == (option != "-q")
