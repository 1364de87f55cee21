"""Code of functions is told apart by what it says, with a hook in it or without."""

import functools
from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench.usercode.code_objects import (
    captured_values,
    closure_values,
    fingerprint,
    named_values,
    original,
    parts_of_callable,
)
from ipyjaxbench.usercode.instrument import instrument_cell, instrument_functions
from ipyjaxbench.usercode.made_functions import remove_hooks
from ipyjaxbench.usercode.snippet import Source
from tests.usercode.hook import Hook

CELL = "def make(n):\n    def made(x):\n        return abs(x) + n\n    return made\nf = make(1)"


def plain() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(CELL, names)
    return names


@pytest.mark.parametrize(
    ("old", "new"),
    [("abs(x) + n", "abs(x) + 1 + n"), ("made(x):\n        return abs(x)",
                                        "made(y):\n        return abs(y)"), ("abs", "int")],
)  # fmt: skip
def test_other_text_has_another_one(old: str, new: str) -> None:
    names: dict[str, Any] = {}
    exec(CELL.replace(old, new), names)
    assert fingerprint(names["make"].__code__) != fingerprint(plain()["make"].__code__)
    assert fingerprint(None) == 0 != fingerprint(plain()["f"].__code__)


def test_a_cell_with_the_hook_defines_the_same_functions_and_they_lose_it() -> None:
    hook, names = Hook(), dict[str, Any]()
    code = instrument_cell(Source.plain(CELL), hook)
    exec(code, names)
    assert names["f"](-1) == 2
    assert "abs(x)" in hook.texts
    for name in ("make", "f"):
        assert fingerprint(names[name].__code__) == fingerprint(plain()[name].__code__)
    remove_hooks([code])
    hook.sites.clear()
    assert names["make"](3)(-1) == 4
    assert names["f"](-1) == 2
    assert hook.texts == []


def test_calls_that_cannot_be_spelled_go_through_the_hook_too() -> None:
    hook, names = Hook(), dict[str, Any]()
    exec(instrument_cell(Source.plain("y = abs(len(f\"{'a\xa0b'.upper()}\"))"), hook), names)
    assert names["y"] == 3
    assert any(text.startswith("abs(") for text in hook.texts)


def test_functions_that_a_hooked_function_made_lose_the_hook(shell: Any) -> None:
    shell.run(CELL)
    hook, make = Hook(), shell.names["make"]
    before = make.__code__
    with instrument_functions([make], hook):
        assert original(make.__code__) is before
        made = make(5)
        assert made(-1) == 6
    assert hook.texts == ["abs(x)"]
    assert make.__code__ is before
    assert made(-1) == 6
    assert hook.texts == ["abs(x)"]
    assert fingerprint(made.__code__) == fingerprint(shell.names["f"].__code__)


def of_module(text: str, **names: Any) -> Any:
    """The function ``f`` of a module with these names."""
    exec(text, names)
    return names["f"]


def test_values_that_a_function_names_are_globals_then_closed_over_ones() -> None:
    text = "def g(n):\n    def f(): return a, x.b, n, [c for _ in missing]\n    return f\nf = g(9)"
    f = of_module(text, a=1, b=2, c=3, x=4, n=5)
    assert [*named_values(f)] == [("a", 1), ("x", 4), ("c", 3), ("n", 9)]
    late = "def g(n):\n    def f(): return n, late\n    if not n: late = 1\n    return f\nf = g(9)"
    assert [*closure_values(of_module(late))] == [("n", 9)]  # the other has no value yet
    assert [*closure_values(of_module("def f(): pass"))] == []


def test_captured_values_are_closed_over_ones_and_globals_that_are_data() -> None:
    class Liar:
        __class__ = int  # type: ignore[assignment]

    text = (
        "def g(n):\n    def f(): return z.other + a + s + liar + n + len(missing)\n    return f\n"
    )
    f = of_module(text + "f = g('n')", z=1, a=2.5, other=3, s="s", liar=Liar())
    assert [*captured_values(f, (int, float))] == [("n", "n"), ("a", 2.5), ("z", 1)]


class Owner:
    def method(self) -> None: ...

    static = staticmethod(len)
    of_class = classmethod(len)
    both = property(len, max, min)
    cached = functools.cached_property(len)


OWNER = Owner()
CACHED = functools.cache(len)
ITEMS: list[int] = []


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (OWNER.method, (OWNER, Owner.method)), (ITEMS.append, (ITEMS,)),
        (functools.partial(max, 1, key=len), (max, (1,), {"key": len})),
        (vars(Owner)["static"], (len,)), (vars(Owner)["of_class"], (len,)),
        (Owner.both, (len, max, min)), (vars(Owner)["cached"], (len,)), (CACHED, (len,)),
        (Owner.method, None), (OWNER, None), (3, None),
    ],
)  # fmt: skip
def test_callables_are_made_of_parts(value: Callable[..., Any], parts: tuple | None) -> None:
    assert parts_of_callable(value) == parts
