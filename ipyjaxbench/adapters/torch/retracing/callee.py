"""The frame that dynamo looks at in a call of a compiled function, before there is one."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

import torch

from ipyjaxbench.adapters.torch.compilation import is_compiled, original
from ipyjaxbench.usercode import attributes, label_arguments

#: PyTorch's own function around what dynamo would not look at, such as ``torch.nn.Linear``.
_AROUND = "external_utils.py"


@dataclass(frozen=True)
class Entered:
    """What a call is to dynamo.

    Attributes:
        code: with which dynamo keeps what it compiles.
        names: local variables of that code, closed-over ones among them.
        arguments: by the user's names, those left out with their defaults.
        function: the user's function, whose globals and closed-over values are looked at.
        labels: the user's names for ``args[0]`` and so on, where PyTorch has a function of its
            own around the user's.
    """

    code: CodeType
    names: Mapping[str, Any]
    arguments: Mapping[str, Any]
    function: FunctionType
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> "Entered | None":
        """That of a call; None where no function of Python is called, or not with these."""
        plain, args, kwargs = unbound(function, args, kwargs)
        around = inner_of(function)
        try:
            if isinstance(plain, FunctionType):
                arguments = _bound(plain, args, kwargs)
            else:  # no Python: nothing is known of arguments that are left out
                labels = label_arguments(plain, args, kwargs)
                arguments = {**dict(zip(labels, args, strict=True)), **kwargs}
            if around is None:
                code = plain.__code__
                return cls(code, {**arguments, **_closed(plain)}, arguments, plain)
            own = len(unbound(_closed(around).get("fn"), (), {})[1])  # such as self
            names = {**_bound(around, args[own:], kwargs), **_closed(around)}
        except (AttributeError, TypeError, ValueError):
            return None
        function = plain if isinstance(plain, FunctionType) else around
        return cls(around.__code__, names, arguments, function, tuple(arguments)[own:])


def takes(value: Any) -> bool:
    """Whether a value is a function that torch.compile made, or was told to leave alone."""
    kind = type(value)
    if kind is MethodType:
        return takes(value.__func__)
    if kind is partial:
        return takes(value.func)
    if isinstance(value, torch.nn.Module) and takes(inspect.getattr_static(value, "forward", None)):
        return True
    return is_compiled(value)


def is_disabled(function: Any) -> bool:
    """Whether it is one of `torch.compiler.disable`."""
    kind = type(function)
    if kind is MethodType:
        return is_disabled(function.__func__)
    if kind is partial:
        return is_disabled(function.func)
    return "_torchdynamo_disable" in attributes(function)


def plain_of(function: Any) -> Any:
    """What was compiled: a function, or a module."""
    kind = type(function)
    if kind is MethodType:
        return plain_of(function.__func__)
    if kind is partial:
        return plain_of(function.func)
    inner = _closed(function).get("fn") if is_around(function) else original(function)
    return function if inner is None else plain_of(inner)


def name_of(function: Any) -> str:
    """What the user calls it."""
    plain = plain_of(function)
    return getattr(plain, "__name__", None) or type(plain).__name__


def called_from(frame: FrameType) -> tuple[Any, Sequence[Any], Mapping[str, Any]] | None:
    """What a frame of PyTorch's calls that just looked for a program; None of any other frame.

    Such as the rest of a function behind a break, which is called by that function.
    """
    names, code = frame.f_locals, frame.f_code
    if code.co_name == "compile_wrapper":
        function = names.get("fn")
    elif code.co_name == "_call_impl" and "compile_wrapper" in _names_above(frame):
        function = names.get("self")
    else:
        return None
    args, kwargs = names.get("args"), names.get("kwargs")
    if not isinstance(args, tuple) or not isinstance(kwargs, dict):
        return None
    return function, args, kwargs


def _names_above(frame: FrameType) -> Iterator[str]:
    """Those of the two frames above."""
    for above in (frame.f_back, frame.f_back and frame.f_back.f_back):
        if above is not None:
            yield above.f_code.co_name


def unbound(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, Sequence[Any], Mapping[str, Any]]:
    """A plain function, and all that it is called with: ``self`` and a partial's too."""
    kind = type(function)
    if kind is MethodType:
        return unbound(function.__func__, (function.__self__, *args), kwargs)
    if kind is partial:
        arguments = {**function.keywords, **kwargs}
        return unbound(function.func, (*function.args, *args), arguments)
    inner = _closed(function).get("fn") if is_around(function) else original(function)
    if inner is not None:
        return unbound(inner, args, kwargs)
    if isinstance(function, torch.nn.Module):
        return unbound(function.forward, args, kwargs)
    method = inspect.getattr_static(kind, "__call__", None)  # of an object
    if kind is not FunctionType and type(method) is FunctionType:
        return method, (function, *args), kwargs
    return function, args, kwargs


def inner_of(function: Any) -> FunctionType | None:
    """PyTorch's own function around the user's, where dynamo is given that one."""
    kind = type(function)
    if kind is MethodType:
        return inner_of(function.__func__)
    if kind is partial:
        return inner_of(function.func)
    if is_around(function):
        return function  # type: ignore[no-any-return]
    held = attributes(function)
    if "_orig_mod" in held.get("_modules", {}):
        return inner_of(held.get("forward"))
    found = held.get("_torchdynamo_orig_callable")
    return found if is_around(found) else None


def is_around(function: Any) -> bool:
    """Whether a function is PyTorch's own around another one."""
    code = getattr(function, "__code__", None)
    return isinstance(code, CodeType) and code.co_filename.endswith(_AROUND)


def entries(code: CodeType) -> list[Any]:
    """What dynamo keeps with some code, the newest first (private)."""
    from torch._C._dynamo import eval_frame

    listed = getattr(eval_frame, "_debug_get_cache_entry_list", None)
    return [] if listed is None else list(listed(code))


def closed_over(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Closed-over values of a function that have one."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # the cell is empty
            continue


def _closed(function: FunctionType) -> dict[str, Any]:
    return dict(closed_over(function))


def _bound(
    function: FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Local variables of a function as it is entered."""
    bound = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)
