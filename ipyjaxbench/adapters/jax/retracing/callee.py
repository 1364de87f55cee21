"""What a call is of: the function that `jax.jit` was given, and its arguments."""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import jax

from ipyjaxbench import usercode

#: A module with partials and methods of its own.
_EQUINOX = "equinox._module._prebuilt"
#: Wrappers of other libraries around `jax.jit`, by the module that defines them.
WRAPPERS = ("equinox._jit", "equinox._vmap_pmap", "flax.nnx.transforms.compilation")
JITTED = (type(jax.jit(len)), jax.stages.Compiled)
_OF_JAX = re.compile(r"[/\\]jax[/\\]_src[/\\]")


class Called(NamedTuple):
    """What a call is to JAX.

    Attributes:
        function: what `jax.jit` was given, or a library's own wrapper around that.
        args: its positional arguments, those of a method or a partial among them.
        kwargs: its named ones.
        transformation: that the jitted function is called by, as in "grad"; empty where by none.
    """

    function: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    transformation: str = ""

    @classmethod
    def of(cls, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> "Called":
        """That of a call of a jitted function, also behind a method, a partial or `jax.grad`."""
        kind = type(function)
        if is_method(kind):
            return cls.of(function.__func__, (function.__self__, *args), kwargs)
        if is_partial(kind):
            arguments = {**function.keywords, **kwargs}
            return cls.of(function.func, (*function.args, *args), arguments)
        if usercode.is_exactly(function, *JITTED):
            return cls(getattr(function, "__wrapped__", function), args, kwargs)
        name = transformation_of(function)
        if not name:
            return cls(function, args, kwargs)
        if name == "vmap":
            axes = dict(closed_over(_made(function))).get("in_axes", 0)
            name, args, kwargs = per_example(axes, args, kwargs)
        inner = cls.of(function.__wrapped__, args, kwargs)
        return inner._replace(transformation=" of ".join(filter(None, (name, inner[-1]))))


def is_watched(function: Any) -> bool:
    """Whether it is jitted, also behind a method, a partial, or a wrapper of a library."""
    kind = type(function)
    if is_method(kind):
        return is_watched(function.__func__)
    if is_partial(kind):
        return is_watched(function.func)
    if kind is FunctionType:
        if "lower" in vars(function):  # what `jax.pmap` gives
            return not usercode.is_users_file(function.__code__.co_filename)
        return bool(transformation_of(function)) and is_watched(function.__wrapped__)
    # `jax.stages.Wrapped` is a protocol, and asking for one takes microseconds.
    return usercode.is_exactly(function, *JITTED) or usercode.module_of(kind) in WRAPPERS


def is_method(kind: type) -> bool:
    """Whether its objects are methods with the object that they belong to."""
    return kind is MethodType or _is_of_equinox(kind, "BoundMethod")


def is_partial(kind: type) -> bool:
    """Whether its objects are functions with some arguments given."""
    return issubclass(kind, partial) or _is_of_equinox(kind, "Partial")


def _is_of_equinox(kind: type, name: str) -> bool:
    return usercode.module_of(kind) == _EQUINOX and usercode.name_of(kind) == name


def plain_of(function: Any) -> Any:
    """What was jitted, by the user's own name."""
    kind = type(function)
    if is_method(kind):
        return plain_of(function.__func__)
    if is_partial(kind):
        return plain_of(function.func)
    inner = inspect.unwrap(function)
    return inner if inner is function else plain_of(inner)


def name_of(plain: Any) -> str:
    """The name of what was jitted; of an object that is called, its type's."""
    return getattr(plain, "__name__", None) or type(plain).__name__


def transformation_of(function: Any) -> str:
    """The name of the function of JAX that made another one, as in "grad"; empty of any other."""
    if type(function) is not FunctionType or not hasattr(function, "__wrapped__"):
        return ""
    if not _OF_JAX.search(function.__code__.co_filename):
        return ""
    return _made(function).__code__.co_qualname.partition(".")[0]


def _made(function: FunctionType) -> FunctionType:
    """What a transformation made, within what shortens tracebacks."""
    made = dict(closed_over(function)).get("fun")
    is_made = made is not inspect.unwrap(function, stop=lambda each: each is not function)
    return made if type(made) is FunctionType and is_made else function


def per_example(
    axes: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[str, Sequence[Any], Mapping[str, Any]]:
    """What `jax.vmap` hands on: arrays of one example, and how it maps, with the number of these.

    Args:
        axes: that it maps over, as it was given them.
        args: of the call.
        kwargs: of the call; they are mapped over their first axis.
    """
    sizes: list[int] = []

    def one(value: Any, axis: int | None) -> Any:
        shape = getattr(value, "shape", None)
        if axis is None or not shape:
            return value
        sizes.append(shape[axis])
        whole = range(len(shape))
        rest = tuple(shape[each] for each in whole if each != axis % len(shape))
        return jax.ShapeDtypeStruct(rest, value.dtype, weak_type=bool(jax.typeof(value).weak_type))

    try:
        spread = jax.tree.broadcast(tuple(axes) if isinstance(axes, list) else axes, tuple(args),
                                    is_leaf=lambda x: x is None)  # fmt: skip
        mapped = jax.tree.map(lambda axis, value: one(value, axis), spread, tuple(args),
                              is_leaf=lambda x: x is None)  # fmt: skip
        named = jax.tree.map(lambda value: one(value, 0), dict(kwargs))
    except Exception:  # noqa: BLE001  arguments that do not fit, or another version
        return "vmap", args, kwargs
    return f"vmap over {sizes[0]}" if sizes else "vmap", mapped, named


def transformations(function: Any) -> Iterator[str]:
    """Names of all that JAX put around a function, the outermost first."""
    while name := transformation_of(function):
        yield name
        function = function.__wrapped__


def closed_over(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Closed-over values of a function that have one, by name."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        try:
            yield name, cell.cell_contents
        except ValueError:  # nothing stands there yet
            continue
