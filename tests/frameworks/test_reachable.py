"""All that calls can change of what the code can reach by name."""

import contextvars
import functools
import io
import random
import types
from array import array as numbers
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

from ipyjaxbench.adapters.python import Python
from ipyjaxbench.frameworks import Compilation, Framework, MutableState, State
from ipyjaxbench.frameworks.state import checkpoint
from ipyjaxbench.frameworks.state.checkpoint import Checkpoint
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.reachable import Reachable
from ipyjaxbench.frameworks.state.undo import DonatedArray
from ipyjaxbench.testing import FakeArray
from tests.fake_framework import FakeFramework


class Donating(MutableState):
    """Arrays that calls give away are revived as copies."""

    def states(self, value: object, budget: CopyBudget) -> Sequence[State] | None:
        if type(value) is not FakeArray:
            return None
        value.nbytes = 4  # type: ignore[attr-defined]
        copied = FakeArray(value.device, 0, version=7)
        return [DonatedArray(value, copied, lambda: value.deleted)]

    def revived(self, value: Any, copies: Mapping[int, Any]) -> Any:
        if type(value) is tuple:
            return tuple(self.revived(each, copies) for each in value)
        return copies.get(id(value), value)


class Adapter(FakeFramework):
    capabilities: ClassVar = {**FakeFramework.capabilities, "MutableState": f"{__name__}:Donating"}


FAKE = Adapter()
FRAMEWORKS: list[Framework] = [Python(), FAKE]


def state_kinds(roots: dict[str, Any], **options: Any) -> dict[str, list[str]]:
    """The kinds of states by the names under which the code reaches them."""
    found: dict[str, list[str]] = {}
    for name, state, _ in Reachable(roots, FRAMEWORKS, CopyBudget(), **options).states():
        found.setdefault(name, []).append(type(state).__name__)
    return found


class Own:
    size: ClassVar[list[int]] = []

    def __init__(self) -> None:
        self.items = [1]


@pytest.mark.parametrize(("value", "kinds"), [
    ([1], ["Items"]), ({1: 2}, ["Entries"]), (bytearray(b"a"), ["Buffer"]),
    (numbers("d", [1.0]), ["Buffer"]), (([1], frozenset({2})), ["Items"]),
    (random.Random(3), ["GeneratorState", "AttributeNames"]), ([].append, ["Items"]),
    (io.StringIO("a"), ["Memory", "AttributeNames"]), (iter([1]), ["Position"]),
    (contextvars.ContextVar("v"), ["Variable"]),
    (functools.partial(len, [1]), ["Items", "AttributeNames", "Entries"]),
    (SimpleNamespace(a=[1]), ["AttributeNames", "Items"]),
    (3, []), (len, []), (object(), []), (int, []), (types, []),
], ids=lambda value: type(value).__name__)  # fmt: skip
def test_what_holds_something_has_a_state(value: object, kinds: list[str]) -> None:
    assert sorted(state_kinds({"x": value}).get("x", [])) == sorted(kinds)


CLASS = ["ClassNames", "SpecialNames", "Setting"]  # of its names and bases


def test_an_object_of_the_users_leads_to_its_class_too() -> None:
    of_class = [*CLASS, "Setting", "AttributeNames", "Items"]  # the last are of `__init__`
    assert state_kinds({"x": Own()}) == {"x": ["AttributeNames", "Items"], "Own": of_class}
    assert state_kinds({"Own": Own}) == {"Own": of_class}


@pytest.mark.parametrize(("code", "named"), [
    ("o.items.append", "o.items"), ("o.add", "o"), ("add", "o"), ("push", "log"),
    ("lost", "lost.__self__"), ("step", "step"),
])  # fmt: skip
def test_what_methods_change_has_the_name_of_a_variable(code: str, named: str) -> None:
    class Local:
        def __init__(self) -> None:
            self.items = [1]

        def add(self) -> None: ...

    o, log = Local(), [1]
    names: dict[str, Any] = {"_": o, "o": o, "log": log, "add": o.add, "push": log.append,
                             "lost": Local().add, "step": functools.partial(o.add)}  # fmt: skip
    found = state_kinds({code: eval(code, names)}, own=names)
    assert found.keys() - {"Local"} == {named}  # its class is kept, too


TEXT = """
def sets():
    global count
    count = items, other.held
    def inner():
        global late
        late = defaults
    return inner
def reads(d=defaults, *, k=defaults):
    return count
"""


def test_functions_lead_to_what_they_use_and_set() -> None:
    other: Any = ModuleType("of_a_test")
    vars(other).update(held=[2], apart=[3], __file__="/home/me/of_a_test.py")  # the user wrote it
    names: dict[str, Any] = {"items": [1], "other": other, "defaults": [4], "count": 0}
    exec(TEXT, names)
    found = state_kinds({"f": names["sets"]})
    assert found["f"] == ["Setting", "DictNames", "AttributeNames"]
    assert found["items"] == found["other.held"] == found["defaults"] == ["Items"]
    assert not {"apart", "other", "other.apart", "count"} & found.keys()
    assert "DictNames" not in str(state_kinds({"f": names["sets"]}, own=names))
    of_reads = ["Setting", "AttributeNames", "Entries", "Items"]
    assert state_kinds({"f": names["reads"]}) == {"f": of_reads}
    _, (_, state, _), *_ = Reachable({"f": names["sets"]}, FRAMEWORKS, CopyBudget()).states()
    names.update(count=5, late=6)
    assert {name for name, _ in state.arrivals()} == {"count", "late"}
    state.restore()
    assert (names["count"], "late" in names) == (0, False)


def test_what_a_function_closes_over_is_reached_by_its_name_there() -> None:
    given, name = [1], "n"
    found = state_kinds({"f": lambda: (given, name)})
    of_function = ["Setting", "CellName", "CellName", "AttributeNames"]  # its defaults first
    assert found == {"f": of_function, "given": ["Items"]}


def test_of_a_librarys_function_only_what_it_was_given_to_call_is_reached() -> None:
    text = "def made(cache, model):\n    def f(): return cache, model\n    return f"
    names: dict[str, Any] = {}
    exec(compile(text, "/env/lib/python3/site-packages/lib.py", "exec"), names)
    found = state_kinds({"f": names["made"]({}, Own())})
    assert found["f"] == ["AttributeNames", "AttributeNames", "Items"]
    assert found["Own"] == [*CLASS, "Setting", "AttributeNames", "Items"]


@pytest.mark.parametrize(("package", "entered"), [
    ("IPython.core", False), ("zmq", False), ("threading", False), ("collections", True),
    ("queue", True), ("a_library", True),
])  # fmt: skip
def test_objects_of_the_session_and_of_python_are_not_entered(package: str, entered: bool) -> None:
    value: Any = type("Theirs", (), {"__module__": package})()
    value.items = [1]
    reachable = Reachable({"x": value, "y": [value]}, FRAMEWORKS, CopyBudget())
    assert {name for name, *_ in reachable.states()} == ({"x", "y"} if entered else {"y"})
    assert reachable.opaque == (set() if entered else {"x"})
    assert state_kinds({"x": value}, of_user=True) == {}  # libraries' may be left out


def test_arrays_can_be_looked_for_alone_or_left_out() -> None:
    value = [FakeArray(FAKE.device, 0), [1]]
    every = ["Items", "DonatedArray", "Items"]
    assert state_kinds({"x": value}, of_user=True)["x"] == every
    for without, kinds in ((None, every), (FRAMEWORKS[0], every), (FAKE, ["Items", "Items"])):
        assert state_kinds({"x": value}, without=without)["x"] == kinds


class Partials(Compilation):
    """Compiles what partials are of."""

    def compiles(self, value: object) -> bool:
        return type(value) is functools.partial

    def original(self, function: Any) -> object:
        return function.func


class Compiling(FakeFramework):
    capabilities: ClassVar = {"Compilation": f"{__name__}:Partials"}


def test_what_a_framework_compiles_leads_to_what_was_compiled() -> None:
    held_by_step = [1]
    step: Any = functools.partial(lambda: held_by_step)
    assert state_kinds({"f": FAKE.device.compile}) == {}
    states = Reachable({"f": step}, [Compiling()], CopyBudget()).states()
    found = {type(each.state).__name__ for each in states}
    assert found == {"Setting", "CellName", "Items", "AttributeNames"}


@pytest.mark.parametrize(("make", "kept"), [
    (lambda i: [i], 50), (lambda i: {i: i}, 50), (lambda i: FakeArray(FAKE.device, i), 25),
    (lambda i: SimpleNamespace(i=i), 11),  # and their class
], ids=["lists", "dictionaries", "arrays", "objects"])  # fmt: skip
def test_what_takes_longer_to_look_at_counts_for_more(
    make: Callable[[int], object], kept: int
) -> None:
    rows, budget = [make(i) for i in range(300)], CopyBudget()
    budget.most_objects = 100
    saved = Checkpoint({"rows": rows}, FRAMEWORKS, None, budget=budget)
    reached = [each for each in saved.held if each.key != id(rows)]
    assert (len({each.key for each in reached}), saved.cut[0]) == (kept, "rows")


def test_one_that_holds_very_many_leaves_as_much_to_the_others() -> None:
    rows = [[i] for i in range(50)]
    reachable = Reachable({"rows": rows, "model": [[1]]}, FRAMEWORKS, CopyBudget(), most=20)
    names = [name for name, *_ in reachable.states()]
    # Two are known, of 18 that are left one half is for the rows, and half of the rest beside.
    assert (names.count("rows"), names.count("model"), [*reachable.cut]) == (10, 2, ["rows"])


# What is put back


def test_arrays_that_were_given_away_are_put_back_as_copies() -> None:
    one, other = (FakeArray(FAKE.device, 0) for _ in range(2))
    state = {"p": one, "q": (one, other)}
    saved = Checkpoint({"state": state}, FRAMEWORKS, None, budget=CopyBudget(gives_away=True))
    assert saved.nbytes == 8
    one.deleted = True
    saved.restore()
    assert [state["p"].version, *(each.version for each in state["q"])] == [7, 7, 0]
    assert state["q"][1] is other
    assert saved.restored == ["state"]
    assert saved.revived((one, other)) == (state["p"], other)
    items = [one]
    assert saved.revived(items) is items
    saved = Checkpoint({"state": state}, FRAMEWORKS, None)  # where none is given away values stay
    before = state["q"]
    saved.restore()
    assert state["q"] is saved.revived(before) is before
    assert saved.restored == saved.failed == []


def test_what_changed_is_named_and_what_cannot_be_put_back_too() -> None:
    items, steps = [1], iter(range(9))
    saved = Checkpoint({"items": items, "steps": steps, "same": [2]}, FRAMEWORKS, None)
    assert (saved.restores, saved.known) == (True, {"items", "steps", "same"})
    assert saved.changed() == []
    items.append(2)
    next(steps)
    assert [each.name for each in saved.changed()] == ["items"]
    saved.restore()
    assert (saved.restored, saved.failed, items) == (["items"], ["steps"], [1])


def test_without_copies_changes_are_seen_and_nothing_is_put_back() -> None:
    items, made = [1], bytearray(b"a")
    saved = Checkpoint({"items": items, "made": made}, FRAMEWORKS, None, budget=CopyBudget(0))
    assert (saved.restores, saved.nbytes) == (False, 0)
    items.append(2)
    made.append(2)
    saved.restore()
    assert (saved.restored, saved.failed) == ([], ["items", "made"])
    assert (items, made) == ([1, 2], bytearray(b"a\x02"))


def test_what_the_user_holds_is_kept_where_it_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "_MOST_FOUND_BYTES", 10)
    small, large, items = bytearray(10), bytearray(11), [1]
    roots = {"small": small, "large": large, "items": items}
    saved = Checkpoint.from_values(roots, FRAMEWORKS, None)
    assert (saved.restores, saved.nbytes) == (True, 10)
    small[0] = large[0] = 1
    items.append(2)
    assert [each.name for each in saved.changed()] == ["small", "items"]
    saved.restore()
    assert (small[0], large[0], items, saved.restored) == (0, 1, [1], ["small", "items"])


def test_before_the_first_call_fewer_objects_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "_MOST_FOUND", 10)
    roots = {"rows": [[i] for i in range(40)]}
    made = (Checkpoint(roots, FRAMEWORKS, None), Checkpoint.from_values(roots, FRAMEWORKS, None))
    assert [(each.cut, each.known) for each in made] == [([], {"rows"}), (["rows"], set())]
