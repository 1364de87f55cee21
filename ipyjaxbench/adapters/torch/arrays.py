"""PyTorch's tensors one by one: where they live, in which layout, and how they are cut."""

import functools
from collections.abc import Iterator
from typing import Any, Literal

import torch

from ipyjaxbench import units
from ipyjaxbench.adapters.shared import strides
from ipyjaxbench.adapters.torch import accelerators
from ipyjaxbench.adapters.torch.attached import attached
from ipyjaxbench.adapters.torch.placement import UNSUPPORTED, has_no_numbers, is_shape, shape_of
from ipyjaxbench.adapters.torch.sharding import (
    describe_mesh,
    is_dtensor,
    is_mesh,
    local_part,
    read_sharding,
)
from ipyjaxbench.device import ArrayInspector, ArrayMemory, ArrayPlacement, Weight
from ipyjaxbench.usercode import is_of

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_USUAL = ("Tensor", "Parameter", "Buffer", "DTensor")
#: The parts of a sparse tensor, by layout.
_SPARSE = {
    "sparse_coo": ("_indices", "_values"),
    "sparse_csr": ("crow_indices", "col_indices", "values"),
    "sparse_bsr": ("crow_indices", "col_indices", "values"),
    "sparse_csc": ("ccol_indices", "row_indices", "values"),
    "sparse_bsc": ("ccol_indices", "row_indices", "values"),
}
_NOT_IN_NUMPY = {torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2}
_UNBORN = "uninitialized until the first call of its module"


class TorchArrays(ArrayInspector):
    """Tensors with their layout, and their placements where they are DTensors.

    `live_arrays` are none: no list is kept, and Python's objects lack what autograd saved. For
    GPUs, the devices tell what all tensors take, with a name or without.
    """

    def locate(self, name: str, array: Any) -> ArrayPlacement:
        """Return type, place and layout of one tensor; no code of a subclass is run."""
        with torch._C.DisableTorchFunctionSubclass():
            cut = is_dtensor(array)
            known = not torch.nn.parameter.is_lazy(array)
            nbytes = 0 if has_no_numbers(array) else _nbytes(array)
            sharding = read_sharding(array) if cut else None
            storage = _storage(local_part(array) if cut else array)
            device = str(array.device)
            # By itself: to ask for the timer's placement first takes a quarter longer.
            return ArrayPlacement(
                name=name,
                framework=self.framework.name,
                dtype=_name(array.dtype),
                shape=shape_of(array),
                nbytes=nbytes,
                devices=tuple(s.device for s in sharding.shards) if sharding else (device,),
                memory="pinned host" if known and _is_pinned(array) else "",
                gradients=bool(array.requires_grad),
                # The memory's address, as NumPy's adapter has it, until it is given a name.
                of=f"{device}@{storage.data_ptr()}" if storage and storage.data_ptr() else "",
                layout=", ".join(_layout(array, storage, nbytes)) if known else _UNBORN,
                sharding=sharding,
            )

    def weight(self, array: Any) -> Weight:
        """Return device and bytes; of kinds with more to them, those that `locate` has."""
        is_plain = type(array) in _PLAIN and array.layout is torch.strided and not array.is_nested
        if not is_plain:
            placed = self.locate("", array)
            return Weight(placed.devices, placed.nbytes, placed.sharding)
        return Weight(_names(array.device), 0 if array.device.type == "meta" else array.nbytes)

    def memory(self, array: Any) -> ArrayMemory | None:
        """Return the whole storage that a tensor is a part of."""
        with torch._C.DisableTorchFunctionSubclass():
            storage = _storage(local_part(array) if is_dtensor(array) else array)
            if storage is None or not storage.data_ptr() or array.device.type == "meta":
                return None
            device = str(array.device)
            return ArrayMemory(f"{device}@{storage.data_ptr()}", storage.nbytes(), (device,))

    def attached(self, array: Any) -> Iterator[tuple[Literal["graph", "gradient"], object, str]]:
        """Yield its gradient, and what autograd has saved for its backward pass."""
        return attached(array)

    def is_optimizer(self, value: object) -> bool:
        """Whether it is one of PyTorch's."""
        return is_of(value, torch.optim.Optimizer)

    def describe(self, value: object) -> str:
        """Describe meshes of devices."""
        return describe_mesh(value) if is_mesh(value) else ""

    def to_numpy(self, array: Any) -> Any | None:
        """Return a copy without its graph; dtypes that NumPy lacks become float32."""
        if array.device.type == "meta" or array.layout is not torch.strided:
            return None
        array = array.detach().cpu().resolve_conj().resolve_neg()
        return (array.float() if array.dtype in _NOT_IN_NUMPY else array).numpy()


@functools.cache
def _names(device: torch.device) -> tuple[str]:
    return (str(device),)


def _nbytes(array: Any) -> int:
    names = _SPARSE.get(_name(array.layout))
    if names is not None:
        parts = [getattr(array, part)() for part in names]
        return sum(part.numel() * part.element_size() for part in parts)
    nbytes = int(array.numel()) * int(array.element_size())
    # Numbers that are repeated are held once.
    storage = None if is_dtensor(array) else _storage(array)
    return min(nbytes, storage.nbytes()) if storage else nbytes


def _storage(array: Any) -> Any:
    """Return the memory that a tensor is a part of; None where it has none of its own."""
    if array is None or is_shape(array):
        return None
    try:
        storage = array.untyped_storage()
        storage.data_ptr()
    except UNSUPPORTED:
        return None
    return storage


def _is_pinned(array: Any) -> bool:
    """Whether it is pinned; without an accelerator in use nothing is."""
    try:
        return accelerators.is_pinned(array)
    except UNSUPPORTED:
        return False


def _layout(array: Any, storage: Any, nbytes: int) -> Iterator[str]:
    kind = type(array).__name__
    if kind not in _USUAL:
        yield kind
    if is_shape(array):
        yield f"shape only (meta or fake), would take {units.size(array.nbytes)}"
    if is_dtensor(array):
        if read_sharding(array) is None:
            yield f"DTensor, placements={tuple(array.placements)}"
        return
    layout = _name(array.layout)
    if layout in _SPARSE:
        yield f"{_spell_name(layout)}, {units.count(array._nnz(), 'nonzero')} stored"
    elif layout != "strided":
        yield _spell_name(layout)
    else:
        yield from filter(None, (_order(array), "quantised" if array.is_quantized else ""))
    if array.is_conj():
        yield "conjugated when it is read"
    if storage is not None and storage.nbytes() > nbytes:
        yield f"view of {units.size(storage.nbytes())}"


def _name(constant: object) -> str:
    """Return the name of one of PyTorch's constants."""
    return str(constant).removeprefix("torch.")


def _spell_name(name: str) -> str:
    return name.strip("_").replace("_", " ")


def _order(array: Any) -> str:
    try:
        if not array.is_contiguous():
            for form in (torch.channels_last, torch.channels_last_3d):
                if array.is_contiguous(memory_format=form):
                    return _spell_name(_name(form))
        return strides.describe_order(array.shape, array.stride())
    except UNSUPPORTED:
        return ""
