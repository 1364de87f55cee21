"""What classes are and define, as Python itself answers."""

import gc
import weakref
from collections import deque
from typing import Any

from ipyjaxbench.usercode.classes import PerClass, filled_slots, is_made, module_of, slots_of


class Base:
    __slots__ = ("own", "shared")


class Extended(Base):
    __slots__ = ("later", "shared")

    def __init__(self) -> None:
        self.shared = 1
        Base.shared.__set__(self, 2)  # type: ignore[attr-defined]


class Plain(Extended):
    """Has a dictionary, and no slots of its own."""


def test_slots_are_those_of_the_class_first_and_have_a_value_where_they_are_filled() -> None:
    assert [*slots_of(Extended)] == ["later", "shared", "own"]
    assert [*slots_of(Base)] == ["own", "shared"]
    for _ in range(2):
        assert slots_of(Plain)["shared"] is vars(Extended)["shared"]
    assert slots_of(int) == slots_of(type(slots_of)) == {}
    assert filled_slots(Extended(), slots_of(Extended)) == {"shared": 1}
    assert filled_slots(Extended(), slots_of(Base)) == {"shared": 2}


def test_the_module_of_a_class_is_that_in_which_it_was_written() -> None:
    odd: Any = type("Odd", (), {"__module__": 3})
    found = [*map(module_of, (int, deque, Base, odd))]
    assert found == ["builtins", "collections", __name__, ""]
    assert [*map(is_made, (int, Base, odd))] == [False, True, True]


class Equal(type):
    """Its classes are equal to all others."""

    def __eq__(cls, other: object) -> bool:
        return True

    __hash__ = type.__hash__


def test_what_is_known_of_a_class_is_known_of_no_other_and_goes_with_it() -> None:
    known = PerClass[int]()
    one, other = Equal("One", (), {}), Equal("Other", (), {})
    known.set(one, 1)
    known.set(one, 2)
    assert (known.get(one), known.get(other)) == (2, None)
    key, gone = id(one), weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None
    assert key not in known._known
