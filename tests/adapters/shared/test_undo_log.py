"""What traced code changes outside of itself is named, and as it was before."""

import functools
import random
from collections import deque
from collections.abc import Callable, Iterable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.adapters.shared import undo_log
from ipyjaxbench.adapters.shared.undo_log import Named, SideEffects, UndoLog
from ipyjaxbench.frameworks import GeneratorState, Items, Setting
from ipyjaxbench.usercode import is_users_class
from tests.adapters.shared.code import names_of


class Tracer:
    """Stands for numbers, and has none."""


class Log(UndoLog):
    """That of a framework whose trees are lists and dictionaries."""

    def is_tracer(self, value: Any) -> bool:
        return type(value) is Tracer

    def leaves(self, tree: Any) -> list[Any]:
        if isinstance(tree, dict):
            tree = [*tree.values()]
        if isinstance(tree, list | tuple):
            return [leaf for each in tree for leaf in self.leaves(each)]
        return [tree]

    def is_entered(self, value: Any) -> bool:
        return is_users_class(type(value))

    def parts_of(self, name: str | None, value: Any) -> Iterable[Named] | None:
        return () if type(value) is Tracer else None


class WithKeys(Log):
    with_keys = True


def effects(change: Callable[[], Any], *roots: Named, log: type[UndoLog] = Log) -> SideEffects:
    """What is told when the roots are changed."""
    with log(roots) as found:
        change()
    return found.side_effects


CODE = """
class Model:
    made = []
    def __init__(self): self.n, self.seen = 0, [1]
    def step(self): ...
    @classmethod
    def make(cls): ...
COUNT, SEEN = 0, []
def uses(): return COUNT, SEEN
def reads(): return other.held
def closing(inside):
    def function(a, b=inside, *, c=()): return inside
    return function
m, inside, given, own = Model(), [1], [2], [0]
function, defaults = closing(inside), closing(())
function.__kwdefaults__["c"], defaults.__defaults__ = given, (own,)
"""
LEFT = "(vars(m), Model.made, COUNT, SEEN, inside, given, own, vars(function), other.held)"


@pytest.mark.parametrize(
    ("roots", "change", "restored"),
    [
        ({"m": "m.step"}, "m.n = 1", {"self.n"}),  # a method leads to its object, and to its class
        ({"m": "Model.make"}, "Model.made = 1", {"Model.made"}),
        ({"f": "function"}, "inside.append(3); given.append(4); function.mark = 1",
         {"inside", "c", "function.mark"}),
        ({"f": "defaults"}, "own.append(1)", {"b"}),
        ({"f": "reads"}, "other.held = 2", {"other.held"}),  # of a module of the user's
        # What decorators wrap, and partials and containers hold.
        ({"f": "functools.wraps(uses)(lambda: None)"}, "COUNT = 3", {"COUNT"}),
        ({"f": "functools.partial(uses)"}, "COUNT = 3", {"COUNT"}),
        ({"f": "{'k': [(uses,)]}"}, "COUNT = 3", {"COUNT"}),
        ({"f": "uses", "m": "m"}, "pass", set()),
    ],
)  # fmt: skip
def test_what_names_lead_to_is_followed(
    roots: dict[str, str], change: str, restored: set[str]
) -> None:
    other: Any = ModuleType("of_a_test")
    vars(other).update(__file__="/home/me/of_a_test.py", held=1, apart=1)
    names = names_of(CODE, functools=functools, other=other)
    before = repr(eval(LEFT, names))
    held = [(name, eval(code, names)) for name, code in roots.items()]
    found = effects(lambda: exec(f"other.apart = 2; {change}", names), *held)
    assert {*found.restored} == restored
    assert found == SideEffects(restored=found.restored)
    assert repr(eval(LEFT, names)) == before
    assert other.apart == 2  # no function reads it


def test_names_that_stand_for_something_else_are_told_and_put_back() -> None:
    names = names_of(CODE, other=SimpleNamespace(held=1), tracer=Tracer())
    change = (
        "m.n = tracer; m.late = 3; m.seen.append(2); Model.made = [9]; COUNT = 5;"
        " SEEN.append([{'k': tracer}])"
    )
    before = repr(eval(LEFT, names))
    found = effects(lambda: exec(change, names), ("m", names["m"]), ("f", names["uses"]))
    assert found.tracers_restored == ("m.n", "SEEN")
    assert {*found.restored} == {"m.late", "m.seen", "Model.made", "COUNT"}
    assert (found.tracers_leaked, found.not_restored, found.drawn) == ((), (), ())
    assert repr(eval(LEFT, names)) == before


def test_containers_may_be_told_with_their_keys_or_without_any_name() -> None:
    inner: dict[Any, list[int]] = {"k": [], 3: [], (1,): []}
    values = deque([[0], inner])

    def change() -> None:
        for each in (*inner.values(), values[0]):
            each.append(1)

    assert effects(change, (None, values), (None, names_of(CODE)["m"])) == SideEffects()
    assert effects(change, ("x", values)).restored == ("x",)
    found = effects(change, ("x", values), log=WithKeys)
    assert {*found.restored} == {"x[0]", "x[1]['k']", "x[1][3]", "x[1]"}
    assert values == deque([[0], {"k": [], 3: [], (1,): []}])


def test_a_tracer_in_an_object_that_is_kept_is_told_too_but_not_in_a_function() -> None:
    def function() -> None: ...

    function.inner = Tracer()  # type: ignore[attr-defined]
    kept: list[Any] = []
    found = effects(lambda: kept.append(SimpleNamespace(inner=[Tracer()])), ("x", kept))
    assert (found.tracers_restored, kept) == (("x",), [])
    assert effects(lambda: kept.append(function), ("x", kept)).restored == ("x",)


def test_what_cannot_be_put_back_is_told_apart_and_so_is_what_was_drawn() -> None:
    class Kept(Items):
        can_restore = False

    def refuse(_: object) -> None:
        raise RuntimeError("no")

    held, items, source, other = {"n": 0, "m": 0}, [], random.Random(1), random.Random(2)
    before = source.getstate()
    states: list[Any] = [(n, Setting(lambda n=n: [held[n]], refuse)) for n in held]
    states += [("fixed", Setting(lambda: [held["n"]], None)), ("x", Kept(items)), ("y", Kept([]))]
    states += [(n, GeneratorState.from_random(r)) for n, r in (("a", source), ("b", other))]
    with Log([], states) as found:
        held.update(n=1)
        items.append(Tracer())
        source.random()
    assert found.side_effects == SideEffects(
        tracers_leaked=("x",), not_restored=("n", "fixed"), drawn=("a",)
    )
    assert source.getstate() == before


@pytest.mark.parametrize("cache", [functools.cache, functools.lru_cache(maxsize=2)])
def test_a_cache_is_emptied_where_it_keeps_a_tracer(cache: Any) -> None:
    @cache
    def made(kind: str) -> Any:
        return Tracer() if kind == "tracer" else 3

    def change(kind: str) -> SideEffects:
        return effects(lambda: made(kind), ("made", made))

    assert (change("number"), made.cache_info().currsize) == (SideEffects(), 1)
    assert change("number") == SideEffects()
    assert change("tracer").tracers_restored == ("made",)
    assert made.cache_info().currsize == 0


def test_large_containers_are_not_entered_and_larger_ones_are_not_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(undo_log, "_MOST_ENTERED", 3)
    monkeypatch.setattr(undo_log, "_MOST_COPIED", 4)
    for count, told in ((3, [True, True]), (4, [False, True]), (5, [False, False])):
        inner: list[int] = []
        values: list[Any] = [inner] * count
        changes = functools.partial(inner.append, 1), functools.partial(values.append, 1)
        assert [bool(effects(change, ("x", values)).restored) for change in changes] == told
    # No more places are looked at than is said.
    monkeypatch.setattr(Log, "most", 3)
    places: list[list[int]] = [[], [], [], []]
    roots = ((f"x{i}", each) for i, each in enumerate(places))
    found = effects(lambda: [each.append(1) for each in places], *roots)
    assert found.restored == ("x0", "x1", "x2")
    assert places == [[], [], [], [1]]


def test_what_the_framework_knows_leads_where_it_says_and_what_refuses_hides_nothing() -> None:
    inner, items, knows = [1], [], SimpleNamespace(other=[2])

    class Knowing(Log):
        def parts_of(self, name: str | None, value: Any) -> Iterable[Named] | None:
            if value is knows:
                return [("inside", inner)]
            if type(value) is SimpleNamespace:
                raise RuntimeError("no")
            return None

        def leaves(self, tree: Any) -> list[Any]:
            if type(tree) is float:
                raise RuntimeError("no")
            return super().leaves(tree)

    def change() -> None:
        inner.append(2)
        knows.other.append(3)
        items.append(2.5)

    roots = ("x", knows), ("z", SimpleNamespace(a=1)), ("y", items)
    assert {*effects(change, *roots, log=Knowing).restored} == {"inside", "y"}
    assert (inner, knows.other, items) == ([1], [2, 3], [])


def test_what_code_keeps_is_said_in_a_note() -> None:
    both = SideEffects(("a", "b"), ("c",), restored=("d",))
    kept, lost = (note.text for note in both.tracer_notes("stand-in"))
    assert kept.startswith("The code stores a value in a, b.")
    assert kept.endswith("later. The old value is restored.")
    assert lost.startswith("The code stores a value in c.")
    assert lost.endswith("later. It could not be restored.")
    assert [*SideEffects(restored=("d",), not_restored=("e",)).tracer_notes()] == []
    (note,) = SideEffects(("a",)).tracer_notes()
    assert "that is a tracer without data" in note.text
