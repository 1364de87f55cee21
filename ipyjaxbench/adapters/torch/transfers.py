"""Copies of PyTorch's tensors: the methods that move and read them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from ipyjaxbench.adapters.torch import accelerators, trees
from ipyjaxbench.adapters.torch.compile_callbacks import while_compiling
from ipyjaxbench.device import HOST, SHARES, CopyWatch, TransferWatch, defining_package
from ipyjaxbench.usercode import is_exactly, is_of, module_of as class_module

#: Those of other classes are made for tracing, or send what is done to them on to these.
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_MOVES = ("to", "pin_memory", "copy_")
_READS = ("numpy", "item", "tolist", "__float__", "__int__", "__bool__", "__index__", "__complex__")


class TorchCopies(CopyWatch):
    """Methods of `torch.Tensor`, replaced for a while.

    No mode of PyTorch's is used, since compiled functions run uncompiled below one. While functions
    are compiled the methods are the original ones, so that what is compiled is what would be.
    """

    gaps = ("copies inside PyTorch operations, such as boolean indexing",)

    def _listen(self) -> None:
        self._replace_methods()
        self._stack.enter_context(while_compiling(self._compiling))

    def _compiling(self, begins: bool) -> None:  # noqa: FBT001  the one argument of a callback
        self._replaced.close()
        if not begins:
            self._replace_methods()

    def _replace_methods(self) -> None:
        for name in (*_MOVES, "cpu", *accelerators.modules()):
            self._replace(torch.Tensor, name, self._move)
        for name in _READS:
            self._replace(torch.Tensor, name, self._read)

    def _move(self, old: Callable[..., Any], tensor: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if not _holds_data(tensor):
            return old(tensor, *args, **kwargs)
        other = args[0] if old.__name__ == "copy_" and args else None
        before = other if isinstance(other, torch.Tensor) else tensor
        result, waited, spent = self._time_copy(partial(old, tensor, *args, **kwargs), tensor)
        source, target = _place(before), _place(result)
        if source != target and "meta" not in (source, target):
            self._report(source, target, before, spent, waited)
        elif old.__name__ not in _MOVES and result is tensor:
            self._report(source, target, before, spent, waited, SHARES)
        return result

    def _read(self, old: Callable[..., Any], tensor: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if not _holds_data(tensor):
            return old(tensor, *args, **kwargs)
        result, waited, spent = self._time_copy(partial(old, tensor, *args, **kwargs), tensor)
        why = SHARES if tensor.device.type == "cpu" else ""  # the host reads it in place
        self._report(_place(tensor), HOST, tensor, spent, waited, why)
        return result

    def call(self, function: Any, arguments: Sequence[Any], make: Callable[[], Any]) -> Any:
        """Report functions of PyTorch's that make a tensor of NumPy's arrays."""
        __tracebackhide__ = True
        arrays = [a for a in arguments if class_module(type(a)) == "numpy" and _size(a)]
        if not arrays or defining_package(function) != "torch":
            return make()
        accelerators.drain()
        start = self._now()
        result = make()
        made = [leaf for leaf in trees.leaves(result) if is_of(leaf, torch.Tensor)]
        for tensor in made[:1]:
            accelerators.drain()
            spent = self._now() - start
            shares = _place(tensor) == "cpu" and tensor.data_ptr() == arrays[0].ctypes.data
            self._report(HOST, _place(tensor), tensor, spent, 0, SHARES if shares else "")
        return result

    def _wait(self, values: Sequence[Any]) -> None:
        # Work that the target has still to do is no part of the copy.
        if any(isinstance(value, torch.Tensor) for value in values):
            accelerators.drain()

    def _dtype(self, array: Any) -> tuple[str, int]:
        return str(array.dtype).removeprefix("torch."), array.element_size()


def _holds_data(tensor: Any) -> bool:
    is_plain = is_exactly(tensor, *_PLAIN)
    return is_plain and not torch.compiler.is_compiling()


def _size(value: Any) -> int:
    return int(getattr(value, "size", 0))


def _place(tensor: Any) -> str:
    return f"{tensor.device} pinned" if accelerators.is_pinned(tensor) else str(tensor.device)


class TorchTransfers(TransferWatch):
    """Methods of tensors."""

    copies = TorchCopies
