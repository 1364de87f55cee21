"""How much may be copied, on each device."""

import pytest

from ipyjaxbench.frameworks.state.copy_budget import CopyBudget

MIB = 2**20


class Free:
    """Free memory, and how often it was asked for."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes, self.count = nbytes, 0

    def __call__(self) -> int:
        self.count += 1
        return self.nbytes


def test_64_mib_are_copied_without_a_look_at_the_free_memory() -> None:
    free, budget = Free(0), CopyBudget()
    assert budget.take("gpu:0", 60 * MIB, free)
    assert budget.take("gpu:0", 4 * MIB, free)
    assert free.count == 0
    assert not budget.take("gpu:0", 1, free)
    assert free.count == 1


def test_copies_take_a_quarter_of_what_was_free_before_the_first_one() -> None:
    free, budget = Free(340 * MIB), CopyBudget()
    assert budget.take("gpu:0", 60 * MIB, free)  # of 400 MiB, these among them
    assert not budget.take("gpu:0", 40 * MIB + 1, free)
    assert budget.take("gpu:0", 40 * MIB, free)  # what did not fit took nothing
    assert budget.take("gpu:0", 1, free) is False
    assert free.count == 1


def test_each_device_has_its_own_memory() -> None:
    small, large = Free(0), Free(400 * MIB)
    budget = CopyBudget()
    assert not budget.take("gpu:0", 65 * MIB, small)
    assert budget.take("gpu:1", 65 * MIB, large)
    assert budget.take("gpu:0", 64 * MIB, small)


def test_no_more_is_taken_than_is_said_however_much_is_free() -> None:
    budget = CopyBudget(10)
    assert [budget.take("host", n, Free(MIB)) for n in (6, 5, 4, 1)] == [True, False, True, False]
    assert CopyBudget().gives_away is False


@pytest.mark.parametrize("key", [None, "memory"])
def test_memory_that_was_asked_about_is_known(key: object) -> None:
    budget, one, other = CopyBudget(), object(), object()
    assert [budget.is_new(one, key), budget.is_new(one, key)] == [True, False]
    assert budget.is_new(other, key) is (key is None)
