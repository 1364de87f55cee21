"""What a `tf.function` read while it was traced, and whether today's program is another one."""

import weakref
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

from ipyjaxbench import units
from ipyjaxbench.adapters.shared.imprints import (
    MOST_COMPARED,
    imprint_identity,
    imprint_numpy,
    imprint_table,
    imprint_values,
)
from ipyjaxbench.adapters.shared.retracing import unbound
from ipyjaxbench.adapters.tensorflow.compile_events import unheard
from ipyjaxbench.adapters.tensorflow.functions import owner_of
from ipyjaxbench.adapters.tensorflow.graphs import dataset_guard, equality, references, tracing
from ipyjaxbench.adapters.tensorflow.retracing import cache_lookup, callee
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.graphs import rolled_back, roots_of
from ipyjaxbench.retracing import Args, Invocation, Kwargs, TracedCode
from ipyjaxbench.usercode import (
    Call,
    Imprint,
    Muted,
    Reads,
    attribute,
    attributes,
    find_reads,
    is_exactly,
    is_of,
    is_users_class,
    is_users_function,
    module_of,
    mro_of,
    unlogged,
    unwrap,
)

_WRAPPER = tf.__internal__.tracking.TrackableDataStructure
#: Of these the parts count, as of Python's own functions and containers.
_ENTERED = (type, ModuleType, callee.FUNCTION, _WRAPPER, dict, list, tuple, set)
_THEIRS = ("tensorflow", "keras")


class TensorFlowTracedCode(TracedCode):
    """One trace of a `tf.function`.

    It keeps neither: TensorFlow knows the objects among the arguments without keeping them.
    """

    def __init__(self, function: Any, concrete: Any) -> None:
        self._function, self._concrete = weakref.ref(function), weakref.ref(concrete)

    def reads(self) -> Reads | None:
        """Return what the user's function, and those that it calls, read now."""
        function, _, given = self._parts()
        if given is None:
            return None
        plain, bound = _code_of(function)
        if not is_users_function(plain):
            return None
        known = {**bound, **given.arguments}
        around = function.python_function
        return find_reads(plain, known, imprint, _wrapped, _parts, around)

    def is_another_program(self, compiled: Any, *, if_unsure: bool | None = True) -> bool | None:
        """Trace it anew, aside, and hold the graph against the one that is cached."""
        function, concrete, given = self._parts()
        if given is None or callee.resolve(compiled, (), {})[0] is not function:
            return None  # of an object that is gone, or another one
        if _has_strategy(concrete.graph) != tf.distribute.has_strategy():
            return None
        try:
            clones = [function._clone(None) for _ in range(2)]  # nothing public makes one
            call = Call.from_function(function, *given.args, **given.kwargs)
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
            ):
                if left.cut:
                    return if_unsure  # not all that it changes would be put back
                new, again = (
                    each.get_concrete_function(*given.args, **given.kwargs) for each in clones
                )
        except dataset_guard.EndlessError:
            return None
        except CODE_ERRORS:  # what it read is gone, or it would make a variable
            return if_unsure
        if equality.compute_the_same(new, again) is False:
            return None  # another one each time: with a random number, or a count of traces
        same = equality.compute_the_same(concrete, new)
        return None if same is None else not same

    def is_dropped(self) -> bool:
        """Whether TensorFlow has freed the trace."""
        return self._concrete() is None

    def serves(self, compiled: Any, args: Args, kwargs: Kwargs) -> bool:
        """Whether TensorFlow finds this trace for a call, as one of any shape is found."""
        return cache_lookup.find_trace(*callee.resolve(compiled, args, kwargs)) is self._concrete()

    def _parts(self) -> tuple[Any, Any, Any | None]:
        """Return the function, its trace, and of what that is; that is None where one is gone."""
        function, concrete = self._function(), self._concrete()
        return function, concrete, None if function is None else _arguments_of(concrete)


def kept_calls(function: Any) -> list[Invocation]:
    """Return the calls that find the traces of a `tf.function`; none where it has them elsewhere.

    Its cache is private, and does not keep the object of a method.
    """
    try:
        kept = [*function._function_cache.values()]
    except CODE_ERRORS:  # another version, or what is no `tf.function`
        return []
    given = (_arguments_of(each) for each in kept)
    return [(function, each.args, each.kwargs) for each in given if each is not None]


def _arguments_of(concrete: Any) -> Any | None:
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


def _code_of(function: Any) -> tuple[Any, dict[str, Any]]:
    """Return the plain function that a `tf.function` runs, and the object that it is bound to."""
    plain, args, kwargs = unbound(unwrap(function.python_function))
    plain, owner = unwrap(plain), owner_of(function)
    if owner is not None:
        args = (owner, *args[1:])
    if type(plain) is not FunctionType:  # an object that is called
        name = "call" if references.is_layer(plain) else "__call__"
        plain, args = unwrap(attribute(type(plain), name)), (plain, *args)
    names = plain.__code__.co_varnames if type(plain) is FunctionType else ()
    return plain, {**dict(zip(names, args, strict=False)), **kwargs}


def _has_strategy(graph: Any) -> bool:
    with graph.as_default():
        return bool(tf.distribute.has_strategy())


def _wrapped(value: Any) -> Any:
    """Return the list or dictionary in what TensorFlow keeps in place of one in a module."""
    if not is_of(value, _WRAPPER):
        return value
    wrapped = getattr(value, "__wrapped__", None)
    return attributes(value).get("_storage", value) if wrapped is None else wrapped


def _parts(layer: Any) -> Iterator[tuple[str, Any]]:
    """Yield the numbers, names and functions of a layer of Keras's, and the layers in it.

    Those in a layer of the user's are found by the code that calls them.
    """
    if not references.is_layer(layer):
        return
    for name, value in attributes(layer).items():
        public = name.removeprefix("_")  # as users set it, which may be by a property
        is_public = public == name or type(attribute(type(layer), public)) is property
        if is_public and is_exactly(value, bool, int, float, str, FunctionType):
            yield f".{public}", value
    if not is_users_class(type(layer)):
        for each in attributes(layer).get("_layers", ()):
            yield f".get_layer({each.name!r})", each


def imprint(value: Any) -> Imprint | None:
    """Return what tells data and TensorFlow's objects apart; None for all others.

    Variables are read when a program runs: which one it is counts, and not what is in it.
    """
    if isinstance(value, np.generic | np.ndarray):
        return imprint_numpy(value)
    if is_of(value, tf.TypeSpec, tf.TensorShape):
        return Imprint(str(value), str(value))
    if is_of(value, tf.DType):
        return Imprint(value.name, value.name)
    if is_of(value, ops.EagerTensor):
        return _of_tensor(value)
    kinds = mro_of(type(value))
    is_theirs = any(module_of(kind).partition(".")[0] in _THEIRS for kind in kinds)
    if not is_theirs or is_of(value, *_ENTERED) or is_users_function(unwrap(value)):
        return imprint_table(value)
    if references.is_variable(value):
        return imprint_identity(f"variable {_words(value)}", value, "object")
    return imprint_identity(kinds[0].__name__, value, "object")


def _of_tensor(value: Any) -> Imprint:
    """Return its values in short; of a large one which one it is, for it never changes."""
    words = _words(value)
    if value.dtype in (tf.resource, tf.variant, tf.string):
        return imprint_identity(words, value, "array")
    if value.dtype.size * value.shape.num_elements() > MOST_COMPARED:
        return imprint_identity(words, value, "array")
    return imprint_values(words, value.numpy())


def _words(value: Any) -> str:
    shape = tf.TensorShape(value.shape)
    axes = () if shape.rank is None else tuple(-1 if n is None else n for n in shape)
    return units.array(tf.as_dtype(value.dtype).name, axes)
