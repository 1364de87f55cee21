"""Values under names are put back, where names come and go as well."""

import sys
from typing import Any

import pytest

from ipyjaxbench.frameworks.state.names import (
    AttributeNames,
    CellName,
    ClassNames,
    DictNames,
    SlotNames,
    attribute_states,
)
from ipyjaxbench.usercode import read_inline_values

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
    assert value.a is A
    assert value.b is B
    assert not hasattr(value, "late")
    assert not state.changed()


def test_an_object_has_a_state_for_its_dictionary_and_one_for_its_slots() -> None:
    both = Both()
    both.c = 1  # type: ignore[attr-defined]
    found = [[type(each) for each in attribute_states(v)] for v in (Plain(), Slotted(), both, 3)]
    assert found == [[AttributeNames], [SlotNames], [AttributeNames, SlotNames], []]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="there a dictionary slows nothing down")
def test_an_attribute_that_changes_is_put_back_where_it_stands() -> None:
    value = Plain()
    state = AttributeNames(value)
    value.a = C
    state.restore()
    assert value.a is A
    assert read_inline_values(value) is not None  # no dictionary was made
    value.late = C  # type: ignore[attr-defined]
    state.restore()
    assert vars(value) == {"a": A, "b": B}


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
    type.__setattr__(Own, "data", C)
    type.__setattr__(Own, "late", C)
    type.__delattr__(Own, "method")
    type.__setattr__(Own, "__doc__", "another text")
    assert state.changed()
    state.restore()
    assert (Own.data, Own.method, hasattr(Own, "late")) == (A, method, False)
    assert Own.__doc__ == "another text"


def closing() -> tuple[Any, Any, Any]:
    """Two functions that close over a name, which the one sets and the other deletes."""
    value: Any = A

    def put(new: Any) -> None:
        nonlocal value
        value = new

    def remove() -> None:
        nonlocal value
        del value

    return put, remove, put.__closure__[0]  # type: ignore[index]


def test_a_closed_over_name_is_put_back_where_it_was_empty_too() -> None:
    put, remove, cell = closing()
    state = CellName("value", cell)
    assert [*state.named] == [("value", A)]
    put(B)
    state.restore()
    assert cell.cell_contents is A
    remove()
    assert state.changed()
    empty = CellName("value", cell)
    assert [*empty.named] == []
    state.restore()
    assert cell.cell_contents is A
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
