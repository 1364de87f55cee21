"""What containers hold is put back: the same objects in the same order."""

import itertools
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ipyjaxbench.frameworks.state.containers import Entries, Items

A, B, C = ([n] for n in range(3))  # three objects
BIG = 10**20


def equal_to(value: Any) -> Any:
    """Another object that is equal to a number or a string."""
    return "".join([*value]) if type(value) is str else type(value)(str(value))


CHANGES: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "appended": (lambda: [A, B], lambda x: x.append(C)),
    "filled": (list, lambda x: x.append(A)),
    "turned": (lambda: [A, B], lambda x: x.reverse()),
    "another": (lambda: [A, B], lambda x: x.__setitem__(1, C)),
    "equal, not the same": (lambda: [A, B], lambda x: x.__setitem__(0, [0])),
    "another type": (lambda: [1, 2], lambda x: x.__setitem__(0, 1.0)),
    "pushed out": (lambda: deque([A, B], maxlen=2), lambda x: x.append(C)),
    "deque turned": (lambda: deque([A, B, C]), lambda x: x.rotate()),
    "added": (lambda: {1, 2}, lambda x: x.add(3)),
    "exchanged": (lambda: {1, 2}, lambda x: (x.remove(2), x.add(3))),
    "set emptied": (lambda: {1, 2}, lambda x: x.clear()),
}


@pytest.mark.parametrize("name", CHANGES)
def test_items_that_change_are_seen_and_put_back(name: str) -> None:
    make, change = CHANGES[name]
    values = make()
    before = [*values]
    state = Items(values)
    assert not state.changed()
    assert state.parts == before
    change(values)
    assert state.changed()
    state.restore()
    assert not state.changed()
    assert sorted(map(id, values)) == sorted(map(id, before))
    assert isinstance(values, set) or [*map(id, values)] == [*map(id, before)]
    assert getattr(values, "maxlen", None) == getattr(make(), "maxlen", None)


@pytest.mark.parametrize("value", [BIG, "ab", 2.5])
def test_an_equal_number_in_its_place_is_no_change_of_a_list(value: Any) -> None:
    values, keyed = [A, value], {"k": value}
    states = Items(values), Entries(keyed)
    values[1] = keyed["k"] = equal_to(value)
    assert values[1] is not value
    assert [state.changed() for state in states] == [False, False]


def test_members_of_a_set_are_told_apart_by_identity() -> None:
    values = {BIG}
    state = Items(values)
    values.clear()
    values.add(equal_to(BIG))
    assert state.changed()


ENTRY_CHANGES: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "another value": (lambda: {1: A, 2: B}, lambda x: x.__setitem__(1, C)),
    "a new key": (lambda: {1: A, 2: B}, lambda x: x.__setitem__(3, C)),
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


@pytest.mark.parametrize("name", ENTRY_CHANGES)
def test_entries_that_change_are_seen_and_put_back_in_their_order(name: str) -> None:
    make, change = ENTRY_CHANGES[name]
    values = make()
    before = [*values.items()]
    state = Entries(values)
    assert not state.changed()
    assert state.parts == [*values.keys(), *values.values()]
    change(values)
    assert state.changed()
    state.restore()
    now = [*values.items()]
    assert now == before
    assert [*map(id, itertools.chain(*now))] == [*map(id, itertools.chain(*before))]
    assert not state.changed()


def test_what_is_held_can_be_exchanged_before_it_is_put_back() -> None:
    values, keyed = [A, B], {1: A, 2: B}
    states = Items(values), Entries(keyed)
    keyed[3] = A
    for state in states:
        state.replace(lambda each: C if each is B else each)
        assert state.changed()
        state.restore()
    assert [*map(id, values)] == [*map(id, keyed.values())] == [id(A), id(C)]


class Own(dict[str, int]):
    """Its own methods do something else."""

    def _refuse(self, *_: Any) -> Any:
        raise RuntimeError("no code of it is run")

    __setitem__ = __delitem__ = keys = values = _refuse  # type: ignore[assignment]


class OwnList(list[int]):
    def __iter__(self) -> Iterator[int]:
        raise RuntimeError("no code of it is run")

    __len__ = __setitem__ = __iter__  # type: ignore[assignment]


def test_no_code_of_the_users_classes_is_run() -> None:
    keyed, items = Own(a=1), OwnList([1])
    states = Entries(keyed), Items(items)
    dict.update(keyed, b=2, a=3)
    list.append(items, 2)
    for state in states:
        assert state.changed()
        state.restore()
    assert dict.items(keyed) == {"a": 1}.items()
    assert [*list.__iter__(items)] == [1]


def test_what_came_into_a_container_is_known() -> None:
    values, keyed = [A], {1: A}
    states = Items(values), Entries(keyed)
    assert [[*state.arrivals()] for state in states] == [[], []]
    values.append(B)
    keyed[2] = C
    ((name, (item,)),) = states[0].arrivals()
    assert (name, item is B) == ("", True)
    ((name, came),) = states[1].arrivals()
    assert (name, came) == ("", [2, C])
