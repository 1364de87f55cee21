"""The programs that JAX keeps of jitted functions, whoever had them traced."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import jax
from jax._src import config
from jax._src.interpreters import partial_eval

from ipyjaxbench.adapters.jax.retracing import callee
from ipyjaxbench.adapters.jax.retracing.cache_clearing import were_cleared
from ipyjaxbench.adapters.jax.retracing.callee import Called
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Args, Invocation, KeptPrograms, Kwargs
from ipyjaxbench.usercode import attributes, is_exactly, living_token


class EarlierTraces:
    """The functions that were traced before they were noted, as far as JAX keeps their traces.

    JAX's cache is private, and shows its keys from 0.10 on; before, none are known.
    """

    def __init__(self) -> None:
        # By identity, which another may get; None where they are not known.
        self._functions: dict[int, Callable[[], Any]] | None = None

    def note(self) -> None:
        """Note those that are there now: later ones are seen."""
        with suppress(*CODE_ERRORS):  # another version keys them anew
            references = [reference for reference, *_ in _cache().cache_keys()]
            self._functions = {id(each()): each for each in references}

    def __contains__(self, plain: Any) -> bool:
        reference = (self._functions or {}).get(id(plain))
        return reference is not None and reference() is plain

    def may_hold(self, plain: Any) -> bool:
        """Whether a function is one of them, or that is not known."""
        return self._functions is None or plain in self


#: Those of before the extension was loaded.
EARLIER = EarlierTraces()


class JaxKeptPrograms(KeptPrograms):
    """Those of JAX's cache of traces, which is private, and shows its keys from 0.10 on."""

    def calls(self, function: Any) -> Sequence[Invocation]:
        """Return the calls of what is jitted in a function; their arrays may lie anywhere."""
        jitted, (_, bound, _) = callee.jitted_in(function), callee.unbound(function)
        if not is_exactly(jitted, *callee.JITTED):
            return []
        try:
            calls = [*_kept_calls(attributes(jitted)["__wrapped__"])]
        except CODE_ERRORS:  # another version keys them anew
            return []
        if not bound:
            return [(jitted, args, kwargs) for args, kwargs in calls]
        # A method's programs for other objects are not those that its calls run.
        own = [(args, kwargs) for args, kwargs in calls if args[0] is bound[0]]
        return [(function, args[len(bound) :], kwargs) for args, kwargs in own]

    def may_be_compiled(self, function: Any) -> bool:
        """Whether calls have a program: to look at a function, as `%jaxpr` does, makes none."""
        return count_programs(callee.jitted_in(function)) != 0

    def are_dropped(self, function: Any, args: Args, kwargs: Kwargs) -> bool:
        """Whether caches were cleared since it was traced."""
        return were_cleared(living_token(Called.from_call(function, args, kwargs).function))

    def may_be_unseen(self, function: Any) -> bool:
        """Whether it is one of those of before the extension was loaded."""
        return EARLIER.may_hold(getattr(_within_library(function), "__wrapped__", None))


def count_programs(function: Any) -> int:
    """Count the programs that a jitted function finds without Python; -1 where not known."""
    size = getattr(_within_library(function), "_cache_size", None)
    return size() if size is not None else -1


def _within_library(function: Any) -> Any:
    """Return what JAX itself jitted in what Equinox or Flax gives; any other one as it is."""
    if type(function) is not callee.JITTED[0]:
        for name in ("_cached", "jitted_fn"):
            function = getattr(function, name, function)
    return function


def _cache() -> Any:
    return getattr(partial_eval, "trace_to_jaxpr", None)


def _kept_calls(plain: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    here = config.trace_context()
    for reference, context, (types, made_for, *_), *_ in _cache().cache_keys():
        if reference() is plain and context == here and made_for.traced_for == "jit":
            yield jax.tree.map(_shape, types.unflatten())


def _shape(value: Any) -> Any:
    """Return the shape of an array by its type; all else is static."""
    if not isinstance(value, jax.core.ShapedArray):
        return value
    return jax.ShapeDtypeStruct(value.shape, value.dtype, weak_type=value.weak_type)
