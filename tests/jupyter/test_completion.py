"""The tab key: options, their values and names; code as everywhere."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import IPython
import pytest
from hypothesis import given, strategies as st
from IPython.core.completer import provisionalcompleter

from ipyjaxbench.command import Command
from ipyjaxbench.jupyter.commands import (
    ABOUT,
    COMMANDS,
    COMPARE,
    DEVICES,
    EXPLAIN,
    GRAPH,
    HISTORY,
    TIME,
)
from ipyjaxbench.jupyter.completer import Completion, _line_matchers, complete
from tests.shell import Shell

KNOWS_CELL = IPython.version_info >= (8, 6)


@pytest.fixture
def named_results(shell: Shell) -> Iterator[None]:
    """Two results with names."""
    shell.run("%fwtime -q -n9 -r9 --name before 1\n%fwtime -q -n9 -r9 --name 'my own' 2")
    yield
    shell.shell.find_magic("fwtime").__self__.session.measurements.clear()


def offered(shell: Shell, cell: str) -> set[str]:
    """What the line holds from its first changed letter on, after one of the offers is taken."""
    cursor = cell.index("|") if "|" in cell else len(cell)
    text = cell.replace("|", "")
    with provisionalcompleter():
        found = list(shell.shell.Completer.completions(text, cursor))
    return {text[: each.start] + each.text for each in found}


@pytest.mark.usefixtures("named_results")
@pytest.mark.parametrize(("typed", "expected"), [
    ("%%fwtime --qu|\nx = 1", {"%%fwtime --quick", "%%fwtime --quiet"}),
    ("r = %fwtime -n 3 --pre", {"r = %fwtime -n 3 --precise", "r = %fwtime -n 3 --precision"}),
    ("for i in y:\n    %fwtime --fr", {"for i in y:\n    %fwtime --fresh"}),
    ("x = 1\n%fwtime --fr|\nz = 3", {"x = 1\n%fwtime --fresh"}),
    ("%jaxpr --platform=c", {"%jaxpr --platform=cpu", "%jaxpr --platform=cuda"}),
    ("%fwtime -n 3 --name be", {"%fwtime -n 3 --name before"}),
    ("%fwcompare ", {"%fwcompare before", "%fwcompare my_own"}),
    ("%config IpyJaxBench.bu", {"%config IpyJaxBench.budget"}),
])  # fmt: skip
def test_only_what_fits_is_offered(shell: Shell, typed: str, expected: set[str]) -> None:
    assert offered(shell, typed) == expected


@pytest.mark.skipif(not KNOWS_CELL, reason="this IPython tells matchers of one line only")
def test_the_labels_of_a_cell_are_offered(shell: Shell) -> None:
    cell = "%%fwcompare --baseline |\nslow: f(x)\nsetup slow: x = 1\nfast:\n    g(x)\n"
    line = "%%fwcompare --baseline "
    assert offered(shell, cell) == {f"{line}slow", f"{line}fast"}


@pytest.mark.parametrize(("typed", "expected"), [
    ("%fwtime -n 3 some_na", "%fwtime -n 3 some_name"),
    ("%fwdevices some_other some_na", "%fwdevices some_other some_name"),
    ("%fwtime -q math.sq", "%fwtime -q math.sqrt"),
    ("%%fwtime -q\nmath.sq", "%%fwtime -q\nmath.sqrt"),
    ("%timeit math.sq", "%timeit math.sqrt"),
    ("%fwt", "%%fwtime"),
])  # fmt: skip
def test_code_is_completed(shell: Shell, typed: str, expected: str) -> None:
    shell.run("import math\nsome_name = some_other = 1")
    assert expected in offered(shell, typed)


@pytest.mark.parametrize("code", ["abs(math.sq", "1 + box.at", "some_na"])
def test_without_jedi_code_is_completed_as_behind_timeit(shell: Shell, code: str) -> None:
    shell.run("import math, types\nsome_name = 1; box = types.SimpleNamespace(attr=1)")
    before = shell.shell.Completer.use_jedi
    shell.shell.Completer.use_jedi = False
    expected = {text.removeprefix("%timeit ") for text in offered(shell, f"%timeit {code}")}
    found = {text.removeprefix("%jaxpr ") for text in offered(shell, f"%jaxpr {code}")}
    shell.shell.Completer.use_jedi = before
    assert expected
    assert found >= expected


@pytest.mark.parametrize("typed", ["%timeit -", "%%fwtime\nx --fr", "%fwtime -- --fr"])
def test_elsewhere_no_option_is_offered(shell: Shell, typed: str) -> None:
    assert not [text for text in offered(shell, typed) if text.endswith(("--fresh", "--quiet"))]


@given(st.sampled_from([*COMMANDS.values()]), st.text("-= \"'nqb1x", max_size=12))
def test_nothing_that_is_typed_makes_completion_fail(command: object, typed: str) -> None:
    found = complete(command, typed, lambda sort: ["n", "b q"])
    assert found is None or all(each.startswith(found.fragment) for each in found.candidates)


NAMES = {"kept": ["before", "my own", "before"], "labels": ["slow", "fast"], "bound": ["be", "bus"]}


@pytest.mark.parametrize(
    ("command", "typed", "expected"),
    [
        (TIME, "--fr", ("--fr", ("--fresh",))),
        (TIME, "-n 3 --fresh --fr", ("--fr", ("--fresh",))),
        (TIME, "--name ", ("", ("before", '"my own"'))),
        (TIME, "--name=be", ("be", ("before",))),
        (TIME, "--name before b", ("b", ("be", "bus"))),
        (TIME, "--against l", ("l", ("last",))),
        (TIME, "--against b", ("b", ("best", "before"))),
        (TIME, "-n3 b", ("b", ("be", "bus"))),
        (TIME, "-qn 3 b", ("b", ("be", "bus"))),
        (TIME, " be", ("be", ("be",))),
        (TIME, "-q x be", ("be", ("be",))),
        *((TIME, typed, None) for typed in (
            "", "-n ", "-n 3 ", "not be", "f(be", "f() be", "x ", "-- be", "--nope=b", "--nope b",
            "-x b",
        )),
        (GRAPH, "--stage=op", ("op", ("optimized",))),
        (GRAPH, "--stage op", ("op", ("optimized",))),
        (COMPARE, "before b", ("b", ("before",))),
        (COMPARE, "before ", ("", ("before", '"my own"'))),
        (COMPARE, "--baseline s", ("s", ("slow",))),
        (DEVICES, "x b", ("b", ("be", "bus"))),
        (EXPLAIN, "b", None),
        (HISTORY, "b", None),
        (ABOUT, "b", None),
    ],
)  # fmt: skip
def test_what_may_stand_at_the_cursor_is_found(
    command: Command[Any], typed: str, expected: tuple[str, tuple[str, ...]] | None
) -> None:
    assert complete(command, typed, NAMES.__getitem__) == expected


@pytest.mark.parametrize("typed", ["-", "--", "-q --"])
def test_behind_dashes_all_options_are_offered(typed: str) -> None:
    dashes = typed.split()[-1]
    flags = [flag for row in TIME.rows for flag in row.flags if flag.startswith(dashes)]
    found = complete(TIME, typed, NAMES.__getitem__)
    assert found is not None
    assert (found[0], sorted(found[1])) == (dashes, sorted(flags))


@pytest.mark.parametrize(
    ("line", "there", "fragment", "candidates", "matches"),
    [
        ("%fwtime --fr", "fr", "--fr", ("--fresh",), ["fresh"]),
        ("%jaxpr --stage=op", "--stage=op", "op", ("optimized",), ["--stage=optimized"]),
        ("%fwcompare ", "", "", ("one", "two"), ["one", "two"]),
    ],
)
def test_a_completer_that_knows_one_line_gets_what_stands_at_its_cursor(
    line: str, there: str, fragment: str, candidates: tuple[str, ...], matches: list[str]
) -> None:
    """It splits lines by signs of its own, so that it may know less or more than a value."""
    asked: list[tuple[str, str]] = []

    def answer(before: str, below: str) -> Completion | None:
        asked.append((before, below))
        return Completion(fragment, candidates)

    splitter = SimpleNamespace(split_line=lambda _: there)
    shells = SimpleNamespace(text_until_cursor=line, splitter=splitter, magic_arg_matchers=[])
    completer: Any = SimpleNamespace(shells=shells, complete=answer)
    registry, matcher = _line_matchers(completer)
    assert registry is shells.magic_arg_matchers
    assert matcher("") == matches
    assert asked == [(line, "")]
    completer.complete = lambda *_: None
    assert matcher("") == []
