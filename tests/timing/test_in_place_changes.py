"""What code changes in place is found."""

import io
import sys
from collections import UserDict, deque
from functools import cache, partial
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.frameworks import Scope
from ipyjaxbench.testing import FakeClock, FakeDevice
from ipyjaxbench.timing.in_place_changes import Changes
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.fake_framework import FakeFramework


@pytest.fixture
def fake() -> FakeFramework:
    return FakeFramework(FakeDevice(FakeClock()))


class Unreadable:
    """An iterator of a library, which does not show how far it is."""

    __module__ = "a_library"

    def __iter__(self) -> "Unreadable":
        return self

    def __next__(self) -> int:
        return 1


class Vector:
    """Changed in place by ``+=``, and by ``+`` not."""

    n = 0

    def __iadd__(self, other: object) -> "Vector":
        return self


def nested(depth: int) -> SimpleNamespace:
    """A number in an object in an object …"""
    return SimpleNamespace(n=1) if depth == 1 else SimpleNamespace(inner=nested(depth - 1))


def changes_of(fake: FakeFramework, code: str, **names: Any) -> Changes:
    return Changes(Scope(Snippet(Source.plain(code), names), [fake]), [fake])


@pytest.mark.parametrize(
    "code", ["sys.stderr.write('x')", "print('x', file=sys.stderr)", "err.write('x')"]
)
def test_what_is_printed_changes_nothing(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """A kernel's stream is an iterator of a library, which does not show how far it is."""
    stream = type("OutStream", (io.TextIOBase,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", stream)
    assert changes_of(fake, code, sys=sys, err=stream).changed_names() == []
    monkeypatch.undo()
    assert changes_of(fake, "err.write('x')", err=stream).changed_names() == ["err"]


@pytest.mark.parametrize(
    ("code", "value", "is_told"),
    [("x[0] += 1", [1], True), ("x.n += 1", SimpleNamespace(n=1), True),
     ("x.a.b[0] += 1", SimpleNamespace(), True), ("len(x)", [1], False), ("x += 1", 1, False),
     ("x += [1]", [], True), ("x += 1", Vector(), True), ("x.n += 1", ModuleType("x"), False),
     ("x = x + 1", Vector(), False), ("f(out=x[0])", [1], True), ("f(out=x)", Vector(), True),
     ("f(key=x)", Vector(), False),
     # Methods that change their object, of containers that can be found without running code.
     ("x.reverse()", deque([1]), True), ("x.index(1)", [1], False), ("x.sort()", Vector(), False),
     ("x.a.sort()", SimpleNamespace(a=[1]), True), ("x.b.sort()", SimpleNamespace(a=[1]), False),
     ("x.b.a.sort()", SimpleNamespace(a=[1]), False), ("x[1].sort()", [0, [1]], True),
     ("x['a'].sort()", {"a": [1]}, True), ("x['b'].sort()", {"a": [1]}, False),
     ("x[2].sort()", [[1]], False), ("x[[]].sort()", {"a": [1]}, False),
     ("x['a'].sort()", UserDict(a=[1]), False), ("x[0].sort()", 1, False),
     ("f(x).sort()", [1], False),
     # Iterators, where they are used up.
     ("next(x)", iter([1]), True), ("for _ in x: pass", iter([1]), True), ("[*x]", iter([1]), True),
     ("[n for n in x]", iter([1]), True), ("x.send(None)", (n for n in [1]), True),
     ("x.__class__", iter([1]), False)],
)  # fmt: skip
def test_code_that_changes_in_place(
    fake: FakeFramework, code: str, value: Any, is_told: bool
) -> None:
    assert [*{*changes_of(fake, code, x=value).changed_names()}] == ["x"] * is_told


@pytest.mark.parametrize(
    ("value", "change", "is_told"),
    [([], lambda x: x.append(1), True), (SimpleNamespace(n=1), lambda x: vars(x).update(n=2), True),
     (SimpleNamespace(n=1.5), lambda x: vars(x).update(n=2.5), True),
     (SimpleNamespace(n="a"), lambda x: vars(x).update(n="b"), False),
     ({"a": 1}, lambda x: x.update(a=2), True), ({1}, lambda x: x.add(2), True),
     (([1],), lambda x: x[0].append(2), True),
     (nested(2), lambda x: vars(x.inner).update(n=2), True),
     (nested(3), lambda x: vars(x.inner.inner).update(n=2), False),
     ([[] for _ in range(101)], lambda x: x[99].append(1), True),
     ([[] for _ in range(101)], lambda x: x[100].append(1), False),
     (ModuleType("x"), lambda x: vars(x).update(n=2), False),
     (Vector, lambda x: setattr(x, "n", x.n + 1), False)],
)  # fmt: skip
def test_objects_that_changed(fake: FakeFramework, value: Any, change: Any, is_told: bool) -> None:
    changes = changes_of(fake, "f(x)", x=value)
    change(value)
    assert [*{*changes.changed_names()}] == ["x"] * is_told


def test_an_array_that_counts_its_changes_is_asked(fake: FakeFramework) -> None:
    array = fake.device.start(dispatch=0, work=0)
    changes = changes_of(fake, "f(x, device)", x=[array], device=fake.device)
    array.ready_at += 1
    fake.device.compilations += 1
    assert changes.changed_names() == []  # what a framework knows is left to it
    array.version += 1
    assert changes.changed_names() == ["x"]
    names: dict[str, Any] = {"x": [1]}
    scope = Scope(Snippet(Source.plain("x += [1]"), names), [fake])
    names["x"] = [1]  # it stands for another object after the first call
    assert Changes(scope, [fake]).changed_names() == []


def test_what_is_put_back_is_told_only_where_it_may_have_moved_unseen(fake: FakeFramework) -> None:
    values = {"x": [2, 1], "it": iter([1]), "gen": (n for n in [1]), "wrapped": Unreadable()}
    code = "x.sort(); next(it); next(gen); next(wrapped)"
    assert changes_of(fake, code, **values).changed_names() == [*values]
    assert changes_of(fake, code, **values).changed_names([*values]) == ["gen", "wrapped"]
    assert changes_of(fake, "gen, wrapped", **values).changed_names() == []


# What may move unseen, of which it shows only whether the code uses it.

SOURCE = """
def f(): return next(numbers)
def g(): return 1
def h(): return f()
class Kind:
    def __init__(self): next(numbers)
    def other(self): return 1
class Plain:
    def draw(self): return next(numbers)
    def __hidden(self): return next(numbers)
    def other(self): return 1
class Summed:
    def __add__(self, other): return next(numbers)
kind, plain, summed = Kind(), Plain(), Summed()
short = lambda: next(numbers)
alias, method, part, memo = f, plain.draw, partial(plain.draw), cache(f)
holder = SimpleNamespace(numbers=numbers, n=1)
"""


@pytest.mark.parametrize(
    ("code", "told"),
    [("f()", "numbers"), ("g()", ""), ("h()", "numbers"), ("Kind(), kind.other()", "numbers"),
     ("kind.other()", ""), ("plain.draw()", "numbers"), ("plain.other()", ""),
     ("summed + 1", "numbers"), ("short()", "numbers"), ("alias()", "numbers"),
     ("method()", "numbers"), ("part()", "numbers"), ("memo()", "numbers"),
     ("next(holder.numbers)", "holder"), ("holder.n", "")],
)  # fmt: skip
def test_an_unreadable_iterator_is_told_if_used(code: str, told: str, fake: FakeFramework) -> None:
    names: dict[str, Any] = {"numbers": Unreadable(), "__name__": "__main__"}
    names |= {"SimpleNamespace": SimpleNamespace, "partial": partial, "cache": cache}
    exec(compile(SOURCE, "<cell>", "exec"), names)
    changes = Changes(Scope(Snippet(Source.plain(code), names), [fake]), [fake])
    assert changes.changed_names() == [told] * bool(told)
