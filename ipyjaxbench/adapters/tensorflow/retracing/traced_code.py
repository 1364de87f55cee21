"""What a `tf.function` read while it was traced, and whether today's program is another one."""

import weakref
from collections.abc import Mapping
from functools import partial
from types import FunctionType
from typing import Any

from ipyjaxbench.adapters.shared.copied_functions import copy_with
from ipyjaxbench.adapters.shared.retracing import unbound
from ipyjaxbench.adapters.tensorflow.functions import owner_of, python_function
from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.adapters.tensorflow.retracing import cache_lookup, callee
from ipyjaxbench.adapters.tensorflow.retracing.imprints import imprint, parts, wrapped
from ipyjaxbench.adapters.tensorflow.retracing.retrace import arguments_of, is_another_program
from ipyjaxbench.retracing import Args, Kwargs, TracedCode
from ipyjaxbench.usercode import Reads, attribute, find_reads, is_users_function, unwrap


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
        around = python_function(function)
        return find_reads(plain, known, imprint, wrapped, parts, around)

    def is_another_program(self, compiled: Any, *, if_unsure: bool | None = True) -> bool | None:
        """Trace it anew, aside, and hold the graph against the one that is cached."""
        function, concrete, given = self._parts()
        if given is None or callee.resolve(compiled, (), {})[0] not in (function, concrete):
            return None  # of an object that is gone, or another one
        # Nothing public makes a function without its traces.
        make = partial(function._clone, None)
        return is_another_program(concrete, given, make, if_unsure=if_unsure)

    def is_given_by(self, before: Mapping[str, Any]) -> bool | None:
        """Trace a copy of the function anew, aside, for which the names have these values."""
        function, concrete, given = self._parts()
        if given is None or not is_users_function(users := _code_of(function)[0]):
            return None
        plain = python_function(function)
        copied = copy_with(plain, before, users)
        if copied is plain:  # a method, or an object
            return None
        make = partial(function._clone, copied)
        is_another = is_another_program(concrete, given, make, if_unsure=None)
        return None if is_another is None else not is_another

    def is_dropped(self) -> bool:
        """Whether TensorFlow has freed the trace."""
        return self._concrete() is None

    def serves(self, compiled: Any, args: Args, kwargs: Kwargs) -> bool:
        """Whether TensorFlow finds this trace for a call, as one of any shape is found."""
        return cache_lookup.find_trace(*callee.resolve(compiled, args, kwargs)) is self._concrete()

    def _parts(self) -> tuple[Any, Any, Any | None]:
        """Return the function, its trace, and of what that is; that is None where one is gone."""
        function, concrete = self._function(), self._concrete()
        return function, concrete, None if function is None else arguments_of(concrete)


def _code_of(function: Any) -> tuple[Any, dict[str, Any]]:
    """Return the plain function that a `tf.function` runs, and the object that it is bound to."""
    plain, args, kwargs = unbound(unwrap(python_function(function)))
    plain, owner = unwrap(plain), owner_of(function)
    if owner is not None:
        args = (owner, *args[1:])
    if type(plain) is not FunctionType:  # an object that is called
        name = "call" if references.is_layer(plain) else "__call__"
        plain, args = unwrap(attribute(type(plain), name)), (plain, *args)
    names = plain.__code__.co_varnames if type(plain) is FunctionType else ()
    return plain, {**dict(zip(names, args, strict=False)), **kwargs}
