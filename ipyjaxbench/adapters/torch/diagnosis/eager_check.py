"""What a call gives as Python runs it: what is to be written instead has to give it traced."""

import contextlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from types import FunctionType
from typing import Any

import torch

from ipyjaxbench.adapters.torch import tensors, trees
from ipyjaxbench.adapters.torch.graphs import arguments, aten, dynamo_state, isolation
from ipyjaxbench.adapters.torch.graphs.program import is_outside_torch
from ipyjaxbench.frameworks import find_reach
from ipyjaxbench.usercode import Call, OutOfTimeError, has_side_effects, package_of, time_limit

_MOST_NUMBERS = 2**20  # numbers that the call can reach
_MOST_SECONDS = 2.0
_TOLERANCE = 3e-4


class Eager:
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
        """The numbers that it gives; None where that cannot be told."""
        return _made(self._call) if self._has_values and _may_be_made(self._call) else None

    def again(self) -> "Eager":
        """The same call, to be made anew: its code is another one by now."""
        return Eager(self._call, has_values=self._has_values)

    def differs(self) -> bool:
        """Whether the call, traced now, gives something else; no where that cannot be told."""
        expected = self.result
        actual = _traced(self._call) if expected is not None else None
        return expected is not None and actual is not None and not _are_same(expected, actual)


def _may_be_made(call: Call) -> bool:
    if sum(tensor.numel() for tensor in isolation.TorchUndoLog(call).tensors) > _MOST_NUMBERS:
        return False
    used = find_reach([call.function], ()).functions
    codes = [each.__code__ for each in used if type(each) is FunctionType]
    return not has_side_effects(code for code in codes if is_outside_torch(code.co_filename))


def _made(call: Call) -> list[Any] | None:
    copied = tensors.call_with_copies(call)
    try:
        with isolation.keep_settings(), _alone(), isolation.undo_changes(copied, is_made=True):
            generator = torch.get_rng_state()
            found = _numbers(copied.function(*copied.args, **copied.kwargs))
            return found if torch.equal(generator, torch.get_rng_state()) else None
    except (Exception, OutOfTimeError):  # noqa: BLE001  the user's code may raise anything
        return None


def _traced(call: Call) -> list[Any] | None:
    """What the program of a call gives, with Python's numbers in it as they are traced."""

    def of_tensors(*args: Any, **kwargs: Any) -> Any:
        found = call.function(*args, **kwargs)
        return trees.map_leaves(lambda it: torch.as_tensor(it) if _is_data(it) else it, found)

    vars(of_tensors)["__wrapped__"] = call.function  # what it changes is found through that
    try:
        with isolation.keep_settings(), _alone():
            graph: Any = aten.trace(replace(call, function=of_tensors)).program
            copied = tensors.call_with_copies(call)
            with torch.no_grad(), isolation.undo_changes(call, is_made=True):
                return _numbers(graph(*arguments.inputs_of(copied).tensors))
    except (Exception, OutOfTimeError):  # noqa: BLE001  dynamo may trace what this cannot
        return None


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    with (
        contextlib.redirect_stdout(io.StringIO()),
        dynamo_state.keep_records(),
        time_limit(_MOST_SECONDS, is_outside_torch),
    ):
        yield


def _numbers(result: Any) -> list[Any]:
    """Copies of the tensors and numbers in a result, in their order."""
    leaves = trees.leaves(result)
    return [torch.as_tensor(leaf).detach().clone() for leaf in leaves if _is_data(leaf)]


def _is_data(leaf: Any) -> bool:
    """Whether a leaf is a tensor, an array or a number."""
    kinds = (torch.Tensor, bool, int, float, complex)
    return isinstance(leaf, kinds) or package_of(type(leaf)) == "numpy"


def _are_same(expected: Sequence[Any], actual: Sequence[Any]) -> bool:
    return len(expected) == len(actual) and all(map(_is_same, expected, actual))


def _is_same(expected: Any, actual: Any) -> bool:
    """Whether two tensors hold the same numbers; what was a Python number has a wider type."""
    if expected.shape != actual.shape:
        return False
    a, b = (each.to("cpu", torch.complex128) for each in (expected, actual))
    return bool(torch.allclose(a, b, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True))
