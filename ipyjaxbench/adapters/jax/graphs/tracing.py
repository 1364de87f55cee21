"""Traces any call into a jaxpr: what cannot be traced is static, and found by trying."""

import contextlib
import io
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax

from ipyjaxbench.adapters.jax.compilation import is_jitted
from ipyjaxbench.adapters.jax.diagnosis import return_types
from ipyjaxbench.adapters.jax.diagnosis.call_graph import holds_numbers, is_filtered, is_of_jax
from ipyjaxbench.adapters.jax.diagnosis.provenance import requested_arguments, requested_in_body
from ipyjaxbench.adapters.jax.graphs import program
from ipyjaxbench.adapters.jax.graphs.arguments import Part, dress, is_array, is_leaf, unbind_method
from ipyjaxbench.adapters.jax.graphs.isolation import JaxUndoLog
from ipyjaxbench.adapters.jax.graphs.static_search import Choices, blamed, is_declared
from ipyjaxbench.adapters.jax.graphs.trace_cache import count_traces
from ipyjaxbench.adapters.jax.own_work import hide_our_lines, quiet_log
from ipyjaxbench.adapters.shared.diagnosis.source_edit import MADE
from ipyjaxbench.adapters.shared.undo_log import SideEffects
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import keras_stateless_scope
from ipyjaxbench.usercode import Call, OutOfTimeError, is_of, is_users_file, time_limit

_MOST_SECONDS = 4.0  # after which no other choice of static arguments is tried
#: Turns of a loop up to which a choice that JAX names may take longer.
_MOST_TURNS = 10_000
#: Longer programs are not compiled only to see what they give.
_MOST_EQUATIONS = 2_000
#: Errors after which none is tried either: no choice of static arguments mends them.
_FINAL = (jax.errors.UnexpectedTracerError, return_types.NoDataError, RecursionError)


@dataclass(frozen=True)
class Traced:
    """A call as a program.

    Attributes:
        closed: its jaxpr, with the constants that it captured.
        names: of the inputs, a name for each array, as in ``params['w']``.
        values: of the inputs, in the same order.
        static: arguments that have to be static, beside those that cannot be traced anyway; empty
            where the called function already has all of them static.
        untraceable: arguments that are no data, or static in the called function.
        within: what is no data in arguments that hold data too.
        call: of one argument for each input's tree, ready to be lowered.
        tries: how often the user's code was traced.
        known: traces that JAX had before, by `count_traces`.
    """

    closed: Any
    names: tuple[str, ...]
    values: tuple[Any, ...]
    static: tuple[str, ...]
    untraceable: tuple[str, ...]
    call: tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]
    within: tuple[str, ...] = ()
    tries: int = 1
    printed: str = ""
    side_effects: SideEffects = field(default_factory=SideEffects)
    known: Counter[str] | None = None


@dataclass(eq=False)
class NoChoiceError(Exception):
    """No choice of static arguments makes a call traceable.

    Attributes:
        error: what tracing raised, with those arguments static that it needs at least.
        blamed: the arguments that are responsible for the error, as far as JAX names them.
        tries: how often the user's code was traced.
        static: the arguments that it needs to be static at least.
        stopped: whether choices were left, and no time for them.
    """

    error: BaseException
    blamed: Sequence[str]
    tries: int
    static: Sequence[str] = ()
    stopped: bool = False


def trace(call: Call) -> Traced:
    """Trace a call; arguments on whose values it depends are made static, as few as will do.

    Raises:
        NoChoiceError: none of the choices that were tried helps.
    """
    __tracebackhide__ = True
    whole = unbind_method(call)
    written = io.StringIO()
    choices = Choices(whole)
    known = count_traces()
    with contextlib.redirect_stdout(written):
        for static in choices.upto(_MOST_SECONDS):
            written.seek(0)
            written.truncate()
            try:
                with (
                    silent() if static else contextlib.nullcontext(),
                    _limit_loops(choices, static),
                ):
                    traced = _traced(whole, static)
            except OutOfTimeError:
                choices.stopped = True
                break
            except CODE_ERRORS as error:  # the user's code may raise anything
                choices.failed(static, error)
                if isinstance(error, _FINAL):
                    break
                continue
            traced = _drop_declared(call, _fix_numbers(whole, traced, choices))
            return replace(traced, printed=written.getvalue(), known=known)
    needed, fault = choices.root_failure()
    named = blamed(fault, whole)
    raise NoChoiceError(fault, named, choices.tries, needed, choices.stopped) from fault


def traced_as(call: Call, fixed: Collection[str] = ()) -> Traced:
    """Return a call as a program, with these arguments fixed and no other made static.

    Raises:
        Exception: whatever tracing raises.
    """
    with contextlib.redirect_stdout(io.StringIO()):
        return _traced(unbind_method(call), frozenset(fixed))


def error_of(call: Call, fixed: Collection[str]) -> BaseException | None:
    """Return what tracing a call raises, with these arguments as fixed values; None if nothing.

    What the user's code prints is dropped, and what it changes is put back.
    """
    try:
        with silent(), contextlib.redirect_stdout(io.StringIO()), limit_time(_MOST_SECONDS):
            _traced(unbind_method(call), frozenset(fixed))
    except OutOfTimeError:
        return TimeoutError("tracing took too long")
    except CODE_ERRORS as error:  # the user's code may raise anything
        return error
    return None


def traces(call: Call, fixed: Collection[str]) -> bool:
    """Whether a call traces, with some arguments as fixed values and no other made static."""
    return error_of(call, fixed) is None


def run(call: Call, fixed: Collection[str]) -> Any:
    """Return what a call gives under jit, with these arguments as fixed values.

    Raises:
        OutOfTimeError: its program is too long to be compiled soon.
    """
    traced = _traced(unbind_method(call), frozenset(fixed))
    if sum(1 for _ in program.equations_of(traced.closed.jaxpr)) > _MOST_EQUATIONS:
        raise OutOfTimeError
    wrapper, args, kwargs = traced.call
    # Ahead of time: what listens to calls of jitted functions takes it for none of the user's.
    return jax.jit(wrapper).trace(*args, **kwargs).lower().compile()(*args, **kwargs)


def lowered(traced: Traced, stage: str, platform: str | None) -> str:
    """Return the text of a later stage; without a platform it is for the default device."""
    wrapper, args, kwargs = traced.call
    stages = jax.jit(wrapper).trace(*args, **kwargs)
    low = stages.lower(lowering_platforms=(platform,)) if platform else stages.lower()
    return str(low.compile().as_text() if stage == "optimized" else low.as_text(dialect=stage))


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Hide the warnings of what is only tried, and what JAX logs of it."""
    with quiet_log(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _limit_loops(
    choices: Choices, static: frozenset[str]
) -> contextlib.AbstractContextManager[None]:
    """Limit the time of loops of many turns; what jit would trace takes the time that it takes.

    Only a large number among what is static makes such a loop. To follow the code costs as much
    time as tracing it, and so is left out where there is none.
    """
    if not choices.has_large(static):
        return contextlib.nullcontext()
    return limit_time(choices.left, _MOST_TURNS if choices.is_named else 0)


def limit_time(seconds: float, turns: int = 0) -> contextlib.AbstractContextManager[None]:
    """Limit the time of the user's code, in files and in fixes; see `usercode.within`."""
    return time_limit(seconds, lambda file: file.startswith(MADE) or is_users_file(file), turns)


def _fix_numbers(call: Call, traced: Traced, choices: Choices) -> Traced:
    """Return the program with whole numbers fixed, where a function of JAX's differs then.

    Without jit, ``jnp.power(x, 2)`` is a square, and ``fori_loop(0, 10, ...)`` a loop of ten turns.
    In the user's own functions a number is an input, as it is for `jax.jit`.
    """
    traced = replace(traced, tries=choices.tries)
    whole = [name for name, value in call.arguments if is_of(value, int)]
    numbers = [name for name in whole if name not in traced.static]
    if not numbers or not is_of_jax(call.function):
        return traced
    fixed = frozenset((*traced.static, *numbers))
    try:
        with silent(), _limit_loops(choices, fixed):
            other = _traced(call, fixed)
    except (*CODE_ERRORS, OutOfTimeError):  # then they are inputs
        return replace(traced, tries=traced.tries + 1)
    same = _primitives(other) == _primitives(traced)
    evaluated = replace(other, static=traced.static, untraceable=(*numbers, *traced.untraceable))
    return replace(traced if same else evaluated, tries=traced.tries + 1)


def _primitives(traced: Traced) -> set[str]:
    """Return what is computed; that a number takes an array's dtype is no other program."""
    names = {each.primitive.name for each in program.equations_of(traced.closed.jaxpr)}
    return names - {"convert_element_type"}


def _drop_declared(call: Call, traced: Traced) -> Traced:
    """Leave out what the called function has static already: it needs no advice."""
    if not is_jitted(call.function) or not traced.static:
        return traced
    if not all(is_declared(call, name) for name in traced.static):
        return traced
    return replace(traced, static=(), untraceable=(*traced.static, *traced.untraceable))


def _traced(call: Call, static: frozenset[str]) -> Traced:
    __tracebackhide__ = True
    hide_our_lines()
    is_data = is_array if holds_numbers(call) else is_leaf
    of_each = {n: _none if n in static else is_data for n in (*call.labels, *call.kwargs)}
    parts = [Part(n, v, of_each[n]) for n, v in zip(call.labels, call.args, strict=True)]
    # Sorted, as JAX flattens them: names are held against its inputs one by one.
    named = {n: Part(n, v, of_each[n]) for n, v in sorted(call.kwargs.items())}
    returned: list[Any] = []
    side_effects = SideEffects()

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        nonlocal side_effects
        whole = [part.whole(arg) for part, arg in zip(parts, args, strict=True)]
        with JaxUndoLog(call) as log:  # the next time begins as this one did
            try:
                with keras_stateless_scope("jax"):
                    named_whole = {n: named[n].whole(v) for n, v in kwargs.items()}
                    result = call.function(*whole, **named_whole)
            except CODE_ERRORS as error:
                vars(error)["asked"] = requested_arguments(error, call)
                vars(error)["body"] = requested_in_body(error)
                raise
        side_effects = log.side_effects
        if is_filtered(call):
            result = return_types.keep_data(result)
        returned[:] = [result]
        return result

    dress(wrapper, call.function)
    args, kwargs = [part.data for part in parts], {n: part.data for n, part in named.items()}
    return_types.refuse_generator(call.function)
    try:
        closed = jax.make_jaxpr(wrapper)(*args, **kwargs)
        return_types.refuse_shapes(call.function, returned)
    except BaseException as error:
        if isinstance(error, TypeError):
            return_types.refuse_other_than_data(call.function, returned)
        parts.clear()  # frames keep what functions enclose, even when they are cleared
        named.clear()
        del call
        raise
    finally:
        returned.clear()
    program.refuse_leaks(closed)
    everything = [*parts, *named.values()]
    leaves = [leaf for part in everything for leaf in part.leaves()]
    return Traced(
        closed=closed,
        names=tuple(name for name, _ in leaves),
        values=tuple(value for _, value in leaves),
        static=tuple(n for n in (*call.labels, *call.kwargs) if n in static),
        untraceable=tuple(p.name for p in everything if p.name not in static and p.no_data),
        within=tuple(name for part in everything for name in part.fixed_leaves()),
        call=(wrapper, args, kwargs),
        side_effects=side_effects,
    )


def _none(_: Any) -> bool:
    """Take nothing for data."""
    return False
