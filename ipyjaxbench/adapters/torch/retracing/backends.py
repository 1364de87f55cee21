"""What torch.compile was told to compile with: a program is found by calls with the same alone."""

from itertools import islice
from traceback import walk_stack
from types import FrameType, FunctionType
from typing import Any

from ipyjaxbench.adapters.shared.retracing import unbound
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Change
from ipyjaxbench.usercode import attributes, closure_values

_OF = "of torch.compile"


def backend_of(function: Any) -> Any:
    """Return the backend of a compiled function or module; None where that is unknown."""
    function, _, _ = unbound(function)
    own = attributes(function)
    context = own.get("dynamo_ctx")
    if context is not None:
        return _innermost(getattr(context, "callback", None))
    wrapper = own.get("_compiled_call_impl") or function
    is_made = isinstance(wrapper, FunctionType)
    return _innermost(dict(closure_values(wrapper)).get("callback") if is_made else None)


def backend_in(frame: FrameType) -> Any:
    """Return the backend of the call in a frame of PyTorch's; None where that is unknown."""
    frames = (each for each, _ in islice(walk_stack(frame), 3))
    wrapper = next((f for f in frames if f.f_code.co_name == "compile_wrapper"), None)
    return None if wrapper is None else _innermost(wrapper.f_locals.get("callback"))


def _innermost(callback: Any) -> Any:
    while (inner := getattr(callback, "_torchdynamo_orig_backend", None)) is not None:
        callback = inner
    return callback


def is_same(entry: Any, backend: Any) -> bool:
    """Whether an entry was made with a backend, or one of the two is unknown."""
    made_with = getattr(entry, "backend", None)
    try:
        return made_with is None or backend is None or bool(made_with == backend)
    except CODE_ERRORS:  # the user's own backends may compare as they like
        return False


def difference(entry: Any, backend: Any) -> Change:
    """Return in what an entry's backend differs, in torch.compile's own words."""
    old, new = _told(entry.backend), _told(backend)
    if old and old.get("backend") is new.get("backend"):
        for name in dict.fromkeys([*old, *new]):
            if old.get(name) != new.get(name):
                return Change("setting", f"{name} {_OF}", str(old.get(name)), str(new.get(name)))
    return Change("guard", new="different backend for the same code")


def _told(backend: Any) -> dict[str, Any]:
    """Return what torch.compile was given, by name; nothing where that is not known."""
    if not hasattr(backend, "compiler_fn"):
        return {}
    dynamic = getattr(backend, "dynamic", None)
    return {"backend": backend.compiler_fn, "dynamic": dynamic, **getattr(backend, "kwargs", {})}
