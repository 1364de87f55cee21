"""Paths to arrays as a person would type them, from Python's own view."""

import functools
from typing import Any

import numpy as np

from ipyjaxbench.locating import locate


class Net:
    """An object that can be called, and has arrays."""

    def __init__(self) -> None:
        self.w = np.array([1.0])

    def __call__(self, x: float) -> float:
        return x * self.w[0]


def paths(value: object) -> list[str]:
    return [each.name for each in locate({"x": value}).arrays if each.framework]


def test_objects_that_can_be_called_are_looked_into() -> None:
    assert paths(Net()) == ["x.w"]


def test_functions_with_arrays_bound_to_them_are_looked_into() -> None:
    net = Net()
    bound = functools.partial(max, net.w, key={"w": np.array([2.0])})
    assert paths(bound) == ["x.args[0]", "x.keywords['key']['w']"]
    assert paths(net.__call__) == ["x.__self__.w"]


def test_functions_and_classes_hold_nothing() -> None:
    def f() -> None: ...

    f.w = np.array([1.0])  # type: ignore[attr-defined]
    assert paths(f) == paths(Net) == []


def test_arrays_that_no_path_leads_to_are_told_under_the_name() -> None:
    class Slots:
        __slots__ = ("w",)

        def __init__(self) -> None:
            self.w: Any = np.array([1.0, 2.0])

    assert paths(Slots()) == ["x"]


def test_a_list_that_holds_itself_ends() -> None:
    values: list[Any] = [np.array([1.0])]
    values.append(values)
    assert paths(values) == ["x[0]"]
