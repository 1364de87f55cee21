"""Tensors that a call names beside its inputs: it meets ones without data in their place."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from ipyjaxbench.adapters.torch.tensors import is_plain
from ipyjaxbench.usercode import is_opaque

#: What reads a tensor's values into Python or NumPy, and gives no tensor.
_READS = {
    torch.Tensor.numpy,
    torch.Tensor.tolist,
    torch.Tensor.__array__,
    torch.Tensor.__repr__,
    torch.Tensor.__format__,
}


class StandIns:
    """For each of the user's tensors one without data, which a mode of PyTorch's makes."""

    def __init__(self, mode: Any) -> None:
        self._mode = mode
        self._fakes: dict[int, Any] = {}
        self._real: dict[int, torch.Tensor] = {}
        self._versions: dict[int, int] = {}

    def fake(self, tensor: torch.Tensor) -> Any:
        """Return what stands for a tensor; of one that PyTorch cannot do without, itself."""
        if id(tensor) not in self._fakes:
            with _disable_current_modes(), self._mode:
                self.add(tensor, self._mode.from_tensor(tensor))
        return self._fakes[id(tensor)]

    def add(self, tensor: torch.Tensor, fake: Any, *, is_input: bool = True) -> None:
        """Have a tensor without data stand for the user's.

        Unless it is an input it is part of the program, and so is the value of a single number.
        """
        self._fakes[id(tensor)], self._real[id(fake)] = fake, tensor
        self._versions[id(tensor)] = _version(fake)
        if is_input and getattr(fake, "item_memo", None) is not None:
            fake.item_memo = None  # a number, which PyTorch 2.14 would make part of the program
        elif not is_input and tensor.numel() == 1:
            with _disable_current_modes():
                fake.constant = tensor.detach().clone()
            self._mode.fake_tensor_converter.add_constant_storage_mapping(fake)

    def add_constants(self, tensors: Iterable[torch.Tensor]) -> None:
        """Make stand-ins for tensors beside the inputs."""
        for tensor in tensors:
            if id(tensor) not in self._fakes and is_plain(tensor):
                self.add(tensor, self.fake(tensor), is_input=False)

    def real(self, value: Any) -> Any:
        """Return the user's tensor that one stands for; any other value itself."""
        return self._real.get(id(value), value)

    @contextmanager
    def replace_named(self) -> Iterator[None]:
        """Have the user's code meet them wherever it names a tensor."""
        with _Rest(self), _Named(self):
            yield

    def swap(self, values: Any) -> Any:
        """Replace the tensors in values that are known by what stands for them."""
        return pytree.tree_map_only(torch.Tensor, lambda t: self._fakes.get(id(t), t), values,
                                    is_leaf=is_opaque)  # fmt: skip

    def is_unwritten(self, value: Any) -> bool:
        """Whether a tensor is one for which another stands, to which nothing was written."""
        fake = self._fakes.get(id(value))
        return fake is not None and 0 <= _version(fake) == self._versions[id(value)]


class _Named(TorchFunctionMode):
    """Changes arguments before autograd sees them: the user's tensors become part of no graph."""

    def __init__(self, stand_ins: StandIns) -> None:
        super().__init__()
        self._stand_ins = stand_ins

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _READS and self._stand_ins.is_unwritten(args[0]):
            with _disable_current_modes():  # NumPy might write to it
                return func(args[0].detach().clone(), *args[1:], **(kwargs or {}))
        args, kwargs = self._stand_ins.swap((args, kwargs or {}))
        return self._stand_ins.real(func(*args, **kwargs))


class _Rest(TorchDispatchMode):
    """Changes the arguments of operations, for tensors that were met in no other way."""

    supports_higher_order_operators = True

    def __init__(self, stand_ins: StandIns) -> None:
        super().__init__()
        self._stand_ins = stand_ins

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _LIFTED:  # torch.tensor makes a tensor of numbers, which only it has
            return func(*args, **(kwargs or {}))

        def fake(tensor: Any) -> Any:
            return self._stand_ins.fake(tensor) if is_plain(tensor) else tensor

        args, kwargs = pytree.tree_map_only(torch.Tensor, fake, (args, kwargs or {}))
        return func(*args, **kwargs)


def _version(tensor: Any) -> int:
    """Return how often a tensor was written to; -1 where PyTorch does not count."""
    return -1 if tensor.is_inference() else int(tensor._version)


def truth_is_asked(frame: FrameType) -> bool:
    """Whether in this frame a tensor is asked whether it is true, as ``if`` does."""
    is_met = frame.f_code is _Named.__torch_function__.__code__
    return is_met and frame.f_locals["func"] is torch.Tensor.__bool__


_LIFTED = (torch.ops.aten.lift_fresh.default, torch.ops.aten.lift_fresh_copy.default)
