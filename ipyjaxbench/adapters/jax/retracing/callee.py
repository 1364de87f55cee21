"""What a call is of: the function that `jax.jit` was given, and its arguments."""

import functools
import inspect
import re
from collections.abc import Iterator, Mapping
from types import FunctionType, MappingProxyType, MethodType
from typing import Any, NamedTuple

import jax
from jax._src import core

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.retracing import ufuncs
from ipyjaxbench.adapters.jax.retracing.copied import JIT_CLASS, of_original
from ipyjaxbench.adapters.shared import retracing
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Args, Invocation, Kwargs
from ipyjaxbench.usercode import (
    closure_values,
    is_exactly,
    is_users_file,
    is_users_function,
    module_of,
    name_of,
)

#: A module with partials and methods of its own.
_EQUINOX = "equinox._module._prebuilt"
#: Wrappers of other libraries around `jax.jit`, by the module that defines them.
FLAX = "flax.nnx.transforms.compilation"
WRAPPERS = ("equinox._jit", "equinox._vmap_pmap", FLAX)
JITTED = (JIT_CLASS, jax.stages.Compiled)
#: Private classes of what traces values without building a program, with what people call.
_TRANSFORMATIONS = {"LinearizeTrace": "grad", "JVPTrace": "jvp", "BatchTrace": "vmap"}
#: What traces a function and does not call it.
_INSPECTING = ("make_jaxpr", "eval_shape")
#: Methods that do so.
_AHEAD = [getattr(JITTED[0], name, None) for name in ("lower", "trace", "eval_shape")]
#: Compiles ahead of time what was lowered.
COMPILE: Any = jax.stages.Lowered.compile
_OF_JAX = re.compile(r"[/\\]jax[/\\]_src[/\\]")


class Called(NamedTuple):
    """What a call is to JAX; arguments of a method or a partial are among the others."""

    function: Any  # what `jax.jit` was given, or a library's own wrapper around that
    args: Args
    kwargs: Kwargs
    transformation: str = ""  # by which the jitted function is called, as in "grad"
    static: frozenset[int | str] | None = None  # positions and names; None where they are unknown
    options: Mapping[str, str] = MappingProxyType({})  # of `jax.jit`, where they are known

    def role(self, position: int | str) -> str:
        """Return what an argument is: "static", "data", or "?" where that is not known.

        What Equinox is given is static but for the arrays in it: "arrays".
        """
        if self.static is None:
            is_equinox = module_of(type(self.function)).startswith("equinox.")
            return "arrays" if is_equinox else "?"
        return "static" if position in self.static else "data"

    @classmethod
    def from_call(cls, function: Any, args: Args, kwargs: Kwargs) -> "Called":
        """Return that of a call of a jitted function, also in a method, a partial or `jax.grad`."""
        function, args, kwargs = unbound(function, args, kwargs)
        if is_exactly(function, *JITTED):
            info = getattr(function, "_jit_info", None)
            wrapped = getattr(function, "__wrapped__", function)
            return cls(wrapped, args, kwargs, "", static_in(info), options_in(info))
        name = transformation_of(function)
        if not name:
            return cls(function, args, kwargs)
        if name == "vmap":
            axes = dict(closure_values(_made(function))).get("in_axes", 0)
            name, args, kwargs = per_example(axes, args, kwargs)
        inner = cls.from_call(function.__wrapped__, args, kwargs)
        names = filter(None, (name, inner.transformation))
        return inner._replace(transformation=" of ".join(names))


def static_in(info: Any) -> frozenset[int | str] | None:
    """Return what is static by what JAX keeps with a jitted function (private)."""
    try:
        return frozenset((*info.static_argnums, *info.static_argnames))
    except (AttributeError, TypeError):  # another version, or what was compiled ahead of time
        return None


def options_in(info: Any) -> Mapping[str, str]:
    """Return the options of `jax.jit` that need another program, and no new trace (private)."""
    try:
        options = {"donate_argnums": str(info.donate_argnums)}
        for name in ("in_shardings", "out_shardings"):
            leaves = getattr(info, f"{name}_leaves")
            given = [
                sharding_words(each) for each in leaves if name_of(type(each)) != "UnspecifiedValue"
            ]
            options[name] = retracing.shorten(", ".join(given)) or "none"
        options["compiler_options"] = retracing.shorten(str(dict(info.compiler_options_kvs)))
    except (AttributeError, TypeError, ValueError):  # as in `static_in`
        return {}
    return options


def sharding_words(sharding: Any) -> str:
    """Return how an array is split over which mesh, in short."""
    spec, mesh = (getattr(sharding, name, None) for name in ("spec", "mesh"))
    return str(sharding) if spec is None else f"{spec} over {dict(getattr(mesh, 'shape', {}))}"


def _is_method(kind: type) -> bool:
    return kind is MethodType or _is_of_equinox(kind, "BoundMethod")


def _is_partial(kind: type) -> bool:
    return issubclass(kind, functools.partial) or _is_of_equinox(kind, "Partial")


def _is_of_equinox(kind: type, name: str) -> bool:
    return module_of(kind) == _EQUINOX and name_of(kind) == name


def unbound(function: Any, args: Args = (), kwargs: Kwargs | None = None) -> Invocation:
    """Return the function in methods, partials and ufuncs, and all that it is called with."""
    found = retracing.unbound(function, args, kwargs, is_method=_is_method, is_partial=_is_partial)
    return ufuncs.unbound(*found) if type(found[0]) is ufuncs.UFUNC else of_original(*found)


def is_watched(function: Any) -> bool:
    """Whether it is jitted, also behind a method, a partial, or a wrapper of a library."""
    if type(function) is JITTED[0]:  # asked first, for it is asked in every call
        return True
    function, _, _ = unbound(function)
    kind = type(function)
    if kind is FunctionType:
        if function is COMPILE:
            return True
        if "lower" in vars(function):
            return is_mapped(function)
        if transformation_of(function) in _INSPECTING:
            return False
        return bool(transformation_of(function)) and is_watched(function.__wrapped__)
    # `jax.stages.Wrapped` is a protocol, and asking for one takes microseconds.
    return is_exactly(function, *JITTED) or module_of(kind) in WRAPPERS


def inspected_by(method: MethodType) -> Any:
    """Return the jitted function that a method of it, as ``f.lower``, traces; None for others."""
    is_ahead = type(method.__self__) is JITTED[0] and method.__func__ in _AHEAD
    return method.__self__ if is_ahead else None


def lowered_name(function: Any) -> str:
    """Return the name of what ``f.lower(x).compile`` compiles (private); "" for all others."""
    if type(function) is not MethodType or function.__func__ is not COMPILE:
        return ""
    name = getattr(getattr(function.__self__, "_lowering", None), "_name", "")
    return re.sub(r"^jit[_(](.*?)\)?$", r"\1", str(name)) or COMPILE.__name__


def jitted_in(function: Any) -> Any:
    """Return the jitted function, or a library's wrapper, within methods and transformations."""
    function, _, _ = unbound(function)
    is_around = transformation_of(function) and "lower" not in vars(function)
    return jitted_in(function.__wrapped__) if is_around else function


def static_arguments(jitted: Any) -> frozenset[int | str]:
    """Return positions and names of static arguments; none where JAX does not say.

    Args:
        jitted: what `jax.jit` or `jax.pmap` gave, or what a library puts around that.
    """
    known = static_in(getattr(getattr(jitted, "jitted_fn", jitted), "_jit_info", None))
    mapping = dict(closure_values(jitted)).get("infer_params") if is_mapped(jitted) else None
    return mapped_function(mapping)[1] if type(mapping) is FunctionType else known or frozenset()


def is_mapped(function: Any) -> bool:
    """Whether `jax.pmap` gave it."""
    is_function = type(function) is FunctionType and "lower" in vars(function)
    return is_function and not is_users_file(function.__code__.co_filename)


def mapped_function(mapping: FunctionType) -> tuple[Any, frozenset[int | str]]:
    """Return what `jax.pmap` was given, and which positions are static.

    Args:
        mapping: ``infer_params`` within what it gave (private; not there in old versions).
    """
    held = dict(closure_values(mapping))
    static = frozenset(held.get("static_broadcasted_tuple", ()))
    return getattr(held.get("wrapped_fun"), "f", None), static


def plain_of(function: Any) -> Any:
    """Return the user's own function in what was jitted."""
    function, _, _ = unbound(function)
    inner = inspect.unwrap(function)
    return inner if inner is function else plain_of(inner)


def called_name(function: Any) -> str:
    """Return the name of what was jitted in a function; of a ufunc its own."""
    inner = retracing.unbound(function)[0]
    return display_name(plain_of(function) if type(inner) is not ufuncs.UFUNC else inner)


def display_name(plain: Any) -> str:
    """Return the name of what was jitted; of an object that is called, its type's."""
    return getattr(plain, "__name__", None) or type(plain).__name__


def full_name(plain: Any) -> str:
    """Return the name of a function of the user's with what defines it, as in "make_a.step"."""
    if not is_users_function(plain):
        return ""
    return plain.__qualname__.replace("<locals>.", "")


def transformation_of(function: Any) -> str:
    """Return the name of JAX's function that made another one, as in "grad"; else ""."""
    if type(function) is not FunctionType or not hasattr(function, "__wrapped__"):
        return ""
    if not _OF_JAX.search(function.__code__.co_filename):
        return ""
    return _made(function).__code__.co_qualname.partition(".")[0]


def _made(function: FunctionType) -> FunctionType:
    """Return what a transformation made, within what shortens tracebacks."""
    made = dict(closure_values(function)).get("fun")
    is_made = made is not inspect.unwrap(function, stop=lambda each: each is not function)
    return made if type(made) is FunctionType and is_made else function


class Example(jax.ShapeDtypeStruct):
    """What `jax.vmap` hands on of an array."""


def per_example(axes: Any, args: Args, kwargs: Kwargs) -> tuple[str, Args, Kwargs]:
    """Return how `jax.vmap` maps over axes, and what it hands on: arrays of one example.

    Named arguments are mapped over their first axis.
    """
    sizes: list[int] = []

    def one(value: Any, axis: int | None) -> Any:
        shape = getattr(value, "shape", None)
        if axis is None or not shape:
            return value
        sizes.append(shape[axis])
        rest = tuple(size for at, size in enumerate(shape) if at != axis % len(shape))
        return Example(rest, value.dtype, weak_type=bool(jax.typeof(value).weak_type))

    try:
        args, axes = tuple(args), tuple(axes) if isinstance(axes, list) else axes
        axes = trees.walk(jax.tree.broadcast, axes, args, is_leaf=_is_none)
        mapped = trees.walk(jax.tree.map, one, args, axes, is_leaf=_is_none)
        named = trees.map_leaves(lambda value: one(value, 0), dict(kwargs))
    except CODE_ERRORS:  # arguments that do not fit, or another version
        return "vmap", args, kwargs
    return f"vmap over {sizes[0]}" if sizes else "vmap", mapped, named


def _is_none(value: Any) -> bool:
    return value is None


def transformation_around() -> str:
    """Return within what the running code is called, as in "vmap over 4 of grad"; else "".

    Which one that is stands in a private place; before JAX 0.4.36 it is not known.
    """
    return _transformation_by(getattr(getattr(core, "trace_ctx", None), "trace", None))


def transformation_of_values(values: Any) -> str:
    """Return the same for code that was given some values: those that are traced tell."""
    traced = (each for each in trees.leaves(values) if isinstance(each, core.Tracer))
    return _transformation_by(getattr(next(traced, None), "_trace", None))


def _transformation_by(trace: Any) -> str:
    names = []
    while name := _TRANSFORMATIONS.get(type(trace).__name__):
        size = getattr(getattr(trace, "axis_data", None), "size", None)
        names.append(f"{name} over {size}" if name == "vmap" and size else name)
        trace = getattr(trace, "parent_trace", None)
    return " of ".join(reversed(names))


def transformations(function: Any) -> Iterator[str]:
    """Yield the names of all that JAX put around a function, the outermost first."""
    while name := transformation_of(function):
        yield name
        function = function.__wrapped__
