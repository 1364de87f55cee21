"""What PyTorch looks at to find the program of a call, as far as the call tells it."""

import itertools
import weakref
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ipyjaxbench.adapters.torch import trees
from ipyjaxbench.adapters.torch.retracing.callee import Entered, closed_over, is_around
from ipyjaxbench.retracing.cache_key import Leaf, Signature
from ipyjaxbench.usercode.code_objects import fingerprint
from ipyjaxbench.usercode.objects import attributes

_LONGEST = 40  # characters of a value
_MOST = 1000  # values of one argument
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def signature(entered: Entered) -> Signature:
    """The signature of a call; it holds no tensor.

    How an argument is given, by position or by name, is all the same to PyTorch.
    """
    return Signature(
        leaves=dict(_all_leaves(entered)),
        form=tuple(entered.given),
        settings=_settings(),
        function=token(entered.code),
        code=fingerprint(entered.code),
    )


_tokens: dict[int, tuple[Any, int]] = {}
_numbers = itertools.count(1)


def token(code: CodeType) -> int:
    """Tells code objects apart for good: equal ones have programs of their own."""
    known = _tokens.get(id(code))
    if known is None or known[0]() is not code:
        known = _tokens[id(code)] = weakref.ref(code), next(_numbers)
    return known[1]


def around(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Plain globals that the user's function names, and values that it closes over."""
    if is_around(function):
        return
    yield from closed_over(function)
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if name in function.__globals__ and isinstance(value, (*_PLAIN, torch.Tensor)):
            yield f"global {name}", value


def _all_leaves(entered: Entered) -> Iterator[tuple[str, Leaf]]:
    for name, value in itertools.chain(entered.given.items(), around(entered.function)):
        yield from itertools.islice(_leaves(name, value), _MOST)


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Leaf]]:
    for path, leaf in trees.with_paths(value):
        where = name + pytree.keystr(path)
        if isinstance(leaf, torch.nn.Module):
            yield where, Leaf("static", value=type(leaf).__name__)
            yield f"{where}.training", Leaf("static", value=_mode(leaf))
            held = itertools.chain(leaf.named_parameters(), leaf.named_buffers())
            yield from ((f"{where}.{name}", _leaf(tensor)) for name, tensor in held)
        elif _has_attributes(leaf):
            yield where, Leaf("static", value=type(leaf).__name__)
            own = attributes(leaf).items()
            plain = ((name, each) for name, each in own if isinstance(each, (*_PLAIN, _Tensor)))
            yield from ((f"{where}.{name}", _leaf(each)) for name, each in plain)
        else:
            yield where, _leaf(leaf)


_Tensor = torch.Tensor


def _has_attributes(value: Any) -> bool:
    plain = isinstance(value, (*_PLAIN, _Tensor, type, FunctionType))
    return not plain and bool(attributes(value)) and not callable(value)


def _leaf(value: Any) -> Leaf:
    """One value; an object whose own code fails when asked is told by its type."""
    try:
        return _told(value)
    except Exception:  # noqa: BLE001  a user's object must not stop the user's call
        return Leaf("static", value=type(value).__name__)


def _told(value: Any) -> Leaf:
    if isinstance(value, _Tensor):
        return Leaf(
            "array",
            str(value.dtype).removeprefix("torch."),
            tuple(value.shape),
            device=str(value.device),
            layout=_layout(value),
        )
    if isinstance(value, bool | int | float | complex):
        return Leaf(type(value).__name__, value=repr(value))
    if isinstance(value, _PLAIN):
        return Leaf("static", value=_short(repr(value)))
    if hasattr(type(value), "__array__"):  # NumPy's
        return Leaf("NumPy's", str(value.dtype), tuple(value.shape))
    name = getattr(value, "__name__", None) or type(value).__name__
    code = getattr(value, "__code__", None)
    return Leaf("static", value=_short(name), identity=token(code) if code is not None else 0)


def _layout(tensor: torch.Tensor) -> str:
    """How it lies in memory, and whether autograd records it."""
    if tensor.layout is not torch.strided:
        lies = str(tensor.layout).removeprefix("torch.")
    else:
        lies = "contiguous" if tensor.is_contiguous() else f"strides {tuple(tensor.stride())}"
    return f"{lies}, requires_grad" if tensor.requires_grad else lies


def _mode(module: torch.nn.Module) -> str:
    """Whether a module trains, and which of its parts do otherwise."""
    mine = module.training
    others = [name for name, part in module.named_modules() if part.training != mine]
    shown = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
    return f"{mine}, but {not mine} in {shown}" if others else str(mine)


def _settings() -> Mapping[str, str]:
    """What PyTorch guards of its own state, as far as people change it."""
    autocast = [kind for kind in ("cpu", "cuda") if torch.is_autocast_enabled(kind)]
    return {
        "grad mode": "on" if torch.is_grad_enabled() else "off",
        "inference mode": "on" if torch.is_inference_mode_enabled() else "off",
        "autocast": ", ".join(f"{k} {torch.get_autocast_dtype(k)}" for k in autocast) or "off",
        "default dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "threads": str(torch.get_num_threads()),
        "deterministic algorithms": str(torch.are_deterministic_algorithms_enabled()),
        "float32 matmul precision": torch.get_float32_matmul_precision(),
    }


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
