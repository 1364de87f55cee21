"""Tensors that a call may change: copies for what it is given, the rest is put back."""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MethodType
from typing import Any

import torch

from ipyjaxbench.adapters.torch import trees
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import Call, is_exactly, is_of


def call_with_copies(call: Call) -> Call:
    """Return the same call of copies: of its arguments, and of the object that is called."""
    memo: dict[int, Any] = {}
    for leaf in trees.leaves((call.args, dict(call.kwargs))):
        if is_of(leaf, torch.Tensor) and not isinstance(leaf, torch.nn.Parameter):
            memo[id(leaf)] = leaf.detach().clone().requires_grad_(leaf.requires_grad)
    function: Any = call.function
    if is_of(function, MethodType):
        function = MethodType(function.__func__, _copied(function.__self__, memo))
    elif is_of(function, torch.nn.Module):
        function = _copied(function, memo)
    args = tuple(_copied(arg, memo) for arg in call.args)
    kwargs = {name: _copied(value, memo) for name, value in call.kwargs.items()}
    return replace(call, function=function, args=args, kwargs=kwargs)


@contextmanager
def restore_tensors(found: Sequence[Any], *, is_made: bool) -> Iterator[None]:
    """Restore tensors and their gradients on leaving.

    Args:
        found: the tensors.
        is_made: whether a call is made that writes to them; else only autograd may have to do
            with them.
    """
    tensors = tuple(t for t in found if is_plain(t) and not t.is_inference() and not t.is_meta)
    gradients = [(t, t.grad, t.requires_grad) for t in tensors if t.is_leaf]
    empty = [(t, t.data) for t in found if is_lazy(t)]  # the first call gives them data
    before = []
    if is_made:  # gradients too: a backward pass adds to them
        tensors += tuple(grad for _, grad, _ in gradients if grad is not None)
        before = [(t, form_of(t), [(p, p.clone()) for p in _parts(t)]) for t in tensors]
    try:
        # What is put back was not changed, for autograd neither.
        with torch.autograd._unsafe_preserve_version_counter(tensors):
            yield
    finally:
        for tensor, gradient, requires in gradients:
            if tensor.grad is not gradient:
                tensor.grad = gradient
            if tensor.requires_grad is not requires and tensor.is_leaf:
                tensor.requires_grad_(requires)
        for tensor, form, copies in before:
            for part, values in copies:
                part.copy_(values)
            put_back(tensor, form)
        for tensor, data in empty:
            tensor.data = data


def memory(tensor: Any) -> tuple[Any, ...]:
    """Return where the numbers of a tensor are, and how they lie there."""
    if tensor.is_nested and tensor.layout is torch.strided:  # it has no shape
        lengths = tensor._nested_tensor_size().tolist(), tensor._nested_tensor_strides().tolist()
        return tensor.data_ptr(), *lengths, tensor.dtype
    if tensor.layout is torch.strided:
        return tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype
    is_coalesced = tensor.layout is torch.sparse_coo and tensor.is_coalesced()
    return tensor.shape, tensor.dtype, is_coalesced, *map(memory, sparse_parts(tensor))


def sparse_parts(tensor: Any) -> tuple[Any, ...]:
    """Return the tensors that a sparse tensor is made of now; changes in place may swap them."""
    if tensor.layout is torch.sparse_coo:
        return tensor._indices(), tensor._values()
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return tensor.ccol_indices(), tensor.row_indices(), tensor.values()
    return ()


def form_of(tensor: Any) -> Callable[[], Any]:
    """Return what gives a tensor of the same memory, shape and layout as it has now.

    A sparse tensor may change the shapes of its parts in place, so that one which shares these
    would go with it: it is made anew, of aliases that keep theirs.
    """
    if not (parts := _parts_apart(tensor)):
        data = tensor.detach()
        return lambda: data
    shape, layout = tensor.shape, tensor.layout
    if layout is not torch.sparse_coo:
        return lambda: torch.sparse_compressed_tensor(
            *(each.detach() for each in parts), shape, layout=layout, check_invariants=False
        )
    is_coalesced = tensor.is_coalesced()
    return lambda: torch.sparse_coo_tensor(
        *(each.detach() for each in parts), shape, is_coalesced=is_coalesced,
        check_invariants=False,
    )  # fmt: skip


def put_back(tensor: Any, form: Callable[[], Any]) -> bool:
    """Give a tensor the memory, shape and layout that it had; return whether that was possible."""
    data = form()
    if memory(tensor) == memory(data):
        return True
    if not sparse_parts(data) or data.layout is torch.sparse_coo:
        tensor.data = data
        return True
    with torch.no_grad():  # by `data` one that is compressed keeps the parts that it has
        tensor.resize_as_sparse_(data)
    return memory(tensor) == memory(data)


def _parts_apart(tensor: Any) -> list[Any]:
    return [each.detach() for each in sparse_parts(tensor.detach())]


def _parts(tensor: Any) -> list[Any]:
    """Return tensors of the memory of its numbers: its own, unless it is sparse."""
    return _parts_apart(tensor) or [tensor.data]


def is_lazy(tensor: object) -> bool:
    """Whether a parameter gets its shape by the first call."""
    return is_of(tensor, torch.nn.parameter.UninitializedTensorMixin)


def is_plain(tensor: object) -> bool:
    """Whether a value is a tensor of the kind that users have, with data of its own."""
    return is_exactly(tensor, torch.Tensor, torch.nn.Parameter) and not (
        torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    )


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    try:
        return copy.deepcopy(value, memo)
    except CODE_ERRORS:  # it allows no copy: its tensors are put back
        return value
