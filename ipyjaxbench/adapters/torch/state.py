"""What calls change of PyTorch's: numbers of tensors, their gradients, generators."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from ipyjaxbench.adapters.torch import accelerators
from ipyjaxbench.adapters.torch.hook_numbers import is_any_registered
from ipyjaxbench.adapters.torch.hook_tables import (
    MET,
    NodeHooks,
    hooks_of_nodes,
    is_node,
    meet_object,
    meet_tensor,
    note_call,
)
from ipyjaxbench.adapters.torch.hooks import new_hooks
from ipyjaxbench.adapters.torch.loading_states import loading_states
from ipyjaxbench.adapters.torch.program_states import program_states
from ipyjaxbench.adapters.torch.settings import settings
from ipyjaxbench.adapters.torch.storages import key_of, storage_states
from ipyjaxbench.adapters.torch.tensors import form_of, is_lazy, memory, put_back, sparse_parts
from ipyjaxbench.frameworks import (
    CopyBudget,
    GeneratorState,
    Holder,
    MutableState,
    Restore,
    Setting,
    State,
    TooLarge,
    attribute_states,
    restore_together,
    slot_states,
)
from ipyjaxbench.host import filter_by_type
from ipyjaxbench.usercode import (
    attributes,
    class_dict,
    module_of,
    mro_of,
    name_of,
)

#: Of their classes' modules: what they hold goes with processes and threads.
_NOT_ENTERED = ("torch._C", "torch._dynamo", "torch.distributed", "torch.cuda")

#: By these the compiler marks tensors, in each operation on a nested one: nobody reads them.
_MARKS = frozenset((
    "_dynamo_dynamic_indices", "_dynamo_dynamic_range", "_dynamo_hint_overrides", "_specialize_on",
    "_has_dynamo_dim_marking", "_dynamo_propagated_dynamic_indices", "_dynamo_weak_dynamic_indices",
    "_dynamo_unbacked_indices", "_dynamo_static_indices",
))  # fmt: skip


class Tensor(State):
    """Where a tensor's memory is, what its gradient is, and how often it was changed.

    A sparse tensor holds others, of indices and values, which it may swap: it gets back its own.

    Args:
        tensor: it.
        is_counted: whether its numbers are copied, so that its counter of changes is put back.
    """

    def __init__(self, tensor: Any, *, is_counted: bool = True) -> None:
        self._data = form_of(tensor) if not tensor.is_inference() else None
        self._gradient = _gradient(tensor)
        self._requires = tensor.requires_grad
        self._is_counted = is_counted and not tensor.is_inference()
        self._version = tensor._version if self._is_counted else None
        self._counter = None
        if self._is_counted:
            self._counter = torch.autograd._unsafe_preserve_version_counter((tensor,))
        super().__init__(tensor)

    def again(self) -> "Tensor":
        """Return those now."""
        return Tensor(self._target, is_counted=self._is_counted)

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
    meet_tensor(tensor)
    dense = (tensor,) if tensor.layout is torch.strided else sparse_parts(tensor)
    storages = [part.untyped_storage() for part in dense]
    copies = [state for each in storages for state in storage_states(each, budget)]
    lost = sum(s.nbytes() for s in storages if budget.copies and budget.has_lost(key_of(s)))
    if dense:
        yield Tensor(tensor, is_counted=not lost)
    if lost and not tensor.is_inference():
        written = Setting(lambda: [tensor._version], None)
        written.nbytes = lost
        yield written
    if tensor.grad_fn is not None:
        yield from _graph_states(tensor, tensor.grad_fn, budget)
    if tensor.requires_grad:
        yield from _hook_states(tensor, budget)
    yield from copies


def _own_names(tensor: Any) -> Iterator[State]:
    """Yield its attributes, but for marks alone, and what stands in slots, as in a DTensor's."""
    is_marked_alone = _MARKS.issuperset(attributes(tensor))
    yield from slot_states(tensor) if is_marked_alone else attribute_states(tensor)


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
    if budget.is_new(torch.autograd.graph, ("torch", "hooks")) and is_any_registered():
        yield Holder(value, [NodeHooks()])


def _graph_states(value: Any, node: Any, budget: CopyBudget) -> Iterator[State]:
    """Yield what leads to the tensors whose gradients a backward pass from a node on adds to.

    What is noted of the nodes is among them.
    """
    ahead, found = deque([node]), list[Any]()
    while ahead and budget.may_look():
        node = ahead.popleft()
        if not budget.is_new(node, ("autograd", id(node))):
            continue
        ahead += (each for each, _ in node.next_functions if each is not None)
        found.append(node.metadata)
        if name_of(type(node)) == "AccumulateGrad":
            found.append(node.variable)
    yield Holder(value, found)
    if ahead:
        yield TooLarge(value)


class TorchState(MutableState):
    """Numbers and gradients of tensors, and generators."""

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore:
        """Remember the CPU's generator, those of devices in use, and those among the values."""
        note_call(is_over=later)
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
            return [*storage_states(value, budget)]
        if issubclass(kind, MET):
            meet_object(value, budget)
        if (found := program_states(value)) is not None:
            return [*found]
        if kind is NodeHooks:
            return [Holder(value, hooks_of_nodes())]
        if is_node(value):
            graph = _graph_states(value, value, budget)
            return [*graph, *attribute_states(value), *_hook_states(value, budget)]
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
