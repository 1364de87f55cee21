"""What is remembered of arrays and generators, so that what a call changes is put back."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ipyjaxbench.adapters.numpy.state import Form, Numbers, owner, states
from ipyjaxbench.frameworks import CopyBudget, MutableState, loaded


def adapter() -> MutableState:
    (found,) = (each for each in loaded()[0] if each.name == "numpy")
    return found.capability(MutableState)


def kinds(value: Any, budget: CopyBudget | None = None) -> list[type]:
    """Of what is remembered, but for attributes."""
    found = states(value, budget or CopyBudget()) or ()
    return [type(each) for each in found if isinstance(each, Form | Numbers)]


def numbers(array: Any, budget: CopyBudget | None = None) -> Numbers:
    (found,) = (each for each in states(array, budget or CopyBudget()) or ()
                if isinstance(each, Numbers))  # fmt: skip
    return found


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


def test_memory_is_remembered_once_where_somebody_may_write_it() -> None:
    base, budget = np.ones((4, 6)), CopyBudget()
    assert owner(base[1:][1:]) is owner(base) is base
    assert kinds(base[1:], budget) == [Form, Numbers]
    assert kinds(base, budget) == [Form]
    assert kinds(np.ones(3), budget) == [Form, Numbers]
    assert kinds(read_only(np.ones(3))) == [Form, Numbers]  # it may be made writable
    assert kinds(np.frombuffer(b"12345678")) == [Form]
    assert kinds(read_only(np.ones(3)[:])) == [Form, Numbers]  # the array itself may be written
    assert numbers(np.array([budget, 3], object)).parts == [budget, 3]  # they may change too
    assert numbers(np.ones(2)).parts == []


@pytest.mark.parametrize("value", [np.float64(1), np.dtype("f4"), np.sin])
def test_what_never_changes_is_left_alone(value: Any) -> None:
    assert states(value, CopyBudget()) == []
    assert states([value], CopyBudget()) is None


@pytest.mark.parametrize(
    "array",
    [
        np.arange(3, dtype=np.uint8), np.arange(4, dtype=np.float32), np.array([np.nan, 1.0, 2.0]),
        np.arange(6.0).reshape(2, 3).T, np.array([1, "a"], object),
        np.array([(1, 2.0), (3, 4.0)], "u1,f4"),
    ],
)  # fmt: skip
def test_each_number_that_changes_is_noticed_and_put_back(array: Any) -> None:
    kept, before = numbers(array), array.copy()
    assert not kept.changed()
    array[-1], array[0] = array[0], array[-1]
    assert kept.changed()
    kept.restore()
    assert not kept.changed()
    assert str(array.tolist()) == str(before.tolist())


@pytest.mark.parametrize("position", [0, 1023, 1029])
def test_without_memory_for_a_copy_each_number_is_looked_at_all_the_same(position: int) -> None:
    array = np.arange(1030.0)  # two pages, and a part of one
    kept = numbers(array, CopyBudget(most=0))
    assert not kept.can_restore
    assert kept.parts == []
    assert not kept.changed()
    array[position] += 1
    assert kept.changed()


@pytest.mark.filterwarnings("ignore")  # NumPy would rather have a new array
def test_another_form_and_size_are_put_back() -> None:
    array = np.arange(6.0)
    form, kept = states(array, CopyBudget())[:2]  # type: ignore[index]
    array.shape = (2, 3)
    array.flags.writeable = False
    assert form.changed()
    form.restore()
    assert (array.shape, array.flags.writeable) == ((6,), True)
    assert not form.changed()
    array.resize(8, refcheck=False)
    assert kept.changed()
    assert form.changed()
    for each in (form, kept):
        each.restore()
    assert array.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    "make", [np.random.default_rng, np.random.RandomState, np.random.PCG64, np.random.MT19937]
)
def test_generators_of_all_kinds_draw_the_same_again(make: Callable[[int], Any]) -> None:
    def draw() -> list[float]:
        drawing = np.random.Generator(source) if isinstance(
            source, np.random.BitGenerator) else source  # fmt: skip
        return list(drawing.normal(size=3).tolist())

    source = make(5)
    restore = adapter().random_state([source])
    assert restore is not None
    first, of_all = draw(), np.random.rand()
    assert draw() != first
    restore()
    assert (draw(), np.random.rand()) == (first, of_all)
    restore()


def test_random_numbers_that_nobody_loaded_stay_unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "numpy.random")
    assert adapter().random_state([]) is None
    assert states(3, CopyBudget()) is None


def test_methods_that_give_nothing_back_change_in_place() -> None:
    told = [*map(adapter().changes_in_place, ("sort", "fill", "sum", "copy"))]
    assert told == [True, True, False, False]


def test_a_table_of_pandas_is_changed_by_other_blocks_and_axes_alone() -> None:
    pandas = pytest.importorskip("pandas")
    from ipyjaxbench.adapters.numpy.pandas_state import Manager

    def manager() -> Manager:
        (found,) = (each for each in adapter().states(table, CopyBudget()) or ()
                    if isinstance(each, Manager))  # fmt: skip
        return found

    table = pandas.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})
    kept = manager()
    assert {block.dtype.name for block in kept.parts[:2]} == {"float64", "int64"}
    table._mgr.is_consolidated()  # it is only looked up
    assert not kept.changed()
    table.columns = ["x", "y"]
    assert kept.changed()
    kept.restore()
    assert not kept.changed()
    assert [*table.columns] == ["a", "b"]
    table["c"] = 5
    assert kept.changed()
    kept.restore()
    assert [*table.columns] == ["a", "b"]
    assert table["b"].tolist() == [3, 4]
    assert adapter().states(pandas.Timestamp(0), CopyBudget()) is None
