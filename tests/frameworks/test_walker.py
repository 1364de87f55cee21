"""Arrays inside of any value: where a walk goes, and where it ends."""

import io
import logging
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.frameworks import walker
from ipyjaxbench.frameworks.walker import Budget, find_arrays, iterate_arrays, iterate_named_arrays
from tests.fake_framework import FakeFramework
from tests.shell import Shell

FAKE = FakeFramework()


def array() -> Any:
    return FAKE.device.start(dispatch=0, work=0)


def paths(value: object, budget: Budget | None = None) -> list[str]:
    return [path for path, _, _ in iterate_named_arrays("x", value, [FAKE], budget)]


def count(value: object) -> int:
    return len(find_arrays(value, [FAKE]))


class Slots:
    """One of its slots is empty."""

    __slots__ = ("a", "empty")


class Table(Mapping[str, Any]):
    """A mapping that is no dictionary."""

    def __init__(self, **values: Any) -> None:
        self._held = values

    def __getitem__(self, key: str) -> Any:
        return self._held[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)


class Net:
    """It can be called, and has an array."""

    def __init__(self) -> None:
        self.a = array()

    def __call__(self) -> None: ...


class Odd(type):
    """Its classes are equal to all others."""

    __eq__ = lambda *_: True  # noqa: E731
    __hash__ = type.__hash__


class OfOdd(Net, metaclass=Odd):
    """An object of such a class."""


def attributed(value: Any) -> Any:
    value.a = array()
    return value


@pytest.mark.parametrize(("make", "path"), [
    (array, "x"), (lambda: [1, array()], "x[1]"), (lambda: (array(),), "x[0]"),
    (lambda: {"k": array()}, "x['k']"), (lambda: OrderedDict({1: array()}), "x[1]"),
    (lambda: deque([0, array()]), "x[1]"), ({"k": array()}.values, "x[0]"),
    (lambda: Table(k=array()), "x['k']"), (lambda: SimpleNamespace(a=array()), "x.a"),
    (lambda: attributed(Slots()), "x.a"), (lambda: partial(max, 1, array()), "x.args[1]"),
    (lambda: partial(max, key=array()), "x.keywords['key']"),
    (lambda: SimpleNamespace(f=Table(k=array()).__getitem__), "x.f.__self__['k']"),
    (lambda: attributed(partial(max)), "x.a"), (Net, "x.a"), (OfOdd, "x.a"),
])  # fmt: skip
def test_an_array_is_found_and_has_the_path_that_one_would_type(make: Any, path: str) -> None:
    value = make()
    assert paths(value) == [path]
    ((framework, found),) = find_arrays(value, [FAKE])
    assert framework is FAKE
    assert [*iterate_arrays(value, [FAKE])] == [(FAKE, found)]


def test_an_array_that_is_held_twice_is_found_once_by_its_first_path() -> None:
    one = array()
    assert paths([{"a": one}, one]) == ["x[0]['a']"]
    itself: list[Any] = [one, [one]]
    itself.append(itself)
    assert (count(itself), paths(itself)) == (1, ["x[0]"])


def test_arrays_in_sets_have_no_path_and_functions_and_classes_are_not_entered() -> None:
    for value in ({Net()}, frozenset((Net(),))):
        assert (count(value), paths(value)) == (1, [])
    held = [attributed(lambda: 0), type("Held", (), {"a": array()})]
    assert (count(held), paths(held)) == (0, [])


def test_loggers_streams_and_the_shell_lead_nowhere(shell: Shell) -> None:
    class Stream(io.StringIO):
        """One that leads on, as the one that shows the output of a kernel."""

    stream, log = Stream(), logging.Logger("a")
    stream.names = {"x": array()}  # type: ignore[attr-defined]
    log.addHandler(logging.StreamHandler(stream))
    shell.names["x"] = array()
    for value in (stream, log, log.info, log.handlers, shell.shell, {"log": Log(log)}):
        assert (count(value), paths(value)) == (0, [])
    assert paths([log, array()]) == ["x[1]"]


class Log:
    def __init__(self, log: logging.Logger) -> None:
        self.log = log


def test_no_path_is_longer_than_a_person_would_type() -> None:
    value = array()
    for _ in range(40):
        value = [value]
    assert (len(paths(value)), paths([value]), count([value])) == (1, [], 1)


def test_very_many_items_that_begin_with_1001_numbers_hold_no_arrays() -> None:
    for front in (1000, 1001):
        items = [*range(front), array()]
        keyed = dict(enumerate(items))
        found = [count(each) for each in (items, tuple(items), keyed, keyed.values(), deque(items))]
        assert found == [int(front == 1000)] * 5
    assert count([*range(500), [], *range(2000), array()]) == 1
    assert paths([*range(2000), array()]) == ["x[2000]"]  # but for those that get names
    assert paths({**dict.fromkeys(range(2000), 0), "w": array()}) == ["x['w']"]


def test_no_more_than_so_many_values_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walker, "_MAX_NODES", 10)
    arrays = [[array()] for _ in range(20)]
    assert count(arrays) == 4  # nine values: a list, and four lists of one
    assert len(paths(arrays)) == 20
    monkeypatch.setattr(walker, "_MAX_NODES", 6)
    assert len(paths(Table(**{f"k{i}": array() for i in range(9)}))) == 6
    assert len(paths(deque(arrays))) == 20


class TestBudget:
    """Objects in a row that hold no array."""

    @pytest.fixture(autouse=True)
    def small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(walker, "_MAX_PLAIN", 50)

    @pytest.mark.parametrize(("kind", "most"), [(list, 50), (dict, 50), (SimpleNamespace, 10)])
    def test_a_walk_ends_after_so_many_and_goes_on_beside_once(self, kind: type, most: int) -> None:
        budget, levels = Budget(), ["outer", "inner"]
        for _ in range(3):  # an array starts the count again
            budget.renew()
            assert [budget.take(levels, kind) for _ in range(most)] == [True] * most
        assert (levels, budget.is_spent) == (["outer", "inner"], False)
        assert not budget.take(levels, kind)
        assert (levels, budget.is_spent) == (["inner", "outer"], True)
        assert [budget.take(levels, kind) for _ in range(most // 2)] == [True] * (most // 2)
        assert not budget.take(levels, kind)
        assert levels == []

    def test_arrays_among_plain_objects_and_beside_too_many_are_found(self) -> None:
        plain = [SimpleNamespace() for _ in range(100)]
        assert count([*plain[:8], array(), *plain[8:16], array()]) == 2
        beside = [plain, array()]
        assert count(beside) == 1
        budget = Budget()
        assert paths(beside, budget) == ["x[1]"]
        assert budget.is_spent
        assert count([*plain, array()]) == 0
        number = type("float64", (float,), {})  # a library's is not counted as an object
        assert paths([[number(n) for n in range(30)], array()]) == ["x[1]"]


def _refuse(*_: object) -> Any:
    raise RuntimeError("there is nothing here")


class Unbound:
    """A proxy of nothing: to ask what it is raises, as with werkzeug's outside of a request."""

    __class__ = property(_refuse)  # type: ignore[assignment]
    __getattr__ = _refuse


class Closed(dict[str, Any]):
    """A mapping that cannot be read."""

    items = values = _refuse


class Pairs(Table):
    """A mapping that has pairs and values, the last of which cannot be had."""

    keys = _refuse

    def __iter__(self) -> Iterator[str]:
        return iter("abc")


def test_objects_that_raise_when_they_are_looked_into_hide_nothing_else() -> None:
    value = [Unbound(), Closed(a=1), array()]
    assert (count(value), paths(value)) == (1, ["x[2]"])
    assert paths(Pairs(a=array(), b=array())) == ["x['a']", "x['b']"]


def test_what_the_framework_knows_to_be_inside_is_what_is_inside() -> None:
    class Knowing(FakeFramework):
        def parts(self, value: object) -> Any:
            return [array()] * 2 if isinstance(value, Net) else None

        def named_parts(self, value: object) -> Any:
            return [("a.w", array()), ("b", array())] if isinstance(value, Net) else None

    value, frameworks = [Net()], [FAKE, Knowing()]
    assert len(find_arrays(value, frameworks)) == 1
    named = iterate_named_arrays("x", value, frameworks)
    assert [path for path, _, _ in named] == ["x[0].a.w", "x[0].b"]
