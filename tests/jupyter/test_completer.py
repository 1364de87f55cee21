"""What may stand at the cursor, by what was typed behind a magic."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.command import Command
from ipyjaxbench.jupyter.commands import ABOUT, COMPARE, DEVICES, EXPLAIN, GRAPH, HISTORY, TIME
from ipyjaxbench.jupyter.completer import Completion, _line_matchers, complete

NAMES = {"kept": ["before", "my own", "before"], "labels": ["slow", "fast"], "bound": ["be", "bus"]}


def offered(command: Command[Any], typed: str) -> tuple[str, Sequence[str]] | None:
    return complete(command, typed, NAMES.__getitem__)


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
def test_only_what_fits_is_offered(
    command: Command[Any], typed: str, expected: tuple[str, tuple[str, ...]] | None
) -> None:
    assert offered(command, typed) == expected


def test_behind_two_dashes_all_long_options_are_offered() -> None:
    for typed in ("--", "-q --"):
        found = offered(TIME, typed)
        assert found is not None
        assert found[0] == "--"
        assert {"--fresh", "--budget", "--name"} <= set(found[1])
        assert all(flag.startswith("--") for flag in found[1])


@pytest.mark.parametrize(
    ("line", "there", "fragment", "candidates", "matches"),
    [
        ("%fwtime --fr", "--fr", "--fr", ("--fresh",), ["--fresh"]),
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
