"""Attributes are read without making the dictionary that slows them down."""

import dataclasses
import functools
import gc
import sys
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


@pytest.mark.parametrize("value", [[], SimpleNamespace(a=1), ValueError("x"), print, Point, 3])
def test_objects_without_inline_values_are_left_to_their_dictionary(value: object) -> None:
    assert read_inline_values(value) is None


def test_attributes_are_put_back_without_a_dictionary() -> None:
    value = Point()
    (state,), before = attribute_states(value), [*vars(Point())]
    value.x = 5.0
    assert state.changed()
    state.restore()
    assert (value.x, state.changed()) == (1.0, False)
    assert not has_dictionary(value, vars(Point()))
    value.move()  # an attribute comes
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
    class Bag:
        def __init__(self, **given: object) -> None:
            for name, value in given.items():
                setattr(self, name, value)

        def swap(self) -> "Bag":
            self.b, self.a = 2, 1
            return self

    first, second = Bag(a=1, c=[2]), Bag(a=3, c=[4])
    assert objects.attributes(first) == {"a": 1, "c": [2]}  # names that no code of the class has
    assert objects.attributes(second) == {"a": 3, "c": [4]}
    assert not has_dictionary(second, {"a": 3, "c": [4]})
    assert objects.attributes(Bag().swap()) == {"b": 2, "a": 1}
    assert objects.attributes(Bag()) == {}
    value = Bag().swap()
    del value.a
    assert objects.attributes(value) == {"b": 2}
    assert not has_dictionary(value, {"b": 2})


def test_an_attribute_that_hides_what_the_class_has_is_found() -> None:
    class Twice:
        a = b = None

        def set(self) -> None:
            self.b = None

        def unset(self) -> None:
            self.a = None

    twice = Twice()
    twice.set()
    assert objects.attributes(twice) == {"b": None}  # which of the two it is, is not guessed
    point: Any = Point()
    point.move = len
    assert objects.attributes(point)["move"] is len
    assert objects.attribute(point, "move") is len


def test_what_the_class_alone_has_is_not_taken_for_an_attribute_of_the_same_value() -> None:
    class Counted:
        made = 1

        def __init__(self) -> None:
            self.seen: list[int] = []

        def count(self) -> None:
            type(self).made += 1

    value: Any = Counted()
    value.other = 1
    assert objects.attributes(value) == {"seen": [], "other": 1}


def test_names_in_properties_and_functions_of_the_class_are_known() -> None:
    def own(other: Any) -> None:
        other.read = 1

    @functools.cached_property
    def cached(self: Any) -> Any:
        return self.read

    members = (own, property(own), staticmethod(own), classmethod(own), cached)
    for body in [*({"member": each} for each in members), {"__annotations__": {"read": int}}]:
        value = type("Names", (), body)()
        object.__setattr__(value, "read", 7)
        assert read_inline_values(value) == {"read": 7}
