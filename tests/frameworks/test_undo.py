"""What calls change in place is kept as it is, so that it can be put back."""

import random
from array import array
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ipyjaxbench.frameworks.state.containers import Items
from ipyjaxbench.frameworks.state.copies import Buffer
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.protocol import MutableState, restore_together
from ipyjaxbench.frameworks.state.undo import (
    DonatedArray,
    GeneratorState,
    Setting,
    State,
    all_same,
)
from tests.fake_framework import FakeFramework

ONE, EQUAL = [1], [1]
BIG = 10**20
MIB = 2**20


@pytest.mark.parametrize(("now", "before", "same"), [
    ([ONE, 1], [ONE, 1], True), ([ONE], [EQUAL], False), ([ONE], [ONE, ONE], False),
    ([BIG], [int(str(BIG))], True), ([BIG], [float(BIG)], False), ([BIG], [BIG + 1], False),
    (["a b"], ["".join("a b")], True), ([True], [1], False), ([], [], True), ([1], [], False),
])  # fmt: skip
def test_same_are_objects_and_equal_numbers(now: list[Any], before: list[Any], same: bool) -> None:
    assert all_same(now, before) is same


def test_what_never_changes_has_nothing_to_put_back() -> None:
    state = State([1])
    state.restore()
    state.replace(lambda value: None)
    assert (state.changed(), [*state.parts], [*state.arrivals()]) == (False, [], [])
    assert (state.can_restore, state.nbytes, state.owner) == (True, 0, None)
    donated = DonatedArray(np.ones(3), ONE, lambda: True)
    assert (donated.array.tolist(), donated.copy is ONE, donated.nbytes) == ([1, 1, 1], True, 24)
    assert (donated.changed(), donated.is_gone()) == (False, True)


def test_states_are_put_back_together_and_can_be_taken_again() -> None:
    one, other = [1], [2]
    states = first, _ = Items(one), Items(other)
    restore = restore_together(states)
    one.append(3)
    second = first.again()
    assert (first.changed(), second.changed()) == (True, False)
    one.clear()
    second.restore()
    assert one == [1, 3]
    other.clear()
    restore()
    assert (one, other) == ([1], [2])


@pytest.mark.parametrize("made", [bytearray(b"abcd"), array("h", [1, 2])])
def test_numbers_are_copied_and_put_back(made: Any) -> None:
    before = made[:]
    state, small = (Buffer(made, CopyBudget(most)) for most in (4, 3))
    for each, can in ((state, True), (small, False)):  # there is no memory for the second
        assert (each.nbytes, each.can_restore, each.changed()) == (4, can, False)
    made[1] += 1
    assert (state.changed(), small.changed()) == (True, True)
    later = Buffer(made, CopyBudget()).again()
    assert not later.changed()
    made.append(7)
    assert (state.changed(), small.changed()) == (True, True)
    state.restore()
    assert (made, state.changed(), later.changed()) == (before, False, True)


def test_a_setting_is_put_back_where_it_can_be_set() -> None:
    held = {"level": [1]}
    states = [Setting(lambda: [*held["level"]], write)
              for write in (None, lambda value: held.update(level=value))]  # fmt: skip
    assert [state.can_restore for state in states] == [False, True]
    held["level"] = [2]
    for state, level in zip(states, (2, 1), strict=True):
        assert state.changed()
        state.restore()
        assert held["level"] == [level]


def test_a_generator_is_put_back_whether_a_number_was_drawn_or_not() -> None:
    source = random.Random(3)
    first, state = random.Random(3).random(), GeneratorState.from_random(source)
    assert [*state.arrivals()] == []
    assert source.random() == first
    assert (state.changed(), [*state.arrivals()]) == (False, [("", [])])
    state.restore()
    assert source.random() == first
    held = SimpleNamespace(state=("MT", np.arange(3)))
    state = GeneratorState(lambda: held.state, None)
    assert [*state.arrivals()] == []
    held.state = ("MT", np.arange(3) + 1)
    assert [*state.arrivals()] == [("", [])]


def test_arrays_of_a_framework_that_never_change_hold_nothing() -> None:
    framework = FakeFramework()
    made, offer = framework.device.start(dispatch=0, work=0), MutableState(framework)
    assert offer.states(made, CopyBudget()) is None
    framework.immutable = True
    assert offer.states(made, CopyBudget()) == ()
    assert offer.states([made], CopyBudget()) is None


def test_what_a_framework_does_not_offer_is_answered() -> None:
    offer, value = MutableState(FakeFramework()), [1]
    assert offer.random_state([]) is offer.mutation_count(value) is offer.copy(value) is None
    assert offer.changes_in_place("sort") is False
    assert offer.revived(value, {}) is value


# How much may be copied, on each device


class Free:
    """Free memory, and how often it was asked for."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes, self.count = nbytes, 0

    def __call__(self) -> int:
        self.count += 1
        return self.nbytes


def test_64_mib_are_copied_without_a_look_at_the_free_memory_of_each_device() -> None:
    free, budget = Free(0), CopyBudget()
    assert budget.take("gpu:0", 60 * MIB, free)
    assert budget.take("gpu:0", 4 * MIB, free)
    assert free.count == 0
    assert not budget.take("gpu:0", 1, free)
    assert free.count == 1
    assert budget.take("gpu:1", 65 * MIB, Free(400 * MIB))
    assert not budget.take("gpu:2", 65 * MIB, free)
    assert budget.take("gpu:2", 64 * MIB, free)


def test_copies_take_a_quarter_of_what_was_free_before_the_first_one() -> None:
    free, budget = Free(340 * MIB), CopyBudget()
    assert budget.take("gpu:0", 60 * MIB, free)  # of 400 MiB, these among them
    assert not budget.take("gpu:0", 40 * MIB + 1, free)
    assert budget.take("gpu:0", 40 * MIB, free)  # what did not fit took nothing
    assert budget.take("gpu:0", 1, free) is False
    assert free.count == 1


def test_no_more_is_taken_than_is_said_however_much_is_free() -> None:
    budget = CopyBudget(10)
    assert [budget.take("host", n, Free(MIB)) for n in (6, 5, 4, 1)] == [True, False, True, False]
    assert CopyBudget().gives_away is False


@pytest.mark.parametrize("key", [None, "memory"])
def test_memory_that_was_asked_about_is_known(key: object) -> None:
    budget, one, other = CopyBudget(), object(), object()
    assert [budget.is_new(one, key), budget.is_new(one, key)] == [True, False]
    assert budget.is_new(other, key) is (key is None)
