"""The frame that dynamo looks at in a call of a compiled function, before there is one."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from traceback import walk_stack
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

import torch

from ipyjaxbench.adapters.shared.retracing import unbound
from ipyjaxbench.adapters.torch.compilation import is_compiled, original
from ipyjaxbench.adapters.torch.retracing import backends
from ipyjaxbench.retracing import Args, Invocation, Kwargs
from ipyjaxbench.usercode import (
    attributes,
    closure_values,
    is_users_function,
    label_arguments,
    token,
)

#: What torch.compile notes of a function that it made.
_COMPILED = "_torchdynamo_orig_callable"
#: PyTorch's own function around what dynamo would not look at, such as ``torch.nn.Linear``.
_WRAPPER_FILE = "external_utils.py"
#: That of PyTorch's functions around an optimizer's step, which dynamo does not look at.
_OPTIMIZER_FILE = "optim/optimizer.py"

#: What stands between a call and dynamo's hooks.
_DYNAMO_FILES = (
    "/_dynamo/convert_frame.py", "/torch/_utils_internal.py", "/contextlib.py",
    "/_dynamo/bytecode_transformation.py", "/_dynamo/callback.py",
)  # fmt: skip


@dataclass(frozen=True)
class Entered:
    """What a call is to dynamo."""

    code: CodeType  # with which dynamo keeps what it compiles
    names: Mapping[str, Any]  # local variables of that code, closed-over ones among them
    arguments: Mapping[str, Any]  # by the user's names, those left out with their defaults
    function: FunctionType  # the user's, whose globals and closed-over values are looked at
    labels: tuple[str, ...] = ()  # the user's names for ``args[0]`` and so on, of a wrapper
    backend: Any = None  # that torch.compile was given; None where it is not known
    owner: int = 0  # tells objects apart that were compiled and share their code; 0 for none

    @classmethod
    def from_frame(cls, frame: FrameType) -> "Entered | None":
        """Return that of the call in a frame of PyTorch's, if there is one."""
        call = called_from(frame)
        entered = cls.from_call(*call) if call is not None else None
        return entered and replace(entered, backend=backends.backend_in(frame))

    @classmethod
    def from_call(cls, function: Any, args: Args, kwargs: Kwargs) -> "Entered | None":
        """Return that of a call; None where no function of Python is called with these."""
        backend = backends.backend_of(function)
        _, outer, named = unbound(function, args, kwargs)
        plain, args, kwargs = plain_call(function, args, kwargs)
        wrapper, owner = _wrapper_of(function), _owner(function)
        try:
            if isinstance(plain, FunctionType):
                arguments = _bound(plain, args, kwargs)
            else:  # no Python: nothing is known of arguments that are left out
                labels = label_arguments(plain, args, kwargs)
                arguments = {**dict(zip(labels, args, strict=True)), **kwargs}
            if wrapper is None:
                names = {**arguments, **dict(closure_values(plain))}
                return cls(plain.__code__, names, arguments, plain, (), backend, owner)
            own = len(plain_call(_wrapped(wrapper), (), {})[1])  # such as self
            names = {**_bound(wrapper, outer, named), **dict(closure_values(wrapper))}
        except (AttributeError, TypeError, ValueError):
            return None
        function = plain if isinstance(plain, FunctionType) else wrapper
        labels = tuple(arguments)[own:]
        return cls(wrapper.__code__, names, arguments, function, labels, backend, owner)

    @classmethod
    def from_function(cls, function: Any) -> "Entered | None":
        """Return what all calls of it have in common: of the arguments what it is bound to."""
        plain, args, kwargs = plain_call(function, (), {})
        wrapper = _wrapper_of(function)
        code_of = plain if wrapper is None else wrapper
        if wrapper is not None:
            _, args, kwargs = unbound(function)
        if not isinstance(code_of, FunctionType):
            return None
        try:
            bound = inspect.signature(code_of, follow_wrapped=False).bind_partial(*args, **kwargs)
        except (TypeError, ValueError):
            return None
        names = {**bound.arguments, **dict(closure_values(code_of))}
        backend, owner = backends.backend_of(function), _owner(function)
        looked_at = plain if isinstance(plain, FunctionType) else code_of
        return cls(code_of.__code__, names, {}, looked_at, (), backend, owner)

    @property
    def is_around(self) -> bool:
        """Whether dynamo is given PyTorch's own function around the user's."""
        return self.code.co_filename.endswith(_WRAPPER_FILE)

    def is_of(self, function: Any) -> bool:
        """Whether it is a call of this one."""
        plain = plain_call(function, (), {})[0]
        return self.function is plain or self.function is _wrapper_of(function)


def takes(value: Any) -> bool:
    """Whether a value is a function that torch.compile made, or was told to leave alone."""
    if type(value) is FunctionType:  # most are: this is asked in each call
        return _COMPILED in value.__dict__
    value, _, _ = unbound(value)
    if isinstance(value, torch.nn.Module) and takes(inspect.getattr_static(value, "forward", None)):
        return True
    return is_compiled(value)


def is_disabled(function: Any) -> bool:
    """Whether it is one of `torch.compiler.disable`."""
    return "_torchdynamo_disable" in attributes(unbound(function)[0])


def display_name(function: Any) -> str:
    """Return what the user calls a function or module that was compiled."""
    plain, args, _ = unbound(function)
    while (inner := _inner(plain)) is not None:
        plain, args, _ = unbound(inner)
    plain = args[0] if _is_module_call(plain, args) else plain
    return getattr(plain, "__name__", None) or type(plain).__name__


def _inner(function: Any) -> Any:
    """Return what torch.compile was given; None for what it did not make."""
    return _wrapped(function) if is_wrapper(function) else original(function)


def _owner(function: Any) -> int:
    """Return a token of the object that torch.compile was given; 0 for plain functions."""
    plain, _, _ = unbound(function)
    inner = _inner(plain)
    if inner is not None:
        return _owner(inner)
    if type(function) is MethodType:
        function = function.__self__
    is_of_class = is_compiled(inspect.getattr_static(type(function), "forward", None))
    return 0 if is_of_class or type(function) is FunctionType else token(function)


def caller(frame: FrameType) -> FrameType | None:
    """Return the frame that called what dynamo compiles, from within dynamo's work on that."""
    return next(
        (f for f, _ in walk_stack(frame) if not f.f_code.co_filename.endswith(_DYNAMO_FILES)), None
    )


def called_from(frame: FrameType) -> Invocation | None:
    """Return the call in a frame of PyTorch's that just looked for a program.

    None for any other frame, such as the rest of a function after a break.
    """
    names, code = frame.f_locals, frame.f_code
    if code.co_name == "compile_wrapper":
        function = names.get("fn")
    elif code.co_name == "_call_impl" and "compile_wrapper" in _names_above(frame):
        function = names.get("self")
    elif code.co_name == "_use_grad" and code.co_filename.endswith(_OPTIMIZER_FILE):
        function = names.get("func")
    else:
        return None
    args, kwargs = names.get("args"), names.get("kwargs")
    if not isinstance(args, tuple) or not isinstance(kwargs, dict):
        return None
    if code.co_name == "_use_grad" and args and function is not None:
        function, args = MethodType(function, args[0]), args[1:]
    return function, args, kwargs


def disabled_in(frame: FrameType) -> Any:
    """Return the user's function that `torch.compiler.disable` was given and a frame calls."""
    names, code = frame.f_locals, frame.f_code
    is_wrapper = code.co_name == "_fn" and code.co_filename.endswith("eval_frame.py")
    found = names.get("fn") if is_wrapper else None
    is_disabled = type(names.get("self")).__name__ == "DisableContext"
    return found if is_disabled and is_users_function(unbound(found)[0]) else None


def _is_module_call(function: Any, args: Args) -> bool:
    """Whether it is the `__call__` of a module, which runs its `forward`."""
    is_call = function is getattr(torch.nn.Module, "_wrapped_call_impl", None)
    return is_call and bool(args) and isinstance(args[0], torch.nn.Module)


def _names_above(frame: FrameType) -> list[str]:
    """Return those of the two frames above."""
    return [above.f_code.co_name for above, _ in islice(walk_stack(frame), 1, 3)]


def plain_call(function: Any, args: Args, kwargs: Kwargs) -> Invocation:
    """Return the plain function that a call runs, and all that it is called with."""
    function, args, kwargs = unbound(function, args, kwargs)
    inner = _inner(function)
    if inner is not None:
        return plain_call(inner, args, kwargs)
    if _is_module_call(function, args):
        function, args = args[0], args[1:]
    if isinstance(function, torch.nn.Module):
        return plain_call(function.forward, args, kwargs)
    method = inspect.getattr_static(type(function), "__call__", None)  # of an object
    if type(function) is not FunctionType and type(method) is FunctionType:
        return method, (function, *args), kwargs
    return function, args, kwargs


def _wrapper_of(function: Any) -> FunctionType | None:
    """Return PyTorch's own function around the user's, where dynamo is given that one."""
    function, _, _ = unbound(function)
    if is_wrapper(function):
        return function  # type: ignore[no-any-return]
    own = attributes(function)
    if "_orig_mod" in own.get("_modules", {}):
        return _wrapper_of(own.get("forward"))
    inner = own.get(_COMPILED)
    return inner if is_wrapper(inner) else None


def is_wrapper(function: Any) -> bool:
    """Whether a function is PyTorch's own around another one."""
    code = getattr(function, "__code__", None)
    return isinstance(code, CodeType) and code.co_filename.endswith(_WRAPPER_FILE)


def _wrapped(wrapper: FunctionType) -> Any:
    return dict(closure_values(wrapper)).get("fn")


#: Tokens of objects that were compiled, by that of the code that dynamo made in their calls.
_owners: dict[int, int] = {}


def keep_owner(made: object, owner: int) -> None:
    """Remember for which compiled object dynamo made some code."""
    _owners.setdefault(token(made), owner)


def is_own(entry: Any, entered: Entered) -> bool:
    """Whether an entry was made in a call of the same object, or that is not known."""
    return _owners.get(token(entry.code), entered.owner) == entered.owner


_given_up: set[int] = set()


def give_up(code: CodeType) -> None:
    """Note that dynamo makes no more programs of some code, whatever its limit is now."""
    _given_up.add(token(code))


def take_up(code: CodeType) -> None:
    """Note that dynamo makes programs of some code, as after `torch._dynamo.reset`."""
    _given_up.discard(token(code))


def is_given_up(code: CodeType) -> bool:
    """Whether dynamo was seen to give some code up, and was not reset since."""
    return token(code) in _given_up and not has_no_entries(code)


def entries(code: CodeType) -> list[Any]:
    """Return what dynamo keeps with some code, the newest first (private)."""
    read = _reader()
    return [] if read is None else list(read(code))


def own_entries(entered: Entered) -> list[Any]:
    """Return those not known to be made in calls of another object, or with another backend."""
    own = [entry for entry in entries(entered.code) if is_own(entry, entered)]
    return [entry for entry in own if backends.is_same(entry, entered.backend)]


def has_no_entries(code: CodeType) -> bool:
    """Whether dynamo is known to keep nothing with some code."""
    return _reader() is not None and not entries(code)


def _reader() -> Any:
    from torch._C._dynamo import eval_frame

    return getattr(eval_frame, "_debug_get_cache_entry_list", None)


def _bound(function: FunctionType, args: Args, kwargs: Kwargs) -> dict[str, Any]:
    """Return the local variables of a function as it is entered."""
    bound = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)
