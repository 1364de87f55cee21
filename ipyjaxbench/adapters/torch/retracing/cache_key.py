"""What PyTorch looks at to find the program of a call, as far as the call tells it."""

import itertools
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ipyjaxbench.adapters.shared.retracing import shorten
from ipyjaxbench.adapters.torch import accelerators, trees
from ipyjaxbench.adapters.torch.precision import matmul_precision
from ipyjaxbench.adapters.torch.retracing.callee import Entered, is_wrapper
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Leaf, Signature
from ipyjaxbench.usercode import (
    attributes,
    closure_values,
    fingerprint,
    globals_in,
    token,
)

_MAX_LEAVES = 1000  # of one argument
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_DATA = (*_PLAIN, torch.Tensor)


def signature(entered: Entered) -> Signature:
    """Return the signature of a call; it holds no tensor.

    How an argument is given, by position or by name, is all the same to PyTorch.
    """
    values = [*entered.arguments.items(), *surroundings(entered.function)]
    leaves = (itertools.islice(_leaves(name, value), _MAX_LEAVES) for name, value in values)
    return Signature(
        leaves=dict(itertools.chain.from_iterable(leaves)),
        form=tuple(entered.arguments),
        settings=_settings(),
        function=token(entered.code),
        code=fingerprint(entered.function.__code__),
        owner=entered.owner,
    )


def surroundings(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield plain globals that the user's function names, and values that it closes over."""
    if is_wrapper(function):
        return
    yield from closure_values(function)
    for name in globals_in(function.__code__):
        value = function.__globals__.get(name)
        if name in function.__globals__ and isinstance(value, _DATA):
            yield f"global {name}", value


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Leaf]]:
    for path, kind in trees.containers(value):
        yield name + pytree.keystr(path), Leaf(kind)
    for path, leaf in trees.leaves_with_paths(value):
        where = name + pytree.keystr(path)
        if isinstance(leaf, torch.nn.Module):
            yield where, Leaf("static", value=type(leaf).__name__)
            yield f"{where}.training", Leaf("static", value=_mode(leaf))
            tensors = itertools.chain(leaf.named_parameters(), leaf.named_buffers())
            yield from ((f"{where}.{name}", _leaf(tensor)) for name, tensor in tensors)
        elif _has_attributes(leaf):
            yield where, Leaf("static", value=type(leaf).__name__)
            for name, part in attributes(leaf).items():
                if isinstance(part, _DATA):
                    yield f"{where}.{name}", _leaf(part)
        else:
            yield where, _leaf(leaf)


def _has_attributes(value: Any) -> bool:
    plain = isinstance(value, (*_DATA, type, FunctionType))
    return not plain and bool(attributes(value)) and not callable(value)


def _leaf(value: Any) -> Leaf:
    """Return what tells a value apart; its type where the value's own code raises."""
    try:
        return _leaf_of(value)
    except CODE_ERRORS:  # a user's object must not stop the user's call
        return Leaf("static", value=type(value).__name__)


def _leaf_of(value: Any) -> Leaf:
    if isinstance(value, torch.Tensor):
        dtype, device = str(value.dtype).removeprefix("torch."), str(value.device)
        kind = "array" if type(value) is torch.Tensor else type(value).__name__
        return Leaf(kind, dtype, tuple(value.shape), device=device, layout=_layout(value))
    if isinstance(value, bool | int | float | complex):
        return Leaf(type(value).__name__, value=repr(value))
    if isinstance(value, _PLAIN):
        return Leaf("static", value=shorten(repr(value)))
    if hasattr(type(value), "__array__"):  # NumPy's
        return Leaf("NumPy", str(value.dtype), tuple(value.shape))
    name = getattr(value, "__name__", None) or type(value).__name__
    code = getattr(value, "__code__", None)
    return Leaf("static", value=shorten(name), identity=token(code) if code is not None else 0)


def _layout(tensor: torch.Tensor) -> str:
    """Return how it lies in memory, and whether autograd records it."""
    if tensor.layout is not torch.strided:
        layout = str(tensor.layout).removeprefix("torch.")
    else:
        layout = "contiguous" if tensor.is_contiguous() else f"strides {tuple(tensor.stride())}"
    return f"{layout}, requires_grad" if tensor.requires_grad else layout


def _mode(module: torch.nn.Module) -> str:
    """Return whether a module trains, and which of its parts do otherwise."""
    trains = module.training
    others = [name for name, part in module.named_modules() if part.training != trains]
    shown = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
    return f"{trains}, but {not trains} in {shown}" if others else str(trains)


def _settings() -> Mapping[str, str]:
    """Return what PyTorch guards of its own state, as far as people change it."""
    kinds = ("cpu", *accelerators.modules())
    autocast = [kind for kind in kinds if torch.is_autocast_enabled(kind)]
    return {
        "grad mode": "on" if torch.is_grad_enabled() else "off",
        "inference mode": "on" if torch.is_inference_mode_enabled() else "off",
        "autocast": ", ".join(f"{k} {torch.get_autocast_dtype(k)}" for k in autocast) or "off",
        "default dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "default device": str(torch.get_default_device()),
        "threads": str(torch.get_num_threads()),
        "deterministic algorithms": str(torch.are_deterministic_algorithms_enabled()),
        "float32 matmul precision": matmul_precision(),
    }
