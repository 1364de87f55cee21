"""The traces that a `tf.function` has: which one a call finds, and how the last one differs.

All of it is private to TensorFlow; where a version has it elsewhere, nothing is known.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from ipyjaxbench.adapters.tensorflow.retracing.cache_key import leaves_of_trace
from ipyjaxbench.adapters.tensorflow.retracing.callee import CONCRETE
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import PROPERTIES, Args, Kwargs, Leaf, Property, Signature, changes


def finds(function: Any, args: Args, kwargs: Kwargs) -> bool | None:
    """Whether a call would find its trace, if that is known; nothing is run or traced."""
    try:
        return _look_up(function, args, kwargs) is not None
    except CODE_ERRORS:  # another version, or arguments that do not fit
        return None


def find_trace(function: Any, args: Args, kwargs: Kwargs) -> Any | None:
    """Return the concrete function that a call finds, or is of; None where that is not known."""
    if isinstance(function, CONCRETE):
        return function
    try:
        return _look_up(function, args, kwargs)
    except CODE_ERRORS:  # another version, or arguments that do not fit
        return None


def last_difference(function: Any) -> str:
    """Return in what the types of the last trace differ from the nearest ones before it."""
    try:
        *before, last = map(_types, function._function_cache.values())
    except CODE_ERRORS:  # another version has them elsewhere
        return ""
    if not before:
        return ""
    nearest = min([[*_differences(old, last)] for old in before], key=len)
    return "; ".join(nearest) or "same types, different context"


def accepted_by_latest(function: Any) -> frozenset[Property]:
    """Return paths and properties of what the trace before the last takes as the last has it."""
    try:
        *_, before, last = function._function_cache.values()
        old, new = (leaves_of_trace(function, each) for each in (before, last))
    except CODE_ERRORS:  # there is one alone, or another version has them elsewhere
        return frozenset()
    return frozenset(
        (path, kind)
        for path in old.keys() & new.keys()
        for kind in PROPERTIES - _refused(old[path], new[path])
    )


def _refused(old: Leaf, new: Leaf) -> set[str]:
    """Return in what a leaf is not as a trace takes it, which may take any size of an axis."""
    if len(old.shape) == len(new.shape):
        sizes = zip(old.shape, new.shape, strict=True)
        old = replace(old, shape=tuple(b if a == -1 else a for a, b in sizes))
    return {change.kind for change in changes(Signature({"": old}), Signature({"": new}))}


_known: "WeakKeyDictionary[Any, tuple[int, bool]]" = WeakKeyDictionary()


def has_unknown_shapes(function: Any, count: int) -> bool:
    """Whether a trace of a function, which was traced `count` times, takes several shapes."""
    known = _known.get(function)
    if known is None or known[0] != count:
        try:
            traces = function._function_cache.values()
            shapes = (tensor.shape for trace in traces for tensor in trace.inputs)
            is_unknown = not all(shape.is_fully_defined() for shape in shapes)
        except CODE_ERRORS:  # another version has them elsewhere
            is_unknown = True
        _known[function] = known = count, is_unknown
    return known[1]


def _differences(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys([*old, *new]):
        one, other = old.get(name, "none"), new.get(name, "none")
        if one != other:
            yield f"{name}: {one} → {other}"


def _types(concrete: Any) -> dict[str, str]:
    parameters = concrete.function_type.parameters
    return {name: str(each.type_constraint) for name, each in parameters.items()}


def _look_up(function: Any, args: Args, kwargs: Kwargs) -> Any | None:
    """Take the steps that TensorFlow takes before it traces."""
    from tensorflow.python.eager.polymorphic_function import function_context, function_type_utils

    options = function._variable_creation_config
    if function._created_variables:
        options = function._no_variable_creation_config
    bound = function_type_utils.canonicalize_function_inputs(
        args, kwargs, options.polymorphic_type, options.default_values, options.is_pure
    )
    values, declared = bound.args, options.input_signature
    if declared is not None:
        values = (*declared, *values[len(declared) :])
    wanted, _ = function_type_utils.make_canonicalized_monomorphic_type(
        values, bound.kwargs, options.function_captures.capture_types, options.polymorphic_type
    )
    context = function_context.make_function_context(options.scope_type)
    return options.function_cache.lookup(wanted, context)
