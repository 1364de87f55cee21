"""The functions that code can reach: those that it names, and what these name."""

import json
from collections.abc import Iterator
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


def test_values_are_those_that_the_users_functions_use() -> None:
    found = find_reach([outer, json.dumps], [Python()]).values
    assert {n: v for n, v in found.items() if n.isupper()} == {"ITEMS": ITEMS, "FACTOR": 2.0}
    assert not {"inner", "json", "_default_encoder"} & found.keys()


@pytest.mark.parametrize(
    ("value", "reached"),
    [
        (partial(inner), {"partial", "inner"}), ({"a": [(inner,)]}, {"inner"}),
        (Trainer(inner), {"inner", "outer", "method"}), (SimpleNamespace(a=inner), {"inner"}),
        (Trainer(inner).method, {"method", "outer", "inner"}), (Trainer, {"Trainer"}), (3, set()),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_holds_functions_leads_to_them(value: object, reached: set[str]) -> None:
    assert {*functions(value)} - {"__init__", "json"} == reached


def test_steps_are_followed_as_far_as_is_said() -> None:
    chain: Any = inner
    for _ in range(4):
        chain = [chain]
    assert functions(chain, depth=5) == ["inner"]
    assert functions(chain, depth=4) == []
    assert functions([chain]) == ["inner"]  # six steps
    assert functions([[chain]]) == []


def test_of_very_many_values_the_first_ones_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachable_functions, "_MAX_REACHED", 3)
    many = [0.5, 1.5, inner, outer]
    assert functions(many) == functions(*many) == ["inner"]


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

    def names(*compilers: Any) -> Iterator[str]:
        found = find_eager_functions([eager], [Python()], compilers)
        return (function.__name__ for function in found)  # type: ignore[attr-defined]

    assert {*names()} == {"eager", "compiled", "inner", "apart"}
    assert {*names(refuses, lambda value: value is compiled)} == {"eager", "apart"}


def test_what_was_wrapped_to_be_compiled_is_not_eager() -> None:
    class Compiled:
        def __call__(self) -> float:
            return inner(1.0)

    wrapper: Any = Compiled()
    wrapper.__wrapped__ = inner
    of_torch: Any = Compiled()
    of_torch._torchdynamo_orig_callable = inner
    for value in (wrapper, of_torch):
        found = find_eager_functions([value], [Python()], [lambda each: type(each) is Compiled])
        assert inner not in [*found]
