"""Where PyTorch's tensors live, and what is inside of its modules and optimisers."""

import sys
from collections.abc import Iterator
from typing import Any

import torch

from ipyjaxbench.adapters.torch.sharding import is_mesh
from ipyjaxbench.usercode import is_of

#: Where a tensor is that has a shape and no numbers, as PyTorch calls it.
SHAPES_ONLY = "meta"
#: What a tensor of a kind that does not have it raises when it is asked.
UNSUPPORTED = (RuntimeError, ValueError, NotImplementedError)


def has_no_numbers(array: Any) -> bool:
    """Whether there is a shape alone, on the meta device or for a tracer, or not even that yet."""
    return torch.nn.parameter.is_lazy(array) or is_shape(array)


def is_shape(array: Any) -> bool:
    """Whether there is a shape alone, on the meta device or for a tracer."""
    fake: Any = sys.modules.get("torch._subclasses.fake_tensor")
    return array.device.type == SHAPES_ONLY or (
        fake is not None and isinstance(array, fake.FakeTensor)
    )


def shape_of(array: Any) -> tuple[int, ...]:
    """Return the shape; what is not known yet, or differs from row to row, is -1."""
    if torch.nn.parameter.is_lazy(array):
        return (-1,)
    try:
        return tuple(n if isinstance(n, int) else -1 for n in array.shape)
    except UNSUPPORTED:  # nested tensors of the older kind
        return (int(array.size(0)), -1)


def named_parts(value: Any) -> Iterator[tuple[str, object]] | None:
    """Return tensors of a module by dotted name; of an optimiser, parameters and their state."""
    if is_of(value, torch.nn.Module):
        return _module_values(value)
    if is_of(value, torch.optim.Optimizer):
        return _optimizer_values(value)
    return iter(()) if is_mesh(value) else None


def _module_values(module: Any) -> Iterator[tuple[str, object]]:
    yield from module.named_parameters()
    yield from module.named_buffers()
    for path, each in module.named_modules():  # tensors that it does not know of stay behind
        for name, value in vars(each).items():
            if isinstance(value, torch.Tensor):
                yield f"{path}.{name}" if path else name, value


def _optimizer_values(optimizer: Any) -> Iterator[tuple[str, object]]:
    """Yield parameters and state, numbered as in its ``state_dict()`` where they have no names."""
    for index, group in enumerate(optimizer.param_groups):
        for place, parameter in enumerate(group["params"]):
            yield f"param_groups[{index}]['params'][{place}]", parameter
    number = 0
    for group in optimizer.param_groups:
        names = group.get("param_names") or ()
        for index, parameter in enumerate(group["params"]):
            name = names[index] if index < len(names) else str(number)
            number += 1
            for key, value in optimizer.state.get(parameter, {}).items():
                yield f"state.{name}.{key}", value
