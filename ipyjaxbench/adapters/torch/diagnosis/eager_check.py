"""What a call gives as Python runs it: what is to be written instead has to give it traced."""

import _weakrefset
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from types import FunctionType
from typing import Any

import torch

from ipyjaxbench.adapters.shared.diagnosis.eager import MAX_NUMBERS, TOLERANCE, are_same, attempt
from ipyjaxbench.adapters.torch import tensors, trees
from ipyjaxbench.adapters.torch.graphs import arguments, aten, dynamo_state, isolation
from ipyjaxbench.adapters.torch.graphs.program import is_outside_torch
from ipyjaxbench.frameworks import find_reach
from ipyjaxbench.usercode import Call, has_side_effects, package_of


class EagerCall:
    """A call that is made without the tracer when its result is first asked for.

    It is made on copies, within two seconds, and what it changes is put back.

    Args:
        call: a plain one; it is not made where it reaches much, acts on the world, or draws.
        has_values: whether its tensors have any.
    """

    def __init__(self, call: Call, *, has_values: bool) -> None:
        self._call, self._has_values = call, has_values

    @cached_property
    def result(self) -> list[Any] | None:
        """The numbers that it gives; None where that cannot be known."""
        return _made(self._call) if self._has_values and _may_be_made(self._call) else None

    def again(self) -> "EagerCall":
        """Return the same call, to be made anew: its code is another one by now."""
        return EagerCall(self._call, has_values=self._has_values)

    def agrees(self) -> bool | None:
        """Whether the call, traced now, gives the same; None where that cannot be known."""
        expected = self.result
        actual = _traced(self._call) if expected is not None else None
        if expected is None or actual is None:
            return None
        return are_same(expected, actual, _is_same)


def _may_be_made(call: Call) -> bool:
    if sum(tensor.numel() for tensor in isolation.TorchUndoLog(call).tensors) > MAX_NUMBERS:
        return False
    used = find_reach([call.function], ()).functions
    codes = [function.__code__ for function in used if type(function) is FunctionType]
    return not has_side_effects(code for code in codes if is_outside_torch(code.co_filename))


def _made(call: Call) -> list[Any] | None:
    def eager() -> list[Any] | None:
        copied = tensors.call_with_copies(call)
        with isolation.undo_changes(copied, is_made=True):
            generator = torch.get_rng_state()
            numbers = _numbers(copied.function(*copied.args, **copied.kwargs))
            return numbers if torch.equal(generator, torch.get_rng_state()) else None

    return _attempt(eager)


def _traced(call: Call) -> list[Any] | None:
    """Return what the program of a call gives, with Python's numbers in it as they are traced."""

    def of_tensors(*args: Any, **kwargs: Any) -> Any:
        result = call.function(*args, **kwargs)
        return trees.map_leaves(lambda it: torch.as_tensor(it) if _is_data(it) else it, result)

    def traced() -> list[Any]:
        graph: Any = aten.trace(replace(call, function=of_tensors)).program
        copied = tensors.call_with_copies(call)
        with torch.no_grad(), isolation.undo_changes(call, is_made=True):
            return _numbers(graph(*arguments.inputs_of(copied).tensors))

    vars(of_tensors)["__wrapped__"] = call.function  # what it changes is found through that
    return _attempt(traced)


def _attempt(compute: Callable[[], list[Any] | None]) -> list[Any] | None:
    with isolation.keep_settings(), dynamo_state.keep_records():
        return attempt(compute, _is_limited)


def _is_limited(file: str) -> bool:
    """Whether code ends with its time: Python prints, and drops, what a weak callback raises."""
    return is_outside_torch(file) and file not in (weakref.__file__, _weakrefset.__file__)


def _numbers(result: Any) -> list[Any]:
    """Return copies of the tensors and numbers in a result, in their order."""
    leaves = trees.leaves(result)
    return [torch.as_tensor(leaf).detach().clone() for leaf in leaves if _is_data(leaf)]


def _is_data(leaf: Any) -> bool:
    """Whether a leaf is a tensor, an array or a number."""
    kinds = (torch.Tensor, bool, int, float, complex)
    return isinstance(leaf, kinds) or package_of(type(leaf)) == "numpy"


def _is_same(expected: Any, actual: Any) -> bool:
    """Whether two tensors hold the same numbers; what was a Python number has a wider type."""
    if expected.shape != actual.shape:
        return False
    a, b = (tensor.to("cpu", torch.complex128) for tensor in (expected, actual))
    return bool(torch.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True))
