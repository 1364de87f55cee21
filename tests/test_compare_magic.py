"""`%%fwcompare` in a real IPython shell."""

import pytest
from IPython.core.error import UsageError

from ipyjaxbench import Comparison, Sweep
from ipyjaxbench.result import MIME
from tests.shell import Shell

ARMS = "a: sum(range(2000))\nb: sum(range(4000))\n"


def test_a_cell_is_compared_and_shown_once_in_three_forms(shell: Shell) -> None:
    assert shell.run(f"%%fwcompare -b 0.1\n{ARMS}") is None
    (output,) = shell.shown
    assert set(output.data) == {"text/plain", "text/html", MIME}
    assert output.data["text/plain"].startswith("compared")
    assert Comparison.from_dict(output.data[MIME]).verdict("b") == "SLOWER"


def test_the_set_up_above_the_arms_runs_once_and_stays(shell: Shell) -> None:
    shell.run(f"%%fwcompare -q -v found -b 0.1\nruns = globals().get('runs', 0) + 1\n{ARMS}")
    assert shell.names["runs"] == 1
    assert shell.names["found"].verdict("b") == "SLOWER"
    assert shell.shown == []


def test_names_and_numbers_are_swept(shell: Shell) -> None:
    shell.run(
        "%%fwcompare --sweep n=100..400 -b 0.3\nxs = list(range(n))\na: sum(xs)\nb: sorted(xs)\n"
    )
    (output,) = shell.shown
    found = Sweep.from_dict(output.data[MIME])
    assert [point.values for point in found.points] == [("100",), ("200",), ("400",)]
    assert "n" not in shell.names
    assert "xs" not in shell.names


def test_a_kept_result_is_not_compared_with_itself(shell: Shell) -> None:
    shell.run("%fwtime -q -b 0.05 --name one sum(range(100))")
    with pytest.raises(UsageError) as caught:
        shell.run("%fwcompare one one")
    assert str(caught.value) == "'one' stands there twice: a comparison needs two arms"


def test_kept_results_are_compared_and_called_not_interleaved(shell: Shell) -> None:
    shell.run("%fwtime -q -b 0.05 --name short sum(range(100))")
    shell.run("%fwtime -q -b 0.05 --name long sum(range(3000))")
    shell.run("%fwcompare short long")
    (output,) = shell.shown
    assert Comparison.from_dict(output.data[MIME]).verdict("long") == "SLOWER"
    assert "measured one after the other, not in turns" in output.data["text/plain"]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%fwcompare\na: 1", "'a' is the only arm, and a comparison needs two"),
        ("%%fwcompare --baseline c\na: 1\nb: 2", "--baseline c: the arms are a, b"),
        ("%%fwcompare f(x)\na: 1\nb: 2", "'f(x)' stands where options stand: write code below"),
        ("%%fwcompare --sweep n\na: n\nb: 2", "--sweep n: --sweep takes a name and its values"),
        ("%%fwcompare --sweep k=1\na: 1\nb: 2", "--sweep k: no arm and no set-up reads k"),
        (
            "%%fwcompare\na: 1\nb: foo(\nc: 2",
            "SyntaxError in line 3, 'b: foo(': '(' was never closed",
        ),
        ("%fwcompare one two", "'one' was not kept by %fwtime --name; kept are: "),
    ],
)
def test_bad_input_is_one_line(cell: str, message: str, shell: Shell) -> None:
    with pytest.raises(UsageError) as caught:
        shell.run(cell)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value).splitlines()) == 1


def test_an_error_in_an_arm_is_found_at_its_line(shell: Shell) -> None:
    with pytest.raises(UsageError) as caught:
        shell.run("%%fwcompare\na: 1\nb: f(\n")
    assert "SyntaxError in line 3" in str(caught.value)


def test_help_shows_the_options_and_examples(shell: Shell) -> None:
    help_text = type(shell.shell.find_magic("fwcompare").__self__).fwcompare.__doc__
    for word in ("--baseline", "--sweep", "--align", "ipyjaxbench.compare"):
        assert word in help_text
