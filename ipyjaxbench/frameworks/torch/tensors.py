"""Tensors that a call may change: copies for what it is given, the rest is put back."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import CodeType, FunctionType, MethodType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ipyjaxbench.expression import Call


def on_copies(call: Call) -> Call:
    """The same call of copies: of its arguments, and of the object that is called."""
    memo: dict[int, Any] = {}
    for leaf in pytree.tree_leaves((call.args, dict(call.kwargs))):
        if isinstance(leaf, torch.Tensor) and not isinstance(leaf, torch.nn.Parameter):
            memo[id(leaf)] = leaf.detach().clone().requires_grad_(leaf.requires_grad)
    function: Any = call.function
    if isinstance(function, MethodType):
        function = MethodType(function.__func__, _copied(function.__self__, memo))
    elif isinstance(function, torch.nn.Module):
        function = _copied(function, memo)
    args = tuple(_copied(arg, memo) for arg in call.args)
    kwargs = {name: _copied(value, memo) for name, value in call.kwargs.items()}
    return replace(call, function=function, args=args, kwargs=kwargs)


@contextmanager
def put_back(call: Call, *, is_made: bool) -> Iterator[None]:
    """Tensors that the call can reach are afterwards as they were, and so are their gradients.

    Args:
        call: its function names what it can reach beside its arguments.
        is_made: whether it writes to tensors, all of which are copied then. Tracing gives them
            gradients, and writes to single numbers alone, with which PyTorch computes meanwhile.
    """
    found = {id(t): t for t in _reached((call.function, call.args, call.kwargs), set())}
    tensors = tuple(t for t in found.values() if not t.is_inference() and not t.is_meta)
    gradients = [(t, t.grad) for t in tensors if t.is_leaf]
    written = (*tensors, *(g for _, g in gradients if g is not None))
    before = [(t, t.detach().clone()) for t in written if is_made or t.numel() == 1]
    try:
        # What is put back was not changed, for autograd neither.
        with torch.autograd._unsafe_preserve_version_counter(tensors):
            yield
    finally:
        for tensor, gradient in gradients:
            tensor.grad = gradient
        for tensor, values in before:
            tensor.data.copy_(values)


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    try:
        return copy.deepcopy(value, memo)
    except Exception:  # noqa: BLE001  it allows no copy: its tensors are put back
        return value


def _reached(value: Any, seen: set[int]) -> Iterator[Any]:
    """Tensors in a value; those that functions name are among them."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, torch.Tensor):
        yield value
        return
    for part in _parts(value):
        yield from _reached(part, seen)


def _parts(value: Any) -> Sequence[Any]:
    if isinstance(value, torch.nn.Module):
        classes = {type(module) for module in value.modules()}
        return [*value.parameters(), *value.buffers(), *(each.forward for each in classes)]
    if isinstance(value, torch.optim.Optimizer):
        return [value.param_groups, dict(value.state)]
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, FunctionType):
        cells = (_content(cell) for cell in value.__closure__ or ())
        names = _names_in(value.__code__)
        return [*cells, *(value.__globals__[n] for n in names if n in value.__globals__)]
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, list | tuple | set):
        return list(value)
    own = getattr(type(value), "__dict__", {}).get("__call__")
    return [own, *vars(value).values()] if own is not None and hasattr(value, "__dict__") else []


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names_in(each)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None
