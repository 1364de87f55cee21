"""Attributes are read without making the dictionary that slows them down."""

import dataclasses
import functools
import gc
import sys
import weakref
from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.frameworks.state.names import attribute_states
from ipyjaxbench.usercode import objects
from ipyjaxbench.usercode.inline_values import read_inline_values

pytestmark = pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="from Python 3.13 on a dictionary slows nothing down"
)


class Point:
    dimensions = 2
    _shared = None

    def __init__(self) -> None:
        self.x, self.y = 1.0, 2.0
        self.__hidden = self.__other = None

    @property
    def length(self) -> float:
        raise AssertionError("no code of the object is run")

    def move(self) -> None:
        self.x += 1.0
        self.moved: bool = True


@dataclasses.dataclass
class Box:
    width: int = 0
    colours: list[str] = dataclasses.field(default_factory=list)
    height: int = 0
    name: str | None = None


class Slotted(Point):
    __slots__ = ("slot",)

    def __init__(self) -> None:
        super().__init__()
        self.slot = 7


class OwnDefault:
    size = 3

    def __init__(self) -> None:
        self.size = 3  # the same object as the class's


def has_dictionary(value: object, attributes: dict[str, Any]) -> bool:
    """Whether an object with these attributes was asked for its dictionary."""
    held = gc.get_referents(value)
    return any(type(each) is dict and each == attributes for each in held)


@pytest.mark.parametrize("kind", [Point, Box, Slotted, OwnDefault])
def test_all_attributes_are_read_in_order(kind: type) -> None:
    value = kind()
    found = [read_inline_values(value), read_inline_values(value), objects.attributes(value)]
    assert not has_dictionary(value, vars(kind()))
    assert [[*(each or {}).items()] for each in found] == [[*vars(value).items()]] * 3
    assert read_inline_values(value) is None  # it has a dictionary now
    assert objects.attributes(value) is vars(value)


def test_names_that_no_code_of_the_class_has_are_learnt_from_the_first_object() -> None:
    class Bag:
        def __init__(self, **given: object) -> None:
            for name, value in given.items():
                setattr(self, name, value)

    first, second = Bag(a=1, b=[2]), Bag(a=3, b=[4])
    assert objects.attributes(first) == {"a": 1, "b": [2]}
    assert objects.attributes(second) == {"a": 3, "b": [4]}
    assert not has_dictionary(second, {"a": 3, "b": [4]})


def test_an_attribute_that_hides_a_method_is_found() -> None:
    value: Any = Point()
    value.move = len
    assert objects.attributes(value)["move"] is len
    assert objects.attribute(value, "move") is len


def test_which_of_two_names_is_the_objects_own_is_not_guessed() -> None:
    class Twice:
        a = b = None

        def set(self) -> None:
            self.b = None

        def unset(self) -> None:
            self.a = None

    value = Twice()
    value.set()
    assert objects.attributes(value) == {"b": None}


@pytest.mark.parametrize("value", [[], SimpleNamespace(a=1), ValueError("x"), print, Point, 3])
def test_objects_without_inline_values_are_left_to_their_dictionary(value: object) -> None:
    assert read_inline_values(value) is None


def test_a_class_that_was_looked_at_is_not_held() -> None:
    class Large:
        __slots__ = ("__dict__", "slot")

        def __init__(self) -> None:
            self.x = 1

    assert objects.attributes(Large()) == {"x": 1}
    known = weakref.ref(Large)
    del Large
    gc.collect()
    assert known() is None


def test_attributes_are_put_back_without_a_dictionary() -> None:
    value = Point()
    (state,) = attribute_states(value)
    value.x = 5.0
    assert state.changed()
    state.restore()
    assert (value.x, state.changed()) == (1.0, False)
    assert not has_dictionary(value, vars(Point()))


def test_attributes_that_came_are_taken_away() -> None:
    value = Point()
    (state,), before = attribute_states(value), [*vars(Point())]
    value.move()
    assert state.changed()
    state.restore()
    assert [*vars(value)] == before
    assert value.x == 1.0


def test_a_dictionary_that_is_the_only_attribute_is_none_of_the_objects_own() -> None:
    class Only:
        def __init__(self) -> None:
            self.held = {"a": 1}

    for _ in range(2):
        value = Only()
        assert read_inline_values(value) == {"held": {"a": 1}}
        assert read_inline_values(value)["held"] is value.held  # type: ignore[index]


def test_attributes_that_differ_from_object_to_object_are_found() -> None:
    class Some:
        def one(self) -> "Some":
            self.a = 1
            return self

        def other(self) -> "Some":
            self.b, self.a = 2, 1
            return self

    assert objects.attributes(Some().one()) == {"a": 1}
    assert objects.attributes(Some().other()) == {"b": 2, "a": 1}
    assert objects.attributes(Some()) == {}
    value = Some().other()
    del value.a
    assert objects.attributes(value) == {"b": 2}
    assert not has_dictionary(value, {"b": 2})


def test_names_in_properties_and_functions_of_the_class_are_known() -> None:
    class Names:
        annotated: int

        @property
        def a(self) -> int:
            return self.read

        @staticmethod
        def b(other: Any) -> None:
            other.static = 2

        @classmethod
        def c(cls, other: Any) -> None:
            other.of_class = 3

        @functools.cached_property
        def d(self) -> int:
            return self.cached

    for name in ("annotated", "read", "static", "of_class", "cached"):
        kind = type("Names", (), {n: v for n, v in vars(Names).items()
                                  if n not in ("__dict__", "__weakref__")})  # fmt: skip
        value = kind()
        object.__setattr__(value, name, 7)
        assert read_inline_values(value) == {name: 7}
