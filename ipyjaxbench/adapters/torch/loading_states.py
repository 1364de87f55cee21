"""What calls change of loaders, samplers and datasets."""

from typing import Any

from ipyjaxbench.frameworks import AttributeNames, Holder, State
from ipyjaxbench.usercode import attributes, module_of, name_of

_MODULE = "torch.utils.data"
_OF_ITERATORS = ("sampler", "batch_sampler", "generator")  # the rest goes with processes
_WORKING = "_iterator"  # what a loader with workers keeps


class _Data(AttributeNames):
    """Attributes that lead to data, of which but a part is copied: they are large."""

    data_bytes = 256 * 2**20


def loading_states(value: Any) -> list[State] | None:
    """Return what a loader, a sampler or a dataset holds; None of other values."""
    if not module_of(type(value)).startswith(_MODULE):
        return None
    own = attributes(value)
    if name_of(type(value)).endswith("Iter"):
        return [Holder(value, [own[name] for name in _OF_ITERATORS if name in own])]
    return [_Data(value, own.keys() - {_WORKING})]
