"""Traces what was traced before once more, aside, and holds the new program against the old one."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.tensorflow.compile_events import unheard
from ipyjaxbench.adapters.tensorflow.graphs import dataset_guard, equality, tracing
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.graphs import rolled_back, roots_of
from ipyjaxbench.usercode import Call, Muted, unlogged


def is_another_program(
    concrete: Any, given: Any, make: Callable[[], Any], *, if_unsure: bool | None
) -> bool | None:
    """Whether a trace is another program than the one that would be traced now.

    Args:
        concrete: the trace.
        given: what it was traced with, as `arguments_of` has it.
        make: gives the function that was traced, without any trace.
        if_unsure: the answer where it cannot be traced; None where programs cannot be compared.
    """
    scope = _scope_of(concrete.graph)
    if scope is None:
        return None
    try:
        functions = [make() for _ in range(2)]
        call = Call.from_function(functions[0], *given.args, **given.kwargs)
        own = next(each for each in loaded()[0] if each.name == "tensorflow")
    except CODE_ERRORS:  # another version has it elsewhere
        return None
    try:
        with (
            Muted(),
            unlogged(),
            rolled_back(roots_of(call), own) as left,
            unheard(),
            tracing.aside(call),
            scope,
        ):
            if left.cut:
                return if_unsure  # not all that it changes would be put back
            new, again = (
                each.get_concrete_function(*given.args, **given.kwargs) for each in functions
            )
    except dataset_guard.EndlessError:
        return None
    except CODE_ERRORS:  # what it read is gone, or it would make a variable
        return if_unsure
    if equality.compute_the_same(new, again) is False:
        return None  # another one each time: with a random number, or a count of traces
    same = equality.compute_the_same(concrete, new)
    return None if same is None else not same


def arguments_of(concrete: Any) -> Any | None:
    """Return the arguments of a trace, with types of tensors; None where an object is gone."""
    try:
        from tensorflow.core.function import trace_type

        kind = concrete.function_type
        if any("; dead>" in repr(each) for each in kind.parameters.values()):  # of a reference
            return None
        types_alone = trace_type.InternalPlaceholderContext(unnest_only=True)
        return kind.placeholder_arguments(types_alone)
    except CODE_ERRORS:  # the trace is gone, or another version has them elsewhere
        return None


def _scope_of(graph: Any) -> AbstractContextManager[Any] | None:
    """Return the scope of `tf.distribute` to trace in; None where a trace was made in a replica."""
    with graph.as_default():
        has_strategy, is_across = (
            tf.distribute.has_strategy(),
            tf.distribute.in_cross_replica_context(),
        )
        strategy = tf.distribute.get_strategy()
    if has_strategy == tf.distribute.has_strategy():
        return nullcontext()
    scope: AbstractContextManager[Any] = strategy.scope()
    return scope if has_strategy and is_across else None
