"""The tab key: options, their values and names; code as everywhere."""

import IPython
import pytest
from hypothesis import given, strategies as st
from IPython.core.completer import provisionalcompleter

from ipyjaxbench.jupyter.commands import COMMANDS, TIME
from ipyjaxbench.jupyter.completer import complete
from tests.shell import Shell

KNOWS_CELL = IPython.version_info >= (8, 6)


@pytest.fixture(autouse=True)
def named_results(shell: Shell) -> None:
    """Two results with names."""
    shell.run("%fwtime -q -n9 -r9 --name before 1\n%fwtime -q -n9 -r9 --name 'my own' 2")


def offered(shell: Shell, cell: str) -> set[str]:
    """What the line holds from its first changed letter on, after one of the offers is taken."""
    cursor = cell.index("|") if "|" in cell else len(cell)
    text = cell.replace("|", "")
    with provisionalcompleter():
        found = list(shell.shell.Completer.completions(text, cursor))
    return {text[: each.start] + each.text for each in found}


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("%%fwtime --qu|\nx = 1", {"%%fwtime --quick", "%%fwtime --quiet"}),
        ("r = %fwtime -n 3 --pre", {"r = %fwtime -n 3 --precise", "r = %fwtime -n 3 --precision"}),
        ("for i in y:\n    %fwtime --fr", {"for i in y:\n    %fwtime --fresh"}),
        ("x = 1\n%fwtime --fr|\nz = 3", {"x = 1\n%fwtime --fresh"}),
        ("%trace_cached --watch ", {"%trace_cached --watch on", "%trace_cached --watch off"}),
        ("%jaxpr --stage op", {"%jaxpr --stage optimized"}),
        ("%jaxpr --platform=c", {"%jaxpr --platform=cpu", "%jaxpr --platform=cuda"}),
        ("%fwtime -n 3 --name be", {"%fwtime -n 3 --name before"}),
        ("%fwcompare ", {"%fwcompare before", "%fwcompare my_own"}),
        ("%ipyjaxbench --q", {"%ipyjaxbench --quiet"}),
        ("%config IpyJaxBench.bu", {"%config IpyJaxBench.budget"}),
    ],
)
def test_only_what_fits_is_offered(shell: Shell, typed: str, expected: set[str]) -> None:
    assert offered(shell, typed) == expected


def test_after_one_dash_all_options_are_offered(shell: Shell) -> None:
    flags = {flag for row in TIME.rows for flag in row.flags}
    assert offered(shell, "%fwtime -") == {f"%fwtime {flag}" for flag in flags}


@pytest.mark.skipif(not KNOWS_CELL, reason="this IPython tells matchers of one line only")
def test_the_labels_of_a_cell_are_offered(shell: Shell) -> None:
    cell = "%%fwcompare --baseline |\nslow: f(x)\nsetup slow: x = 1\nfast:\n    g(x)\n"
    line = "%%fwcompare --baseline "
    assert offered(shell, cell) == {f"{line}slow", f"{line}fast"}


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("%fwtime -n 3 some_na", "%fwtime -n 3 some_name"),
        ("%fwdevices some_other some_na", "%fwdevices some_other some_name"),
        ("%fwtime -q math.sq", "%fwtime -q math.sqrt"),
        ("%%fwtime -q\nmath.sq", "%%fwtime -q\nmath.sqrt"),
        ("%timeit math.sq", "%timeit math.sqrt"),
        ("x = math.sq", "x = math.sqrt"),
        ("%fwt", "%fwtime"),
        ("%fwt", "%%fwtime"),
    ],
)
def test_code_is_completed(shell: Shell, typed: str, expected: str) -> None:
    shell.run("import math\nsome_name = some_other = 1")
    assert expected in offered(shell, typed)


@pytest.mark.parametrize("code", ["abs(math.sq", "1 + box.at", "some_na", "os.path.jo"])
@pytest.mark.parametrize("magic", ["%fwtime -q", "%jaxpr"])
def test_without_jedi_code_is_completed_as_behind_timeit(
    shell: Shell, magic: str, code: str
) -> None:
    shell.run("import math, os.path, types\nsome_name = 1; box = types.SimpleNamespace(attr=1)")
    before = shell.shell.Completer.use_jedi
    shell.shell.Completer.use_jedi = False
    expected = offered(shell, f"%timeit {code}")
    found = offered(shell, f"{magic} {code}")
    shell.shell.Completer.use_jedi = before
    assert expected
    assert {text.removeprefix(f"{magic} ") for text in found} >= {
        text.removeprefix("%timeit ") for text in expected
    }


@pytest.mark.parametrize("typed", ["%timeit -", "x = -", "%%fwtime\nx --fr", "%fwtime -- --fr"])
def test_elsewhere_no_option_is_offered(shell: Shell, typed: str) -> None:
    assert not [text for text in offered(shell, typed) if text.endswith(("--fresh", "--quiet"))]


@given(st.sampled_from([*COMMANDS.values()]), st.text("-= \"'nqb1x", max_size=12))
def test_nothing_that_is_typed_makes_completion_fail(command: object, typed: str) -> None:
    found = complete(command, typed, lambda sort: ["n", "b q"])
    assert found is None or all(each.startswith(found.fragment) for each in found.candidates)
