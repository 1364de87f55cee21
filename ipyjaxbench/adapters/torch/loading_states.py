"""What calls change of loaders, samplers and datasets."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from ipyjaxbench.frameworks import AttributeNames, Holder, State
from ipyjaxbench.usercode import (
    attributes,
    is_exactly,
    is_of,
    is_users_class,
    items_of,
    module_of,
    name_of,
)

_MODULE = "torch.utils.data"
_OF_ITERATORS = ("sampler", "batch_sampler", "generator")  # the rest goes with processes
_WORKING = "_iterator"  # what a loader with workers keeps
_MOST_BYTES = 256 * 2**20  # of data: more is not looked at, for it would all be copied
_MOST_ITEMS, _MOST_ASKED, _DEPTH = 20_000, 1_000, 4
_SEVERAL = (list, tuple, dict)


def loading_states(value: Any) -> list[State] | None:
    """Return what a loader, a sampler or a dataset holds; None of other values."""
    if not module_of(type(value)).startswith(_MODULE):
        return None
    own = attributes(value)
    if name_of(type(value)).endswith("Iter"):
        return [Holder(value, [own[name] for name in _OF_ITERATORS if name in own])]
    large = [name for name, each in own.items() if _is_large(each)]
    kinds = [type(own[name]) for name in large]
    names = AttributeNames(value, own.keys() - {*large, _WORKING})
    return [names, Holder(value, [each for each in kinds if is_users_class(each)])]


def _is_large(data: Any) -> bool:
    total = 0
    for nbytes, length in _sizes(data, _DEPTH):
        total += nbytes
        if total > _MOST_BYTES or length > _MOST_ITEMS:
            return True
    return False


def _sizes(value: Any, depth: int) -> Iterator[tuple[int, int]]:
    """Yield bytes and lengths of what something holds, at least as much as there is in it."""
    kind = type(value)
    has_bytes = hasattr(kind, "nbytes") and not is_users_class(kind)
    nbytes = value.nbytes if has_bytes else 0
    if is_exactly(nbytes, int):
        yield nbytes, 0
    inside: Any = ()
    if is_exactly(value, *_SEVERAL):
        yield 0, len(value)
        inside = islice(items_of(value, 0), _MOST_ASKED)
    elif not nbytes and not is_of(value, type) and not callable(value):
        inside = [*attributes(value).values()]
    for each in inside if depth else ():
        yield from _sizes(each, depth - 1)
