"""What tensors keep beside their numbers: gradients, and what autograd saved in their graphs."""

from collections.abc import Iterator
from typing import Any, Literal

import torch

from ipyjaxbench.adapters.torch.placement import UNSUPPORTED

_MAX_NODES = 200_000
_RAW = "_raw_saved_"


def attached(tensor: Any) -> Iterator[tuple[Literal["graph", "gradient"], object, str]]:
    """Yield a tensor's gradient and the tensors of its graph; nothing is unpacked or computed."""
    with torch._C.DisableTorchFunctionSubclass():  # not across a yield: it holds for the thread
        gradient = tensor.grad if tensor.is_leaf else None
        saved = [*_saved(tensor.grad_fn)] if tensor.grad_fn is not None else []
    if gradient is not None:
        yield "gradient", gradient, "{0}.grad = None"
    if saved:
        yield "graph", saved, "{0} = {0}.detach()"


def _saved(root: Any) -> Iterator[object]:
    """Yield what the nodes of a graph saved, as it lies there: hooks that unpack are not called."""
    seen, waiting = {root}, [root]
    fields: dict[type, list[str]] = {}
    while waiting and len(seen) < _MAX_NODES:
        node = waiting.pop()
        kind = type(node)
        if kind not in fields:
            fields[kind] = [name for name in dir(node) if name.startswith(_RAW)]
        for name in fields[kind]:
            yield from _data(node, name)
        if kind.__name__ == "AccumulateGrad":
            yield node.variable
        after = {following for following, _ in node.next_functions if following is not None}
        waiting += after - seen
        seen |= after


def _data(node: Any, name: str) -> Iterator[object]:
    try:
        found = getattr(node, name)
    except UNSUPPORTED:  # a backward pass has let go of it
        return
    for each in found if isinstance(found, list | tuple) else (found,):
        data = getattr(each, "data", None)
        if data is not None:
            yield data
