"""What stands under names and in containers is put back: the same objects in the same order."""

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench.frameworks.state.containers import Entries, Items
from ipyjaxbench.frameworks.state.names import (
    AttributeNames,
    CellName,
    ClassNames,
    DictNames,
    SlotNames,
    attribute_states,
)

A, B, C = ([n] for n in range(3))  # three objects


class Plain:
    def __init__(self) -> None:
        self.a, self.b = A, B


class Slotted:
    __slots__ = ("a", "b", "late")

    def __init__(self) -> None:
        self.a, self.b = A, B


class Both(Slotted):
    """Slots, and a dictionary."""


@pytest.mark.parametrize(("kind", "made"), [(AttributeNames, Plain), (SlotNames, Slotted)])
def test_attributes_that_change_come_and_go_are_put_back(kind: Any, made: Any) -> None:
    value = made()
    state = kind(value)
    assert not state.changed()
    assert [*state.named] == [("a", A), ("b", B)]
    assert state.parts == [A, B]
    value.a, value.late = C, C
    del value.b
    assert state.changed()
    assert dict(state.arrivals()) == {"a": [C], "b": [], "late": [C]}
    state.restore()
    assert (value.a is A, value.b is B, hasattr(value, "late")) == (True, True, False)
    assert not state.changed()


def test_an_object_has_a_state_for_its_dictionary_and_one_for_its_slots() -> None:
    both = Both()
    both.c = 1  # type: ignore[attr-defined]
    found = [[type(each) for each in attribute_states(v)] for v in (Plain(), Slotted(), both, 3)]
    assert found == [[AttributeNames], [SlotNames], [AttributeNames, SlotNames], []]


def test_of_a_class_data_and_methods_are_put_back_and_what_python_keeps_is_not() -> None:
    class Meta(type):
        def __setattr__(cls, name: str, value: object) -> None:
            raise RuntimeError("its metaclass has no say")

        __delattr__ = __setattr__  # type: ignore[assignment]

    class Own(metaclass=Meta):
        """A class."""

        data, __private = A, B

        def method(self) -> None: ...

    method, state = Own.method, ClassNames(Own)
    assert [name for name, _ in state.named] == ["data", "_Own__private", "method"]
    for name, value in (("data", C), ("late", C), ("__doc__", "another text")):
        type.__setattr__(Own, name, value)
    type.__delattr__(Own, "method")
    assert state.changed()
    state.restore()
    assert (Own.data, Own.method, hasattr(Own, "late")) == (A, method, False)
    assert Own.__doc__ == "another text"


def test_a_closed_over_name_is_put_back_where_it_was_empty_too() -> None:
    value: Any = A
    (cell,) = (lambda: value).__closure__
    state = CellName("value", cell)
    assert [*state.named] == [("value", A)]
    cell.cell_contents = B
    state.restore()
    assert value is A
    del cell.cell_contents
    assert state.changed()
    empty = CellName("value", cell)
    assert [*empty.named] == []
    state.restore()
    assert value is A
    empty.restore()
    with pytest.raises(ValueError, match="empty"):
        _ = cell.cell_contents


@pytest.mark.parametrize("only", [None, ("a", "late", "never")])
def test_names_of_a_module_are_put_back_as_many_as_are_looked_at(only: Any) -> None:
    names: dict[str, Any] = {"a": A, "other": B}
    state = DictNames(names, only)
    assert [name for name, _ in state.named] == (["a", "other"] if only is None else ["a"])
    names.update(a=C, other=C, late=C)
    assert state.changed()
    arrived = {name for name, _ in state.arrivals()}
    assert arrived == ({"a", "other", "late"} if only is None else {"a", "late"})
    state.restore()
    assert names == {"a": A, "other": B if only is None else C}


def test_a_name_that_stands_for_an_equal_number_is_no_arrival() -> None:
    names: dict[str, Any] = {"a": 10**20, "b": "text"}
    state = DictNames(names)
    names.update(a=int(str(names["a"])), b=3)
    assert [*state.arrivals()] == [("b", [3])]


BIG = 10**20
#: What makes a container, and what changes it.
CHANGES: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "appended": (lambda: [A, B], lambda x: x.append(C)),
    "turned": (lambda: [A, B], lambda x: x.reverse()),
    "equal, not the same": (lambda: [A, B], lambda x: x.__setitem__(0, [0])),
    "another type": (lambda: [1, 2], lambda x: x.__setitem__(0, 1.0)),
    "pushed out": (lambda: deque([A, B], maxlen=2), lambda x: x.append(C)),
    "deque turned": (lambda: deque([A, B, C]), lambda x: x.rotate()),
    "exchanged": (lambda: {1, 2}, lambda x: (x.remove(2), x.add(3))),
    "set emptied": (lambda: {1, 2}, lambda x: x.clear()),
    "equal, not the same, in a set": (lambda: {BIG}, lambda x: (x.clear(), x.add(int(str(BIG))))),
    "another value": (lambda: {1: A, 2: B}, lambda x: x.__setitem__(1, C)),
    "a new key and value": (lambda: {1: A, 2: B}, lambda x: x.update({3: C, 2: C})),
    "one is gone": (lambda: {1: A, 2: B, 3: C}, lambda x: x.pop(2)),
    "all are gone": (lambda: {1: A, 2: B}, lambda x: x.clear()),
    "it was empty": (dict, lambda x: x.update({1: A})),
    "gone and come": (lambda: {1: A, 2: B}, lambda x: x.update({1: x.pop(1), 3: C})),
    "another order": (lambda: {1: A, 2: B}, lambda x: x.update({1: x.pop(1)})),
    "moved to the end": (lambda: OrderedDict({1: A, 2: B}), lambda x: x.move_to_end(1)),
    "an equal key": (lambda: {1: A}, lambda x: (x.clear(), x.update({True: A}))),
    "a counter": (lambda: Counter("aab"), lambda x: x.update("abc")),
}


def held(values: Any) -> list[Any]:
    return [*values.keys(), *values.values()] if isinstance(values, dict) else [*values]


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_is_seen_and_put_back_in_its_order(name: str) -> None:
    make, change = CHANGES[name]
    values = make()
    before = held(values)
    state = (Entries if isinstance(values, dict) else Items)(values)
    assert not state.changed()
    assert state.parts == before
    change(values)
    assert state.changed()
    state.restore()
    assert not state.changed()
    assert sorted(map(id, held(values))) == sorted(map(id, before))
    assert isinstance(values, set) or [*map(id, held(values))] == [*map(id, before)]
    assert getattr(values, "maxlen", None) == getattr(make(), "maxlen", None)


@pytest.mark.parametrize("value", [BIG, "ab", 2.5])
def test_an_equal_number_in_its_place_is_no_change(value: Any) -> None:
    values, keyed = [A, value], {"k": value}
    states = Items(values), Entries(keyed)
    values[1] = keyed["k"] = "".join([*value]) if value == "ab" else type(value)(str(value))
    assert values[1] is not value
    assert [state.changed() for state in states] == [False, False]


def test_what_is_held_can_be_exchanged_before_it_is_put_back() -> None:
    values, keyed = [A, B], {1: A, 2: B}
    states = Items(values), Entries(keyed)
    keyed[3] = A
    for state in states:
        state.replace(lambda each: C if each is B else each)
        assert state.changed()
        state.restore()
    assert [*map(id, values)] == [*map(id, keyed.values())] == [id(A), id(C)]


def test_what_came_into_a_container_is_known() -> None:
    values, keyed = [A], {1: A}
    states = Items(values), Entries(keyed)
    assert [[*state.arrivals()] for state in states] == [[], []]
    values.append(B)
    keyed[2] = C
    assert [[*state.arrivals()] for state in states] == [[("", [B])], [("", [2, C])]]
