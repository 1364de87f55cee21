"""What calls change in place is kept as it is, so that it can be put back."""

import random
from array import array
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ipyjaxbench.frameworks.state.containers import Items
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.protocol import MutableState, restore_together
from ipyjaxbench.frameworks.state.undo import (
    Buffer,
    DonatedArray,
    GeneratorState,
    Setting,
    State,
    all_same,
)
from ipyjaxbench.testing import FakeClock, FakeDevice
from tests.fake_framework import FakeFramework

ONE, EQUAL = [1], [1]
BIG = 10**20


@pytest.mark.parametrize(
    ("now", "before", "same"),
    [
        ([ONE, 1], [ONE, 1], True), ([ONE], [EQUAL], False), ([ONE], [ONE, ONE], False),
        ([BIG], [int(str(BIG))], True), ([BIG], [float(BIG)], False), ([BIG], [BIG + 1], False),
        (["a b"], ["".join("a b")], True), ([True], [1], False), ([], [], True), ([1], [], False),
    ],
)  # fmt: skip
def test_values_are_the_same_where_they_are_the_same_objects_or_equal_numbers(
    now: list[Any], before: list[Any], same: bool
) -> None:
    assert all_same(now, before) is same


def test_what_never_changes_has_nothing_to_put_back() -> None:
    state = State([1])
    state.restore()
    state.replace(lambda value: None)
    assert (state.changed(), [*state.parts], [*state.arrivals()]) == (False, [], [])
    assert (state.can_restore, state.nbytes, state.owner) == (True, 0, None)


def test_states_are_put_back_together() -> None:
    one, other = [1], [2]
    restore = restore_together([Items(one), Items(other)])
    one.append(3)
    other.clear()
    restore()
    assert (one, other) == ([1], [2])


def test_a_state_can_be_taken_again() -> None:
    values = [1]
    first = Items(values)
    values.append(2)
    second = first.again()
    assert (first.changed(), second.changed()) == (True, False)
    values.clear()
    second.restore()
    assert values == [1, 2]
    first.restore()
    assert values == [1]


@pytest.mark.parametrize("made", [bytearray(b"abcd"), array("h", [1, 2])])
def test_numbers_are_copied_and_put_back(made: Any) -> None:
    before = made[:]
    state = Buffer(made, CopyBudget())
    assert (state.nbytes, state.can_restore, state.changed()) == (4, True, False)
    made[1] += 1
    assert state.changed()
    later = state.again()
    assert not later.changed()
    made.append(7)
    assert state.changed()
    state.restore()
    assert (made, state.changed(), later.changed()) == (before, False, True)


def test_numbers_for_which_there_is_no_memory_are_known_by_how_many_they_are() -> None:
    made = bytearray(b"abcd")
    state = Buffer(made, CopyBudget(3))
    assert (state.nbytes, state.can_restore, state.changed()) == (4, False, False)
    made[0] = 0
    assert not state.changed()
    made.append(1)
    assert state.changed()


def test_a_setting_is_put_back_where_it_can_be_set() -> None:
    held = {"level": [1]}
    states = [Setting(lambda: [*held["level"]], write)
              for write in (lambda value: held.update(level=value), None)]  # fmt: skip
    assert [state.can_restore for state in states] == [True, False]
    held["level"] = [2]
    assert [state.changed() for state in states] == [True, True]
    states[1].restore()
    assert held["level"] == [2]
    states[0].restore()
    assert held["level"] == [1]


def test_a_generator_is_put_back_whether_a_number_was_drawn_or_not() -> None:
    source = random.Random(3)
    first, state = random.Random(3).random(), GeneratorState.from_random(source)
    assert [*state.arrivals()] == []
    assert source.random() == first
    assert (state.changed(), [*state.arrivals()]) == (False, [("", [])])
    state.restore()
    assert source.random() == first


def test_a_generator_whose_state_is_an_array_is_asked_too() -> None:
    held = SimpleNamespace(state=("MT", np.arange(3)))
    state = GeneratorState(lambda: held.state, None)
    assert [*state.arrivals()] == []
    held.state = ("MT", np.arange(3) + 1)
    assert [*state.arrivals()] == [("", [])]


def test_an_array_that_is_given_away_has_a_copy() -> None:
    made, copied = np.ones(3), np.ones(3)
    state = DonatedArray(made, copied, lambda: True)
    assert (state.array is made, state.copy is copied, state.nbytes) == (True, True, 24)
    assert (state.changed(), state.is_gone()) == (False, True)


def test_arrays_of_a_framework_that_never_change_hold_nothing() -> None:
    framework = FakeFramework(FakeDevice(FakeClock()))
    made, offer = framework.device.start(dispatch=0, work=0), MutableState(framework)
    assert offer.states(made, CopyBudget()) is None
    framework.immutable = True
    assert offer.states(made, CopyBudget()) == ()
    assert offer.states([made], CopyBudget()) is None


def test_what_a_framework_does_not_offer_is_answered() -> None:
    offer = MutableState(FakeFramework())
    value = [1]
    assert offer.random_state([]) is offer.mutation_count(value) is offer.copy(value) is None
    assert offer.changes_in_place("sort") is False
    assert offer.revived(value, {}) is value
