"""What calls change of PyTorch's: numbers of tensors, their gradients, generators."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from ipyjaxbench.adapters.torch import devices
from ipyjaxbench.adapters.torch.tensors import is_lazy, memory
from ipyjaxbench.frameworks import (
    CopyBudget,
    GeneratorState,
    MutableState,
    Restore,
    State,
    attribute_states,
)
from ipyjaxbench.host import filter_by_type, host_memory
from ipyjaxbench.usercode import class_dict, module_of, mro_of

#: Of their classes' modules: what they hold goes with processes and threads.
_NOT_ENTERED = ("torch.utils.data", "torch._C", "torch._dynamo", "torch.distributed", "torch.cuda")


class Storage(State):
    """The memory of tensors, which several may share.

    Args:
        storage: it.
        room: for a copy.
    """

    def __init__(self, storage: Any, room: CopyBudget) -> None:
        self._storage, self._room = storage, room
        self.nbytes = storage.nbytes()
        self._before: Any = None
        device = storage.device
        if device.type == "cuda" and room.take(
            str(device), self.nbytes, lambda: torch.cuda.mem_get_info(device)[0]
        ):
            self._before = _bits(storage).clone()
        elif room.take("host", self.nbytes, host_memory):
            bits = _bits(storage)
            self._before = bits.clone() if device.type == "cpu" else bits.cpu()
        self.can_restore = self._before is not None

    def changed(self) -> bool:
        """Whether a bit differs, where there is a copy; `Tensor` looks at the counter else."""
        if not self.can_restore or self._storage.nbytes() != self.nbytes:
            return False
        return not torch.equal(_bits(self._storage).to(self._before.device), self._before)

    def restore(self) -> None:
        """Write the old bits into the same memory."""
        _bits(self._storage).copy_(self._before)

    def again(self) -> "Storage":
        """The bits now."""
        return Storage(self._storage, self._room)


class Tensor(State):
    """Where a tensor's memory is, what its gradient is, and how often it was changed.

    Args:
        tensor: any with memory of its own.
    """

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor
        self._data = tensor.detach() if not tensor.is_inference() else None
        self._gradient = _gradient(tensor)
        self._requires = tensor.requires_grad
        self._version = None if tensor.is_inference() else tensor._version
        self._counter = None
        if self._version is not None:
            self._counter = torch.autograd._unsafe_preserve_version_counter((tensor,))

    @property
    def parts(self) -> list[Any]:
        """Its gradient."""
        return [] if self._gradient is None else [self._gradient]

    def changed(self) -> bool:
        """Whether it has another gradient, other memory, or was written to."""
        tensor = self._tensor
        with torch._C.DisableTorchFunctionSubclass():
            return bool(
                _gradient(tensor) is not self._gradient
                or tensor.requires_grad is not self._requires
                or (self._version is not None and tensor._version != self._version)
                or (self._data is not None and memory(tensor) != memory(self._data))
            )

    def restore(self) -> None:
        """Set them back; the numbers themselves are those of the memory."""
        tensor = self._tensor
        with torch._C.DisableTorchFunctionSubclass():
            if self._data is not None and memory(tensor) != memory(self._data):
                tensor.data = self._data
            if _gradient(tensor) is not self._gradient:
                tensor.grad = self._gradient
            if tensor.requires_grad is not self._requires and tensor.is_leaf:
                tensor.requires_grad_(self._requires)
            if self._counter is not None:  # what is put back was not changed, for autograd neither
                self._counter.__exit__()

    def again(self) -> "Tensor":
        """Those now."""
        return Tensor(self._tensor)


def states(value: Any, room: CopyBudget) -> list[State] | None:
    """What calls can change of a tensor or a generator.

    Args:
        value: anything.
        room: for copies.

    Returns:
        Nothing for what never changes; None for what is none of PyTorch's.
    """
    kind = type(value)
    if issubclass(kind, torch.Tensor):
        with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
            return [*_of_tensor(value, room)]
    if issubclass(kind, torch.Generator):
        return [GeneratorState(value.get_state, value.set_state)]
    is_left = issubclass(kind, torch.dtype | torch.device | torch.Size | torch.layout)
    return [] if is_left or module_of(kind).startswith(_NOT_ENTERED) else None


def _of_tensor(tensor: Any, room: CopyBudget) -> Iterator[State]:
    yield from attribute_states(tensor)
    if is_lazy(tensor) or _is_wrapper(tensor) or tensor.is_meta:
        return
    if tensor.layout is torch.strided:
        yield Tensor(tensor)
        storage = tensor.untyped_storage()
        if room.is_new(storage, ("torch", str(tensor.device), storage.data_ptr())):
            yield Storage(storage, room)
    elif tensor.layout is torch.sparse_coo:
        yield from _of_tensor(tensor._values(), room)
        yield from _of_tensor(tensor._indices(), room)


def _is_wrapper(tensor: Any) -> bool:
    """Whether its memory is that of tensors among its attributes, or of nobody."""
    disabled = torch._C._disabled_torch_dispatch_impl
    own = (class_dict(kind).get("__torch_dispatch__") for kind in mro_of(type(tensor)))
    dispatch = next((each for each in own if each is not None), disabled)
    return dispatch is not disabled or torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def _gradient(tensor: Any) -> Any:
    # Others have none, and warn when they are asked.
    return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


def _bits(storage: Any) -> Any:
    """The memory as whole numbers: as few as can be, for PyTorch has threads copy many."""
    dtype = torch.int64 if storage.nbytes() % 8 == 0 else torch.uint8
    return torch.empty(0, dtype=dtype, device=storage.device).set_(storage)


class TorchState(MutableState):
    """Numbers and gradients of tensors, and generators."""

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore:  # noqa: ARG002
        """The CPU's generator, those of devices in use, and generators among the values."""
        own = filter_by_type(values, torch.Generator)
        generators = [torch.default_generator, *own, *_device_generators()]
        states = [generator.get_state() for generator in generators]

        def restore() -> None:
            for generator, state in zip(generators, states, strict=True):
                generator.set_state(state)

        return restore

    def states(self, value: object, room: CopyBudget) -> Sequence[State] | None:
        """Numbers and gradients of tensors, and generators."""
        return states(value, room)

    def mutation_count(self, array: Any) -> int | None:
        """Autograd's version counters of the tensor and its gradient, raised by in-place work."""
        with torch._C.DisableTorchFunctionSubclass():
            if array.is_inference():
                return None
            gradient = array.grad if array.is_leaf else None
            version: int = array._version
            return version if gradient is None else version + 1 + gradient._version

    def changes_in_place(self, method: str) -> bool:
        """Their names end in an underscore."""
        return method.endswith("_") and not method.startswith("_")


def _device_generators() -> list[torch.Generator]:
    if not torch.cuda.is_initialized():
        return []
    return [
        torch.cuda.default_generators[d.index]
        for d in devices.used_accelerators()
        if d.type == "cuda"
    ]
