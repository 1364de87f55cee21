"""Any object is looked at without running code of its class."""

import ast
import functools
import itertools
import weakref
from collections import OrderedDict, deque
from collections.abc import Iterator
from types import MethodType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from ipyjaxbench.usercode import objects


def refuse(*_: object) -> Any:
    raise RuntimeError("no code of the object is run")


class Liar:
    """Says that it is a list."""

    @property
    def __class__(self) -> type:
        return list


class Refusing(type):
    """Its classes answer nothing."""

    __hash__ = None  # type: ignore[assignment]
    __instancecheck__ = __subclasscheck__ = refuse


class OfRefusing(metaclass=Refusing):
    """Of such a class."""


def test_the_class_is_the_real_one_and_where_asking_raises_the_answer_is_no() -> None:
    assert not objects.is_of(Liar(), list)
    assert objects.is_a(Liar(), list)
    assert objects.is_exactly(True, int, bool)
    assert not objects.is_exactly(True, int)
    assert objects.is_of(True, str, int)
    assert not objects.is_of(1, bool)
    answers = [objects.ask(question, 1) for question in (lambda _: 3, refuse, lambda _: [])]
    assert answers == [True, False, False]
    assert not objects.extends(int, OfRefusing)
    assert not objects.is_of(1, OfRefusing)
    assert not objects.is_a(1, OfRefusing)


class Shadowed:
    """Its ``__dict__`` is of its own making."""

    __dict__ = property(refuse)  # type: ignore[assignment]


class Bag:
    kind = "bag"
    held = property(refuse)

    def __init__(self) -> None:
        self.own = 1


def test_attributes_are_those_of_pythons_own_dictionary() -> None:
    assert objects.attributes(Bag()) == {"own": 1}
    assert objects.attributes(Shadowed()) == objects.attributes(3) == {}
    assert objects.dictionary_of(Shadowed()) is objects.dictionary_of(3) is None
    held = SimpleNamespace(a=1)
    assert objects.dictionary_of(held) is vars(held)
    found = objects.attributes(Bag)
    assert type(found) is dict
    assert found["kind"] == "bag"
    assert objects.dictionary_of(Bag) is None  # it cannot be written to
    has = [objects.has_attributes(each) for each in (held, Bag(), Bag, 3)]
    assert has == [True, True, False, False]


def test_attributes_are_read_where_a_class_has_its_names_from_another_one() -> None:
    copied: Any = type("Copied", (), dict(vars(type("Other", (), {}))))
    value, empty = copied(), copied()
    value.n = 3
    with pytest.raises(TypeError, match="doesn't apply"):  # as it is known to Python
        value.__dict__  # noqa: B018
    for _ in range(2):
        assert objects.attributes(value) == {"n": 3}
    own = objects.dictionary_of(value)
    assert own is not None
    own["n"] = 4
    assert (value.n, objects.attributes(empty)) == (4, {})


def test_an_attribute_is_the_objects_own_then_that_of_its_classes() -> None:
    bag = Bag()
    assert objects.attribute(bag, "own") == 1
    assert objects.attribute(bag, "kind") == "bag"
    assert objects.attribute(bag, "held") is vars(Bag)["held"]
    assert objects.attribute(bag, "none") is None
    assert objects.attribute(bag, "none", 7) == 7
    bag.kind = "other"
    assert objects.attribute(bag, "kind") == "other"
    assert objects.attribute(Bag, "kind") == "bag"
    assert objects.attribute(3, "none", 7) == 7


@pytest.mark.parametrize(
    ("text", "value"),
    [("bag", "it"), ("bag.own", 1), ("bag.kind.upper", str.upper), ("bag.none.own", None),
     ("none.own", None), ("bag[0]", None), ("bag().own", None)],
)  # fmt: skip
def test_a_dotted_name_is_looked_up_without_running_code(text: str, value: object) -> None:
    bag = Bag()
    found = objects.look_up(ast.parse(text, mode="eval").body, {"bag": bag})
    assert found == (bag if value == "it" else value)


class Raising(list[int]):
    __iter__ = refuse


class Endless(list[int]):
    def __iter__(self) -> Iterator[int]:
        return itertools.count()


def of(base: type, **members: Any) -> Any:
    """An object of a class of its own, of one or two numbers, with these members."""
    return type("Own", (base,), members)((1, 2))


class Pair(NamedTuple):
    left: int
    right: int


CAN_BE_WALKED = ({}, [1], (1,), {1}, frozenset((1,)), deque([1]), 3, "a", None, OrderedDict(a=1),
                 of(list, _fields=(1, 2)), Pair(1, 2), Bag(), np.ones(3))  # fmt: skip
CANNOT = (Raising([1]), Endless([1]), of(list, __iter__=lambda _: iter(())),
          of(list, __len__=lambda _: 7), of(tuple, _fields=("a", "b", "c")),
          of(tuple, _fields="ab"), of(tuple, _fields=(0, 1)),
          object.__new__(OfRefusing))  # fmt: skip


@pytest.mark.parametrize("number", range(len(CAN_BE_WALKED + CANNOT)))
def test_what_gives_as_many_items_as_it_has_can_be_walked(number: int) -> None:
    value = (CAN_BE_WALKED + CANNOT)[number]
    assert objects.is_opaque(value) is (number >= len(CAN_BE_WALKED))


def test_items_are_those_that_pythons_own_class_gives() -> None:
    class Closed(dict[str, int]):
        values = __iter__ = refuse  # type: ignore[assignment]

    assert [*objects.items_of(Closed(a=1), 0)] == [1]
    assert [*objects.items_of(Raising([1, 2, 3]), 0)] == [1, 2, 3]
    assert {*objects.items_of(frozenset((1, 2)), 0)} == {1, 2}
    assert [*objects.items_of(itertools.count(), 2)] == [0, 1]


def test_functions_classes_and_modules_have_names_and_what_decorators_wrap_is_found() -> None:
    @functools.wraps(len)
    def wrapper(value: Any) -> int:
        return len(value)

    class Everything:
        def __getattr__(self, name: str) -> Any:
            return self

    class OfOther:
        __name__ = vars(type(len))["__name__"]

    class Named(type):
        __name__ = property(refuse)

    class Meta(metaclass=Named):
        """Its metaclass says what it is called."""

    values = (refuse, Bag, Meta, ast, len, [].append, Endless().__iter__, OfOther(), Bag(), 3)
    names = ["refuse", "Bag", "Meta", "ast", "len", "append", "__iter__", "", "", ""]
    assert [*map(objects.name_of, values)] == names
    assert objects.name_of(SimpleNamespace(__name__=3)) == ""
    value = Everything()
    assert [*map(objects.unwrap, (wrapper, value, 3))] == [len, value, 3]


def test_a_value_comes_from_a_package() -> None:
    own = __name__.partition(".")[0]
    module = ModuleType("a.b")
    values = (np.linalg, np.ones, np.matrix, np.ma.masked, module, refuse, Bag(), Bag)
    assert [*map(objects.package_of, values)] == [*["numpy"] * 4, "a", *[own] * 3]
    in_c = (np.ndarray, np.float32, np.zeros(2), np.random.default_rng, np.random.default_rng())
    assert {*map(objects.package_of, in_c)} == {"numpy"}
    assert [*map(objects.package_of, (3, "a", int, len, print))] == [""] * 5
    assert objects.package_of(SimpleNamespace(__module__="c.d")) == "c"


def test_a_token_is_that_of_one_object() -> None:
    class Thing:
        """Can be referred to weakly."""

    one, other = Thing(), Thing()
    assert objects.token(one) == objects.token(one) != objects.token(other)
    before = objects.token(one)
    del one
    assert before not in {objects.token(Thing()) for _ in range(10)}
    owner = Thing()
    assert objects.token(MethodType(print, owner)) == objects.token(MethodType(print, owner))
    assert objects.token(MethodType(print, owner)) != objects.token(MethodType(print, other))
    assert objects.token(3) == id(3) != objects.token(4)  # what cannot be referred to weakly


def test_a_living_token_is_that_of_equal_methods_while_one_is_there() -> None:
    owner = Bag()
    method = MethodType(print, owner)
    before = objects.living_token(method)
    assert objects.living_token(MethodType(print, owner)) == before
    del method
    assert objects.living_token(MethodType(print, owner)) != before
    assert objects.living_token(owner) == objects.token(owner)


def test_tokens_keep_nothing_and_are_forgotten_with_their_objects() -> None:
    owner = Bag()
    method, key = MethodType(refuse, owner), id(owner)
    objects.living_token(method)
    equal = objects.token(method)
    assert (key in objects._tokens, equal in objects._methods) == (True, True)
    seen = weakref.ref(owner), weakref.ref(method)
    del owner, method
    assert [each() for each in seen] == [None, None]
    assert (key in objects._tokens, equal in objects._methods) == (False, False)
