"""Copies of PyTorch's tensors: the methods that move and read them."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from ipyjaxbench.adapters.torch import devices, trees
from ipyjaxbench.device import HOST, SHARES, Crossing, CrossingWatch, Tell, TransferWatch, module_of
from ipyjaxbench.host import Clock
from ipyjaxbench.usercode import is_exactly, is_of
from ipyjaxbench.usercode import module_of as class_module

_now = Clock.elapsed().now
#: Those of other classes are made for tracing, or send what is done to them on to these.
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_ENSURES = ("cpu", "cuda", "xpu")
_MOVES = ("to", "cpu", "cuda", "xpu", "pin_memory", "copy_")
_READS = ("numpy", "item", "tolist", "__float__", "__int__", "__bool__", "__index__", "__complex__")


class TorchCrossings(CrossingWatch):
    """Methods of `torch.Tensor`, replaced for a while.

    No mode of PyTorch's is used, since compiled functions run uncompiled below one. While functions
    are compiled the methods are the original ones, so that what is compiled is what would be.
    """

    gaps = ("copies that PyTorch makes without a method of the tensor, such as for boolean masks",)
    _inside = False

    def __init__(self, tell: Tell) -> None:
        super().__init__(tell)
        names = {*_MOVES, *_READS}
        self._own = {n: method for n, method in vars(torch.Tensor).items() if n in names}

    def _listen(self) -> None:
        self._stack.callback(self._set_methods, {})
        self._set_methods(self._wrapped())
        dynamo: Any = sys.modules.get("torch._dynamo.callback")  # it is not loaded by looking
        handler = getattr(dynamo, "callback_handler", None)
        if handler is None:
            return
        for begins, remove, register in (
            (True, handler.remove_start_callback, handler.register_start_callback),
            (False, handler.remove_end_callback, handler.register_end_callback),
        ):
            callback = partial(self._compiling, begins)
            register(callback)
            self._stack.callback(remove, callback)

    def _compiling(self, begins: bool, *_: object) -> None:  # noqa: FBT001  PyTorch's to choose
        self._set_methods({} if begins else self._wrapped())

    def _wrapped(self) -> dict[str, Callable[..., Any]]:
        inherited = torch.Tensor.__mro__[1]
        own = {name: self._own.get(name) or getattr(inherited, name) for name in (*_MOVES, *_READS)}
        return {
            name: (self._moving if name in _MOVES else self._reading)(method)
            for name, method in own.items()
        }

    def _set_methods(self, wrapped: Mapping[str, Callable[..., Any]]) -> None:
        """Have the tensor's methods replaced; those that are left out are as they were."""
        for name in (*_MOVES, *_READS):
            if name in wrapped:
                setattr(torch.Tensor, name, wrapped[name])
            elif name in self._own:
                setattr(torch.Tensor, name, self._own[name])
            elif name in vars(torch.Tensor):
                delattr(torch.Tensor, name)

    def _moving(self, old: Callable[..., Any]) -> Callable[..., Any]:
        def move(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if self._is_no_business(tensor):
                return old(tensor, *args, **kwargs)
            other = args[0] if old.__name__ == "copy_" and args else None
            before = other if isinstance(other, torch.Tensor) else tensor
            result, waited, spent = self._timed(lambda: old(tensor, *args, **kwargs))
            source, target = _place(before), _place(result)
            if source != target and "meta" not in (source, target):
                self._told(source, target, before, spent, waited)
            elif old.__name__ in _ENSURES and result is tensor:
                self._told(source, target, before, spent, waited, SHARES)
            return result

        return move

    def _reading(self, old: Callable[..., Any]) -> Callable[..., Any]:
        def read(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if self._is_no_business(tensor):
                return old(tensor, *args, **kwargs)
            result, waited, spent = self._timed(lambda: old(tensor, *args, **kwargs))
            why = SHARES if tensor.device.type == "cpu" else ""  # the host reads it in place
            self._told(_place(tensor), HOST, tensor, spent, waited, why)
            return result

        return read

    def call(
        self,
        function: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        make: Callable[[], Any],
    ) -> Any:
        """Functions of PyTorch's that make a tensor of NumPy's arrays."""
        __tracebackhide__ = True
        given = [*args, *kwargs.values()]
        theirs = [each for each in given if class_module(type(each)) == "numpy" and _size(each)]
        if not theirs or module_of(function) != "torch":
            return make()
        devices.drain()
        start = _now()
        result = make()
        made = [each for each in trees.leaves(result) if is_of(each, torch.Tensor)]
        for each in made[:1]:
            devices.drain()
            spent = _now() - start
            shares = _place(each) == "cpu" and each.data_ptr() == theirs[0].ctypes.data
            self._told(HOST, _place(each), each, spent, 0, SHARES if shares else "")
        return result

    def _is_no_business(self, tensor: Any) -> bool:
        """Whether a tensor holds no data, or is part of a copy that is told already."""
        is_plain = is_exactly(tensor, *_PLAIN)
        return torch.compiler.is_compiling() or self._inside or not is_plain

    def _timed(self, make: Callable[[], Any]) -> tuple[Any, int, int]:
        __tracebackhide__ = True
        start = _now()
        devices.drain()  # work that the target has still to do is no part of the copy
        middle = _now()
        self._inside = True
        try:
            result = make()
        finally:
            self._inside = False
        if isinstance(result, torch.Tensor):
            devices.drain()
        return result, middle - start, _now() - middle

    def _told(
        self, source: str, target: str, tensor: Any, spent: int, waited: int, why: str = ""
    ) -> None:
        dtype = str(tensor.dtype).removeprefix("torch.")
        nbytes = tensor.numel() * tensor.element_size()
        self._tell(
            Crossing(source, target, dtype, tuple(tensor.shape), nbytes, spent * 1e-9,
                     waited * 1e-9, why)
        )  # fmt: skip


def _size(value: Any) -> int:
    return int(getattr(value, "size", 0))


def _place(tensor: Any) -> str:
    pinned = tensor.device.type == "cpu" and torch.cuda.is_initialized() and tensor.is_pinned()
    return f"{tensor.device} pinned" if pinned else str(tensor.device)


class TorchTransfers(TransferWatch):
    """Methods of tensors."""

    def watch(self, on_copy: Tell) -> TorchCrossings:
        """Methods that move and read tensors, and calls seen from outside."""
        return TorchCrossings(on_copy)
