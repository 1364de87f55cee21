"""Traces any call into a jaxpr: what cannot be traced is static, and found by trying."""

import contextlib
import functools
import inspect
import io
import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any

import jax
import jax.extend
import numpy as np
from jax.extend import source_info_util

from ipyjaxbench.expression import Call
from ipyjaxbench.frameworks.jax import program

# Lines of this file are not the user's.
source_info_util.register_exclusion(__file__)

_HOLE = None  # what stands in a tree where a static leaf was
_MOST_TRIES = 32
#: JAX's words where it knows which arguments a failing value comes from.
_BLAMED = re.compile(r"depends on the values? of the arguments? (.+?)\.\s", re.DOTALL)
_BETWEEN = re.compile(r", and |, | and ")
#: Values that are more often a choice than data, the likeliest first.
_CHOICES: tuple[type, ...] = (bool, str, type(None), int, tuple, float)


@dataclass(frozen=True)
class Traced:
    """A call as a program.

    Attributes:
        closed: its jaxpr, with the constants that it captured.
        names: of the inputs, a name for each array, as in ``params['w']``.
        values: of the inputs, in the same order.
        static: arguments that were made static beside those that cannot be traced anyway.
        untraceable: arguments that are no data, such as strings and functions.
        call: of one argument for each input's tree, ready to be lowered.
        tries: how often the user's code was traced.
        printed: what it printed meanwhile.
    """

    closed: Any
    names: tuple[str, ...]
    values: tuple[Any, ...]
    static: tuple[str, ...]
    untraceable: tuple[str, ...]
    call: tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]
    tries: int
    printed: str


class NoChoiceError(Exception):
    """No choice of static arguments makes a call traceable.

    Attributes:
        error: what tracing with none raised.
        blamed: the arguments that are responsible, as far as that is known.
        tries: how often the user's code was traced.
    """

    def __init__(self, error: Exception, blamed: Sequence[str], tries: int) -> None:
        super().__init__(str(error))
        self.error, self.blamed, self.tries = error, tuple(blamed), tries


def is_leaf(value: object) -> bool:
    """Whether a leaf of an argument is data: an array, a number, or the shape of one."""
    if isinstance(value, bool | int | float | complex | jax.Array | jax.ShapeDtypeStruct):
        return True
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind not in "OSUMm"
    return hasattr(value, "__jax_array__")


def trace(call: Call) -> Traced:
    """Trace a call; arguments on whose values it depends are made static, as few as will do.

    Args:
        call: it is not made: only shapes are followed.

    Returns:
        The program.

    Raises:
        NoChoiceError: none of the choices that were tried helps.
    """
    __tracebackhide__ = True
    call = _with_self(call)
    written = io.StringIO()
    tries = 0

    def attempt(static: frozenset[str]) -> Traced:
        nonlocal tries
        tries += 1
        written.seek(0)
        written.truncate()
        with contextlib.redirect_stdout(written):
            return _traced(call, static, lambda: (tries, written.getvalue()))

    try:
        return attempt(frozenset())
    except Exception as error:  # noqa: BLE001  the user's code may raise anything
        first = error
    candidates = _candidates(call, first)
    for static in itertools.islice(_choices(candidates), _MOST_TRIES):
        try:
            return attempt(static)
        except Exception:  # noqa: BLE001  the first error is the one to tell
            continue
    raise NoChoiceError(first, blamed(first), tries) from first


def traces(call: Call, fixed: Collection[str]) -> bool:
    """Whether a call traces, with some arguments as fixed values and no other made static."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            _traced(_with_self(call), frozenset(fixed), lambda: (1, ""))
        except Exception:  # noqa: BLE001  the user's code may raise anything
            return False
    return True


def lowered(traced: Traced, stage: str, platform: str | None) -> str:
    """The text of a program at a later stage; only "optimized" compiles it.

    Args:
        traced: the program.
        stage: "stablehlo", "hlo" or "optimized".
        platform: for which it is lowered; None takes that of the default device.
    """
    wrapper, args, kwargs = traced.call
    stages = jax.jit(wrapper).trace(*args, **kwargs)
    low = stages.lower(lowering_platforms=(platform,)) if platform else stages.lower()
    return str(low.compile().as_text() if stage == "optimized" else low.as_text(dialect=stage))


def blamed(error: Exception) -> list[str]:
    """The arguments that JAX's words make responsible."""
    found = _BLAMED.search(str(error))
    return _BETWEEN.split(found[1]) if found else []


def _with_self(call: Call) -> Call:
    """A method of a tree of arrays as a function of that tree: its arrays are inputs then."""
    function = call.function
    if isinstance(function, MethodType):
        owner, plain = function.__self__, function.__func__
    elif not inspect.isroutine(function):
        owner, plain = function, inspect.getattr_static(type(function), "__call__", None)
    else:
        return call
    if isinstance(function, jax.stages.Wrapped) or not inspect.isfunction(plain):
        return call
    if not any(is_leaf(leaf) for leaf in jax.tree.leaves(owner)) or owner is None:
        return call
    return Call(call.text, plain, (owner, *call.args), call.kwargs, ("self", *call.labels))


def _traced(call: Call, static: frozenset[str], so_far: Callable[[], tuple[int, str]]) -> Traced:
    __tracebackhide__ = True
    parts = [_Part(n, v, n in static) for n, v in zip(call.labels, call.args, strict=True)]
    # Sorted, as JAX flattens them: names are held against its inputs one by one.
    named = {n: _Part(n, v, n in static) for n, v in sorted(call.kwargs.items())}

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        whole = [part.whole(arg) for part, arg in zip(parts, args, strict=True)]
        return call.function(*whole, **{n: named[n].whole(v) for n, v in kwargs.items()})

    _dress(wrapper, call.function)
    args, kwargs = [part.data for part in parts], {n: part.data for n, part in named.items()}
    closed = jax.make_jaxpr(wrapper)(*args, **kwargs)
    _refuse_leaks(closed)
    everything = [*parts, *named.values()]
    leaves = [leaf for part in everything for leaf in part.leaves()]
    tries, printed = so_far()
    return Traced(
        closed=closed,
        names=tuple(name for name, _ in leaves),
        values=tuple(value for _, value in leaves),
        static=tuple(n for n in (*call.labels, *call.kwargs) if n in static),
        untraceable=tuple(p.name for p in everything if p.name not in static and p.no_data),
        call=(wrapper, args, kwargs),
        tries=tries,
        printed=printed,
    )


def _refuse_leaks(closed: Any) -> None:
    """Raise where a value of an earlier trace is used: `jax.make_jaxpr` takes it for a constant."""
    variables = zip(closed.jaxpr.constvars, closed.consts, strict=True)
    leaked = {variable for variable, value in variables if isinstance(value, jax.core.Tracer)}
    for equation in closed.jaxpr.eqns:
        if leaked.intersection(v for v in equation.invars if isinstance(v, jax.extend.core.Var)):
            error = jax.errors.UnexpectedTracerError("a value of an earlier trace is used")
            error.place = program.place_of(equation.source_info)
            raise error


def _dress(wrapper: Any, function: Any) -> None:
    """Make a wrapper look like what it wraps: JAX's errors then name the user's arguments."""
    with contextlib.suppress(ValueError, TypeError):
        wrapper.__signature__ = inspect.signature(function)
    name = getattr(function, "__name__", None) or type(function).__name__
    wrapper.__name__ = wrapper.__qualname__ = name
    if hasattr(function, "__code__"):
        functools.update_wrapper(wrapper, function, updated=())
        wrapper.__name__ = name


class _Part:
    """One argument, cut into the leaves that are data and those that are not."""

    def __init__(self, name: str, value: Any, static: bool) -> None:  # noqa: FBT001
        self.name = name
        self._leaves, self._tree = jax.tree.flatten(value)
        self._is_data = [not static and is_leaf(leaf) for leaf in self._leaves]
        kept = [
            leaf if is_data else _HOLE
            for leaf, is_data in zip(self._leaves, self._is_data, strict=True)
        ]
        self.data = jax.tree.unflatten(self._tree, kept)

    @property
    def no_data(self) -> bool:
        """Whether it has leaves, and none of them is data."""
        return bool(self._leaves) and not any(self._is_data)

    def whole(self, data: Any) -> Any:
        """The argument with traced leaves in place of data."""
        traced = iter(jax.tree.leaves(data))
        leaves = [
            next(traced) if is_data else leaf
            for leaf, is_data in zip(self._leaves, self._is_data, strict=True)
        ]
        return jax.tree.unflatten(self._tree, leaves)

    def leaves(self) -> Iterator[tuple[str, Any]]:
        """Each leaf that is data, with the path to it."""
        for path, leaf in jax.tree_util.tree_leaves_with_path(self.data):
            yield self.name + jax.tree_util.keystr(path), leaf


def _candidates(call: Call, error: Exception) -> list[str]:
    """Arguments that may have to be static: those that JAX names first, then the likely ones."""
    given: Mapping[str, Any] = {**dict(zip(call.labels, call.args, strict=True)), **call.kwargs}
    given = {name: value for name, value in given.items() if _can_be_static(value)}
    named = [name.partition("[")[0].partition(".")[0] for name in blamed(error)]
    kinds = {n: next((i for i, k in enumerate(_CHOICES) if isinstance(v, k)), None)
             for n, v in given.items()}  # fmt: skip
    likely = sorted((n for n in given if kinds[n] is not None), key=lambda n: kinds[n] or 0)
    return list(dict.fromkeys([*(n for n in named if n in likely), *likely]))


def _can_be_static(value: Any) -> bool:
    """Whether `jax.jit` would take it: what cannot be hashed, or holds arrays, it refuses."""
    try:
        hash(value)
    except TypeError:
        return False
    return not any(isinstance(leaf, jax.Array | np.ndarray) for leaf in jax.tree.leaves(value))


def _choices(candidates: Sequence[str]) -> Iterator[frozenset[str]]:
    """The fewest first."""
    for size in range(1, len(candidates) + 1):
        yield from map(frozenset, itertools.combinations(candidates, size))
