"""Which function dynamo is given in a call, and what it is called with."""

import functools
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.adapters.torch.retracing import callee
from ipyjaxbench.adapters.torch.retracing.callee import Entered


def scaled(x: Any, by: Any = 2.0) -> Any:
    return x * by


@functools.wraps(scaled)
def around(*args: Any) -> Any:
    return scaled(*args)


class Called:
    def __call__(self, x: Any) -> Any:
        return x

    def method(self, x: Any) -> Any:
        return x


class Net(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x


class Compiled(torch.nn.Module):
    @functools.partial(torch.compile, backend="eager")
    def forward(self, x: Any) -> Any:
        return x


def compiled(function: Any) -> Any:
    return torch.compile(function, backend="eager")


CALLED, NET = Called(), Net()


@pytest.mark.parametrize(
    ("function", "args", "arguments", "name"),
    [
        (scaled, (1,), {"x": 1, "by": 2.0}, "scaled"),
        (compiled(scaled), (1, 3), {"x": 1, "by": 3}, "scaled"),
        (functools.partial(compiled(scaled), by=5), (1,), {"x": 1, "by": 5}, "scaled"),
        (around, (1, 3), {"args": (1, 3)}, "scaled"),
        (compiled(CALLED), (1,), {"self": CALLED, "x": 1}, "Called"),
        (compiled(CALLED.method), (1,), {"self": CALLED, "x": 1}, "method"),
        (compiled(NET), (1,), {"self": NET, "x": 1}, "Net"),
    ],
)
def test_arguments_are_those_of_the_function_that_runs(
    function: Any, args: tuple[Any, ...], arguments: dict[str, Any], name: str
) -> None:
    entered = Entered.from_call(function, args, {})
    assert entered is not None
    assert dict(entered.arguments) == arguments
    assert callee.display_name(function) == name


@pytest.mark.parametrize(
    ("function", "args"), [(scaled, ()), (scaled, (1, 2, 3)), (len, ([1],)), (3, ())]
)
def test_what_is_no_call_of_a_python_function_is_not_known(
    function: Any, args: tuple[Any, ...]
) -> None:
    assert Entered.from_call(function, args, {}) is None


@pytest.mark.parametrize(
    ("value", "is_taken", "is_disabled"),
    [
        (compiled(scaled), True, False),
        (compiled(NET), True, False),
        (Compiled(), True, False),
        (Compiled().forward, True, False),
        (torch.compiler.disable(scaled), True, True),
        (NET, False, False),
        (scaled, False, False),
        (3, False, False),
    ],
)
def test_what_torch_compile_made_or_left_alone_is_taken(
    value: Any, is_taken: bool, is_disabled: bool
) -> None:
    assert callee.takes(value) is is_taken
    assert callee.is_disabled(value) is is_disabled
