"""The functions that code can reach: those that it names, and what these name."""

import json
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.adapters.python import Python
from ipyjaxbench.frameworks import reachable_functions
from ipyjaxbench.frameworks.reachable_functions import find_eager_functions, find_reach
from tests.fake_framework import FakeFramework

FACTOR = 2.0
ITEMS = [1]


def inner(x: float) -> float:
    return x * FACTOR


def outer(x: float) -> float:
    ITEMS.append(len(json.dumps(x)))
    return inner(x)


class Trainer:
    """Holds a function, and has a method that names one."""

    def __init__(self, step: Any) -> None:
        self.held = step

    def method(self) -> float:
        return outer(1.0)


def functions(*values: object, **options: Any) -> list[str]:
    found = find_reach(values, [Python(), FakeFramework()], **options).functions
    return [getattr(each, "__name__", type(each).__name__) for each in found]


def test_functions_modules_and_what_functions_name_are_reached_each_once() -> None:
    assert functions(outer, outer) == ["outer", "json", "inner"]
    module = ModuleType("of_a_test")  # which is not entered
    module.inner = inner  # type: ignore[attr-defined]
    assert find_reach([module], [Python()]).functions == [module]
    found = find_reach([outer, json.dumps], [Python()]).values  # that the user's functions use
    assert {n: v for n, v in found.items() if n.isupper()} == {"ITEMS": ITEMS, "FACTOR": 2.0}
    assert not {"inner", "json", "_default_encoder"} & found.keys()


@pytest.mark.parametrize(("value", "reached"), [
    (partial(inner), {"partial", "inner"}), ({"a": [(inner,)]}, {"inner"}),
    (Trainer(inner), {"inner", "outer", "method"}), (SimpleNamespace(a=inner), {"inner"}),
    (Trainer(inner).method, {"method", "outer", "inner"}), (Trainer, {"Trainer"}), (3, set()),
], ids=lambda value: type(value).__name__)  # fmt: skip
def test_what_holds_functions_leads_to_them(value: object, reached: set[str]) -> None:
    assert {*functions(value)} - {"__init__", "json"} == reached


def test_steps_are_followed_as_far_as_is_said() -> None:
    chain: Any = [[[[inner]]]]
    assert [functions(chain, depth=depth) for depth in (5, 4)] == [["inner"], []]
    assert functions([[[[[[chain]]]]]]) == ["inner"]


def test_of_very_many_the_nearest_are_looked_at_and_that_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Data count for nothing, and half of the room is left to what the first ones lead to."""
    monkeypatch.setattr(reachable_functions, "_MOST", 20)  # a function counts for five
    data = [0.5, *map(str, range(99))]
    assert [functions(*data, outer), functions([*data, outer])] == [["outer", "json", "inner"]] * 2
    several = [lambda: inner, lambda: outer, lambda: ITEMS, lambda: FACTOR]
    assert functions(*several) == ["<lambda>", "<lambda>", "inner"]
    cut = [find_reach(values, [Python()]).is_cut for values in (several, several[:1], data)]
    assert cut == [True, False, False]


def test_what_a_frameworks_own_functions_use_is_not_followed() -> None:
    names: dict[str, Any] = {"__name__": "tests.fake_framework", "inner": inner}
    exec("def theirs(): return inner", names)
    names["theirs"].__module__ = "tests"
    fake = FakeFramework()
    fake.module = "tests"
    assert find_reach([names["theirs"]], [fake]).functions == [names["theirs"]]
    assert inner in find_reach([names["theirs"]], [Python()]).functions


def test_functions_that_a_framework_compiles_are_not_eager_nor_what_they_call() -> None:
    def compiled(x: float) -> float:
        return inner(x)

    def eager() -> float:
        return compiled(apart(1.0))

    def apart(x: float) -> float:
        return x

    def refuses(value: object) -> bool:
        raise RuntimeError("it cannot be asked")

    found = find_eager_functions([eager], [Python()], ())
    assert {*found} == {eager, compiled, inner, apart}
    compilers = (refuses, lambda value: value is compiled)
    assert {*find_eager_functions([eager], [Python()], compilers)} == {eager, apart}


@pytest.mark.parametrize("name", ["__wrapped__", "_torchdynamo_orig_callable"])
def test_what_was_wrapped_to_be_compiled_is_not_eager(name: str) -> None:
    class Compiled:
        def __call__(self) -> float:
            return inner(1.0)

    value = Compiled()
    setattr(value, name, inner)
    found = find_eager_functions([value], [Python()], [lambda each: type(each) is Compiled])
    assert inner not in [*found]
