"""What calls change of PyTorch's: numbers of tensors, their gradients, generators."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from ipyjaxbench.adapters.torch import accelerators
from ipyjaxbench.adapters.torch.hooks import hooks_of_nodes, is_node, new_hooks
from ipyjaxbench.adapters.torch.loading_states import loading_states
from ipyjaxbench.adapters.torch.program_states import program_states
from ipyjaxbench.adapters.torch.settings import settings
from ipyjaxbench.adapters.torch.tensors import form_of, is_lazy, memory, put_back, sparse_parts
from ipyjaxbench.frameworks import (
    CopiedState,
    CopyBudget,
    GeneratorState,
    Holder,
    MutableState,
    Restore,
    SlotNames,
    State,
    attribute_states,
    restore_together,
)
from ipyjaxbench.host import filter_by_type
from ipyjaxbench.usercode import (
    attributes,
    class_dict,
    is_of,
    module_of,
    mro_of,
    name_of,
)

#: Of their classes' modules: what they hold goes with processes and threads.
_NOT_ENTERED = ("torch._C", "torch._dynamo", "torch.distributed", "torch.cuda")


_MOST_NOTED = 1_000  # nodes of which it is looked at what is noted of them

#: By these the compiler marks tensors, in each operation on a nested one: nobody reads them.
_MARKS = frozenset((
    "_dynamo_dynamic_indices", "_dynamo_dynamic_range", "_dynamo_hint_overrides", "_specialize_on",
    "_has_dynamo_dim_marking", "_dynamo_propagated_dynamic_indices", "_dynamo_weak_dynamic_indices",
    "_dynamo_unbacked_indices", "_dynamo_static_indices",
))  # fmt: skip


class Storage(CopiedState):
    """The memory of tensors, which several may share; their counters tell more than a digest."""

    def __init__(self, storage: Any, budget: CopyBudget) -> None:
        self.is_shared = storage.device.type == "cpu" and storage.is_shared()
        super().__init__(storage, budget, storage.nbytes())

    @property
    def address(self) -> int:
        """Where the memory is; 0 where there is none, as on a meta device."""
        try:
            return int(self._target.data_ptr())
        except (RuntimeError, NotImplementedError):
            return 0

    def _take(self, target: Any) -> bool:
        device = target.device
        self._is_on_gpu = device.type == "cuda" and self._budget.take(
            str(device), self.nbytes, lambda: torch.cuda.mem_get_info(device)[0]
        )
        return self._is_on_gpu or super()._take(target)

    def _copy(self) -> Any:
        bits = _bits(self._target)
        is_here = self._is_on_gpu or self._target.device.type == "cpu"
        return bits.clone() if is_here else bits.cpu()

    def _differs(self) -> bool:
        if self._target.nbytes() != self.nbytes:
            return True
        return not torch.equal(_bits(self._target).to(self._before.device), self._before)

    def restore(self) -> None:
        """Write the old bits into the same memory, of the old length."""
        if self._target.nbytes() != self.nbytes:
            self._target.resize_(self.nbytes)
        _bits(self._target).copy_(self._before)


class Tensor(State):
    """Where a tensor's memory is, what its gradient is, and how often it was changed.

    A sparse tensor holds others, of indices and values, which it may swap: it gets back its own.
    """

    def __init__(self, tensor: Any) -> None:
        self._data = form_of(tensor) if not tensor.is_inference() else None
        self._gradient = _gradient(tensor)
        self._requires = tensor.requires_grad
        self._version = None if tensor.is_inference() else tensor._version
        self._counter = None
        if self._version is not None:
            self._counter = torch.autograd._unsafe_preserve_version_counter((tensor,))
        super().__init__(tensor)

    def again(self) -> "Tensor":
        """Return those now."""
        return Tensor(self._target)

    @property
    def parts(self) -> list[Any]:
        """Its gradient, and the functions that a backward pass calls."""
        with torch._C.DisableTorchFunctionSubclass():
            hooks = self._target._backward_hooks, self._target._post_accumulate_grad_hooks
        return [each for each in (self._gradient, *hooks) if each is not None]

    def changed(self) -> bool:
        """Whether it has another gradient, other memory, or was written to."""
        tensor = self._target
        with torch._C.DisableTorchFunctionSubclass():
            return bool(
                _gradient(tensor) is not self._gradient
                or tensor.requires_grad is not self._requires
                or (self._version is not None and tensor._version != self._version)
                or (self._data is not None and memory(tensor) != memory(self._data()))
            )

    def restore(self) -> None:
        """Set them back; the numbers themselves are those of the memory."""
        tensor = self._target
        with torch._C.DisableTorchFunctionSubclass():
            if self._data is not None and not put_back(tensor, self._data):
                raise ValueError("the parts of a sparse tensor lie elsewhere")
            if _gradient(tensor) is not self._gradient:
                tensor.grad = self._gradient
            if tensor.requires_grad is not self._requires and tensor.is_leaf:
                tensor.requires_grad_(self._requires)
            if self._counter is not None:  # what is put back was not changed, for autograd neither
                self._counter.__exit__()


class WrapperVersion(State):
    """How often a tensor was changed whose memory is that of others, as a DTensor; its gradient."""

    def __init__(self, tensor: Any) -> None:
        self._version, self._gradient = tensor._version, _gradient(tensor)
        self._counter = torch.autograd._unsafe_preserve_version_counter((tensor,))
        super().__init__(tensor)

    def again(self) -> "WrapperVersion":
        """Return that now."""
        return WrapperVersion(self._target)

    @property
    def parts(self) -> list[Any]:
        """Its gradient."""
        return [] if self._gradient is None else [self._gradient]

    def changed(self) -> bool:
        """Whether it was written to, or has another gradient."""
        tensor = self._target
        with torch._C.DisableTorchFunctionSubclass():
            is_written = tensor._version != self._version
            return bool(is_written or _gradient(tensor) is not self._gradient)

    def restore(self) -> None:
        """Set it back: the tensors that it wraps are put back by themselves."""
        with torch._C.DisableTorchFunctionSubclass():
            if _gradient(self._target) is not self._gradient:
                self._target.grad = self._gradient
            self._counter.__exit__()


def _tensor_states(tensor: Any, budget: CopyBudget) -> Iterator[State]:
    yield from _own_names(tensor)
    if is_lazy(tensor) or tensor.is_meta:
        return
    if _is_wrapper(tensor):
        if type(tensor) is not torch.Tensor and not tensor.is_inference():
            yield WrapperVersion(tensor)
        return
    dense = (tensor,) if tensor.layout is torch.strided else sparse_parts(tensor)
    if dense:
        yield Tensor(tensor)
    if tensor.grad_fn is not None:
        yield Holder(tensor, _leaves(tensor.grad_fn, budget))
    if tensor.requires_grad:
        yield from _hook_states(tensor, budget)
    for part in dense:
        yield from _storage_states(part.untyped_storage(), budget)


def _own_names(tensor: Any) -> Iterator[State]:
    """Yield its attributes, but for marks alone, and what stands in slots, as in a DTensor's."""
    is_marked_alone = _MARKS.issuperset(attributes(tensor))
    for each in attribute_states(tensor):
        if not is_marked_alone or is_of(each, SlotNames):
            yield each


def _storage_states(storage: Any, budget: CopyBudget) -> Iterator[State]:
    if budget.is_new(storage, ("torch", str(storage.device), storage.data_ptr())):
        yield Storage(storage, budget)


def _is_wrapper(tensor: Any) -> bool:
    """Whether its memory is that of tensors among its attributes, or of nobody."""
    disabled = torch._C._disabled_torch_dispatch_impl
    own = (class_dict(kind).get("__torch_dispatch__") for kind in mro_of(type(tensor)))
    dispatch = next((each for each in own if each is not None), disabled)
    return dispatch is not disabled or torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def _gradient(tensor: Any) -> Any:
    # Others have none, and warn when they are asked.
    return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


def _hook_states(value: Any, budget: CopyBudget) -> Iterator[State]:
    """Yield what leads to the hooks of nodes, once: a backward pass calls those of its graph."""
    if budget.is_new(torch.autograd.graph, ("torch", "hooks")) and (tables := hooks_of_nodes()):
        yield Holder(value, tables)


def _leaves(node: Any, budget: CopyBudget) -> list[Any]:
    """Return the tensors whose gradients a backward pass adds to, from a node of autograd's on.

    What is noted of the nearest nodes is among them.
    """
    ahead, found = deque([node]), list[Any]()
    while ahead and budget.may_look():
        node = ahead.popleft()
        if node is None or not budget.is_new(node, ("autograd", id(node))):
            continue
        ahead += (each for each, _ in node.next_functions)
        if len(found) < _MOST_NOTED:
            found.append(node.metadata)
        if name_of(type(node)) == "AccumulateGrad":
            found.append(node.variable)
    return found


def _bits(storage: Any) -> Any:
    """The memory as whole numbers: as few as can be, for PyTorch has threads copy many."""
    dtype = torch.int64 if storage.nbytes() % 8 == 0 else torch.uint8
    return torch.empty(0, dtype=dtype, device=storage.device).set_(storage)


class TorchState(MutableState):
    """Numbers and gradients of tensors, and generators."""

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore:  # noqa: ARG002
        """Remember the CPU's generator, those of devices in use, and those among the values."""
        own = [torch.default_generator, *filter_by_type(values, torch.Generator)]
        states = [GeneratorState(g.get_state, g.set_state) for g in own]
        return restore_together([*states, *accelerators.generators()])

    def states(self, value: Any, budget: CopyBudget) -> Sequence[State] | None:
        """Remember numbers and gradients of tensors, and generators."""
        kind = type(value)
        if issubclass(kind, torch.Tensor):
            with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
                return [*_tensor_states(value, budget)]
        if issubclass(kind, torch.UntypedStorage) and value.device.type != "meta":
            return [*_storage_states(value, budget)]
        if (found := program_states(value)) is not None:
            return [*found]
        if is_node(value):
            held = Holder(value, _leaves(value, budget))
            return [held, *attribute_states(value), *_hook_states(value, budget)]
        if issubclass(kind, torch.Generator):
            return [GeneratorState(value.get_state, value.set_state)]
        if (loading := loading_states(value)) is not None:
            return loading
        is_left = issubclass(kind, torch.dtype | torch.device | torch.Size | torch.layout)
        return [] if is_left or module_of(kind).startswith(_NOT_ENTERED) else None

    def settings(self) -> Iterator[tuple[str, State]]:
        """Remember dtypes, threads, modes, flags of backends, and how tensors are printed."""
        return settings()

    def left_anywhere(self) -> Iterator[tuple[str, State]]:
        """Remember how many hooks were registered."""
        return new_hooks()

    def mutation_count(self, array: Any) -> int | None:
        """Return the sum of autograd's version counters, of the tensor and of its gradient."""
        with torch._C.DisableTorchFunctionSubclass():
            if array.is_inference() or array.is_meta:  # one without numbers holds nothing
                return None
            gradient = array.grad if array.is_leaf else None
            version: int = array._version
            return version if gradient is None else version + 1 + gradient._version

    def changes_in_place(self, method: str) -> bool:
        """Whether its name ends in an underscore."""
        return method.endswith("_") and not method.startswith("_")
