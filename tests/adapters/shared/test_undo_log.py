"""What traced code changes outside of itself is named, and as it was before."""

import functools
import random
from collections import deque
from collections.abc import Iterable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

from ipyjaxbench.adapters.shared import undo_log
from ipyjaxbench.adapters.shared.undo_log import Named, SideEffects, UndoLog
from ipyjaxbench.frameworks import GeneratorState, Items, Setting
from ipyjaxbench.usercode import is_users_class


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


def effects(change: Any, *roots: Named, log: type[UndoLog] = Log) -> SideEffects:
    """What is told when the roots are changed."""
    with log(roots) as found:
        change()
    return found.side_effects


class Model:
    made: ClassVar[list[int]] = []

    def __init__(self) -> None:
        self.n, self.seen = 0, [1]

    def step(self) -> None: ...


COUNT = 0
SEEN: list[Any] = []


def uses_globals() -> tuple[int, list[Any]]:
    return COUNT, SEEN


def set_count(value: Any) -> None:
    global COUNT
    COUNT = value


def closing(inside: list[Any]) -> Any:
    def function(a: int, b: Any = inside, *, c: Any = ()) -> Any:
        return inside

    return function


def test_names_that_stand_for_something_else_are_told_and_put_back() -> None:
    model, tracer = Model(), Tracer()

    def change() -> None:
        model.n = tracer  # type: ignore[assignment]
        model.late = 3  # type: ignore[attr-defined]
        model.seen.append(2)
        Model.made = [9]
        set_count(5)
        SEEN.append([{"k": tracer}])

    assert effects(lambda: None, ("f", uses_globals), ("m", model)) == SideEffects()
    found = effects(change, ("m", model), ("f", uses_globals))
    assert found.tracers_restored == ("m.n", "SEEN")
    assert {*found.restored} == {"m.late", "m.seen", "Model.made", "COUNT"}
    assert (found.tracers_leaked, found.not_restored, found.drawn) == ((), (), ())
    assert (model.n, model.seen, hasattr(model, "late")) == (0, [1], False)
    assert (Model.made, COUNT, SEEN) == ([], 0, [])


def test_a_method_leads_to_its_object_as_self() -> None:
    model = Model()
    found = effects(lambda: setattr(model, "n", 1), ("m", model.step))
    assert (found.restored, model.n) == (("self.n",), 0)

    class Own:
        made = 0

        @classmethod
        def make(cls) -> None: ...

    found = effects(lambda: setattr(Own, "made", 1), ("m", Own.make))
    assert (found.restored, Own.made) == (("Own.made",), 0)


def test_what_a_function_closes_over_and_its_defaults_are_reached_by_their_names() -> None:
    inside, given = [1], [2]
    function = closing(inside)
    function.__kwdefaults__["c"] = given

    def change() -> None:
        inside.append(3)
        given.append(4)
        function.mark = 1

    found = effects(change, ("f", function))
    assert {*found.restored} == {"inside", "c", "function.mark"}
    assert (inside, given, vars(function)) == ([1], [2], {})
    own = [0]
    function.__defaults__ = (own,)
    assert effects(lambda: own.append(1), ("f", function)).restored == ("b",)


def test_names_of_the_users_modules_that_a_function_reads_are_held() -> None:
    module: Any = ModuleType("of_a_test")
    vars(module).update(__file__="/home/me/of_a_test.py", held=1, apart=1)
    names: dict[str, Any] = {"other": module}
    exec("def f(): return other.held", names)

    def change() -> None:
        module.held = module.apart = 2

    found = effects(change, ("f", names["f"]))
    assert (found.restored, module.held, module.apart) == (("other.held",), 1, 2)


def test_what_decorators_wrap_and_partials_hold_is_followed() -> None:
    @functools.wraps(uses_globals)
    def wrapper() -> None: ...

    for value in (wrapper, functools.partial(uses_globals), {"k": [(uses_globals,)]}):
        found = effects(lambda: set_count(3), ("f", value))
        assert found.restored == ("COUNT",)


def test_values_without_a_name_are_put_back_and_not_told() -> None:
    items = [1]
    found = effects(lambda: items.append(2), (None, [items]), (None, Model()))
    assert (found, items) == (SideEffects(), [1])


def test_containers_may_be_told_with_their_keys() -> None:
    inner: dict[Any, list[int]] = {"k": [], 3: [], (1,): []}
    values = deque([[0], inner])

    def change() -> None:
        for each in inner.values():
            each.append(1)
        values[0].append(1)

    assert effects(change, ("x", values)).restored == ("x",)
    found = effects(change, ("x", values), log=WithKeys)
    assert {*found.restored} == {"x[0]", "x[1]['k']", "x[1][3]", "x[1]"}
    assert values == deque([[0], {"k": [], 3: [], (1,): []}])


def test_a_tracer_in_an_object_that_is_kept_is_told_too() -> None:
    kept: list[Any] = []
    holder = SimpleNamespace(inner=[Tracer()])
    found = effects(lambda: kept.append(holder), ("x", kept))
    assert (found.tracers_restored, kept) == (("x",), [])

    def function() -> None: ...

    function.inner = Tracer()  # type: ignore[attr-defined]
    assert effects(lambda: kept.append(function), ("x", kept)).restored == ("x",)


def test_what_cannot_be_put_back_is_told_apart() -> None:
    class Kept(Items):
        can_restore = False

    def refuse(_: object) -> None:
        raise RuntimeError("no")

    held, items = {"n": 0, "m": 0}, []
    settings: list[Any] = [(name, Setting(lambda name=name: [held[name]], refuse)) for name in held]
    settings.append(("fixed", Setting(lambda: [held["n"]], None)))
    with Log([], [*settings, ("x", Kept(items)), ("y", Kept([]))]) as found:
        held.update(n=1)
        items.append(Tracer())
    expected = SideEffects(tracers_leaked=("x",), not_restored=("n", "fixed"))
    assert found.side_effects == expected


def test_random_numbers_that_were_drawn_are_told() -> None:
    source = random.Random(1)
    before = source.getstate()
    states = [(name, GeneratorState.from_random(each)) for name, each in
              (("a", source), ("b", random.Random(2)))]  # fmt: skip
    with Log([], states) as found:
        source.random()
    assert (found.side_effects, source.getstate()) == (SideEffects(drawn=("a",)), before)


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
    told = []
    for count in (3, 4, 5):
        inner: list[int] = []
        values: list[Any] = [inner] * count
        found = [effects(lambda: inner.append(1), ("x", values)),  # noqa: B023
                 effects(lambda: values.append(1), ("x", values))]  # noqa: B023  # fmt: skip
        told.append([bool(each.restored) for each in found])
    assert told == [[True, True], [False, True], [False, False]]


def test_no_more_places_are_looked_at_than_is_said() -> None:
    class Few(Log):
        most = 3

    values: list[list[int]] = [[], [], [], []]
    roots = ((f"x{i}", each) for i, each in enumerate(values))
    found = effects(lambda: [each.append(1) for each in values], *roots, log=Few)
    assert found.restored == ("x0", "x1", "x2")
    assert values == [[], [], [], [1]]


def test_what_the_framework_knows_leads_where_it_says() -> None:
    inner = [1]

    class Knowing(Log):
        def parts_of(self, name: str | None, value: Any) -> Iterable[Named] | None:
            return [("inside", inner)] if value is knows else None

    knows = SimpleNamespace(other=[2])

    def change() -> None:
        inner.append(2)
        knows.other.append(3)

    found = effects(change, ("x", knows), log=Knowing)
    assert (found.restored, inner, knows.other) == (("inside",), [1], [2, 3])


def test_objects_that_refuse_to_be_looked_at_hide_nothing_else() -> None:
    class Raising(Log):
        def parts_of(self, name: str | None, value: Any) -> Iterable[Named] | None:
            if type(value) is SimpleNamespace:
                raise RuntimeError("no")
            return None

        def leaves(self, tree: Any) -> list[Any]:
            if type(tree) is float:
                raise RuntimeError("no")
            return super().leaves(tree)

    items: list[Any] = []
    roots = ("x", SimpleNamespace(a=1)), ("y", items)
    assert effects(lambda: items.append(2.5), *roots, log=Raising).restored == ("y",)


def test_what_code_keeps_is_said_in_a_note() -> None:
    def notes(told: SideEffects) -> Iterator[tuple[str, str]]:
        return ((note.text.partition(".")[0], note.text.rpartition("later. ")[2])
                for note in told.tracer_notes("stand-in"))  # fmt: skip

    both = SideEffects(("a", "b"), ("c",), restored=("d",))
    assert [*notes(both)] == [
        ("The code stores a value in a, b", "The old value is restored."),
        ("The code stores a value in c", "It could not be restored."),
    ]
    assert [*notes(SideEffects(restored=("d",), not_restored=("e",)))] == []
    (note,) = SideEffects(("a",)).tracer_notes()
    assert "that is a tracer without data" in note.text
