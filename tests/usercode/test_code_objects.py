"""Code of functions is told apart by what it says, with a hook in it or without."""

from typing import Any

import pytest

from ipyjaxbench.usercode.code_objects import fingerprint, original, remove_hooks
from ipyjaxbench.usercode.instrument import Site, instrument_cell, instrument_functions
from ipyjaxbench.usercode.snippet import Source

CELL = "def make(n):\n    def made(x):\n        return abs(x) + n\n    return made\nf = make(1)"


class Hook:
    def __init__(self) -> None:
        self.picked: list[str] = []

    def pick(self, site: Site, function: Any, /) -> Any:
        self.picked.append(site.text)
        return function


def plain() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(CELL, names)
    return names


@pytest.mark.parametrize("other", ["\n\n" + CELL, CELL.replace("f = make(1)", "f = make(2)")])
def test_the_same_text_has_one_fingerprint_wherever_it_stands(other: str) -> None:
    names: dict[str, Any] = {}
    exec(other, names)
    assert fingerprint(names["f"].__code__) == fingerprint(plain()["f"].__code__)


@pytest.mark.parametrize(
    ("old", "new"), [("abs(x) + n", "abs(x) + 1 + n"), ("made(x)", "made(y)"), ("abs", "int")]
)
def test_other_text_has_another_one(old: str, new: str) -> None:
    names: dict[str, Any] = {}
    exec(CELL.replace(old, new).replace("abs(x)", "abs(y)" if "(y)" in new else "abs(x)"), names)
    assert fingerprint(names["make"].__code__) != fingerprint(plain()["make"].__code__)


def test_a_cell_with_the_hook_defines_the_same_functions_and_they_lose_it() -> None:
    hook, names = Hook(), dict[str, Any]()
    code = instrument_cell(Source.plain(CELL), hook)
    exec(code, names)
    assert names["f"](-1) == 2
    assert "abs(x)" in hook.picked
    for name in ("make", "f"):
        assert fingerprint(names[name].__code__) == fingerprint(plain()[name].__code__)
    remove_hooks([code])
    hook.picked.clear()
    assert names["make"](3)(-1) == 4
    assert names["f"](-1) == 2
    assert hook.picked == []


def test_calls_that_cannot_be_spelled_go_through_the_hook_too() -> None:
    hook, names = Hook(), dict[str, Any]()
    exec(instrument_cell(Source.plain("y = abs(len(f\"{'a\xa0b'.upper()}\"))"), hook), names)
    assert names["y"] == 3
    assert any(text.startswith("abs(") for text in hook.picked)


def test_functions_that_a_hooked_function_made_lose_the_hook(shell: Any) -> None:
    shell.run(CELL)
    hook, make = Hook(), shell.names["make"]
    before = make.__code__
    with instrument_functions([make], hook):
        assert original(make.__code__) is before
        made = make(5)
        assert made(-1) == 6
    assert hook.picked == ["abs(x)"]
    assert make.__code__ is before
    assert made(-1) == 6
    assert hook.picked == ["abs(x)"]
    assert fingerprint(made.__code__) == fingerprint(shell.names["f"].__code__)
