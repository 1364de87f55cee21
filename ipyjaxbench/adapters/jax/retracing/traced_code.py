"""What a jitted function read while it was traced, and whether today's program is another one."""

import functools
import re
import threading
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from types import FunctionType, MethodType, ModuleType
from typing import Any

import jax
import numpy as np

from ipyjaxbench import units
from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.retracing import callee, programs, ufuncs
from ipyjaxbench.adapters.jax.retracing.callee import Called
from ipyjaxbench.adapters.jax.retracing.held_arguments import HeldArgument, hold
from ipyjaxbench.adapters.jax.retracing.needed_names import CopiedCall
from ipyjaxbench.adapters.jax.retracing.user_call import KERAS_STEPS
from ipyjaxbench.adapters.shared.imprints import (
    KERAS_OWN,
    MOST_COMPARED,
    imprint_identity,
    imprint_numpy,
    imprint_table,
    imprint_values,
)
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import TracedCode
from ipyjaxbench.usercode import (
    Imprint,
    Reads,
    assigned_names,
    find_reads,
    is_of,
    is_users_class,
    is_users_function,
    label_arguments,
    mro_of,
)

#: What is entered part by part, so that each has its name.
_ENTERED = (dict, list, tuple, deque, FunctionType, MethodType, ModuleType, type, functools.partial)


class FrozenCode(TracedCode):
    """What `f.lower(x).compile()` gave: it holds the values of then, and no function to look at."""

    unknown = "runs today's values: it was compiled ahead of time, with those of then"

    def reads(self) -> None:
        """Return that it is not known."""

    def is_another_program(self, compiled: Any, *, if_unsure: bool | None = True) -> None:
        """Return that it is not known."""

    def is_dropped(self) -> bool:
        """Return that it is there as long as the user holds it."""
        return False


class JaxTracedCode(TracedCode):
    """A jitted function with what it is compiled with, and the shapes of its other arguments.

    It keeps no array and no object of the user's from being freed.

    Args:
        called: the call.
        static: positions and names of its static arguments.
        known: the code of the trace that is this call's, if JAX told of it.
    """

    def __init__(
        self,
        called: Called,
        static: Collection[int | str] = (),
        known: "JaxTracedCode | None" = None,
    ) -> None:
        #: Gives its program, as long as JAX keeps that; None where it is not known.
        self.program: Callable[[], Any] | None = known.program if known else None
        # By arrays of the program when it was traced.
        self._held: dict[int, Imprint] = known._held if known else {}
        self._function, self._static = hold(called.function), static
        self._args = [HeldArgument(v, is_static=n in static) for n, v in enumerate(called.args)]
        self._kwargs = {
            name: HeldArgument(v, is_static=name in static) for name, v in called.kwargs.items()
        }

    def reads(self) -> Reads | None:
        """Return what the user's function, and those that it calls, read now."""
        function = self._function()
        given = [each.without_data() for each in self._args]
        named = {name: each.without_data() for name, each in self._kwargs.items()}
        inner, args, kwargs = callee.unbound(function, given, named)
        if isinstance(inner, jax.stages.Compiled):  # the user froze it
            return None
        plain = callee.plain_of(inner)
        names = label_arguments(plain, args, kwargs)
        known = {**dict(zip(names, args, strict=True)), **kwargs}
        if is_users_function(plain):
            bound = {each for each, value in zip(names, args, strict=True) if not _in(value, given)}
            passed = known.keys() - bound
            return find_reads(plain, known, imprint, around=inner, passed=passed)
        outer = plain if type(plain) is not FunctionType else function
        called = {name: _code_of(value) for name, value in known.items() if callable(value)}
        found = find_reads(outer, called, imprint)
        if getattr(plain, "__module__", "") == KERAS_STEPS:
            found = _without_own(found)
        return found if found.paths else None

    def keep(self, program: Any) -> None:
        """Know the program that it was traced to, as long as JAX keeps that."""
        self.program, self._held = weakref.ref(program), programs.imprint_constants(program)

    @property
    def holds_arrays(self) -> bool:
        """Whether NumPy's are in its program; of some JAX goes on to use what they held first."""
        return bool(self._held)

    def needs(self, before: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Trace it anew, aside, with one name put back at a time."""
        copied = self._copied()
        return None if copied is None else copied.needed(before)

    def is_given_by(self, before: Mapping[str, Any]) -> bool | None:
        """Trace it anew, aside, with all of these put back."""
        copied, program = self._copied(), self.program() if self.program else None
        return None if copied is None or program is None else copied.gives(program, before)

    def names_used(self) -> tuple[frozenset[str], frozenset[str]] | None:
        """Trace it anew, aside, and see which names its code loads."""
        args = [each.with_shapes() for each in self._args]
        kwargs = {name: each.with_shapes() for name, each in self._kwargs.items()}
        program = self.program() if self.program else None
        if program is None or programs.is_too_large(program):
            return None
        return programs.names_used(self._function(), args, kwargs, self._static)

    def not_data(self, numbers: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Trace it anew, aside, with one name traced at a time."""
        copied, program = self._copied(), self.program() if self.program else None
        if copied is None or program is None or programs.is_too_large(program, len(numbers)):
            return None
        return copied.not_data(numbers)

    def _copied(self) -> CopiedCall | None:
        function, reads = self._function(), self.reads()
        plain = callee.plain_of(function)
        # Nothing of a library's object, as `eqx.filter_jit` makes, says how to copy it.
        is_copied = is_of(function, FunctionType, functools.partial)
        if not is_copied or not is_users_function(plain) or reads is None:
            return None
        reached = [path for path, each in reads.values.items() if each.kind == "function"]
        args = [each.with_shapes() for each in self._args]
        kwargs = {name: each.with_shapes() for name, each in self._kwargs.items()}
        return CopiedCall(function, plain, args, kwargs, self._static, reached)

    @property
    def assigned(self) -> tuple[str, ...]:
        """Those of the user's function, not of what that calls."""
        plain = callee.plain_of(self._function())
        return assigned_names(plain.__code__) if is_users_function(plain) else ()

    @property
    def has_rules(self) -> bool:
        """Whether its program has such rules; False where JAX no longer keeps the program."""
        program = self.program() if self.program else None
        return program is not None and programs.has_rules(program)

    def is_dropped(self) -> bool:
        """Whether JAX has dropped the program, as `jax.clear_caches` does."""
        return self.program is not None and self.program() is None

    def is_of(self, function: Any) -> bool:
        """Whether it is this one that was jitted."""
        try:
            return self._function() is function
        except ReferenceError:
            return False

    def is_another_program(self, compiled: Any, *, if_unsure: bool | None = True) -> bool | None:
        """Trace it anew, aside, and hold the program against the one that is used."""
        try:
            jitted = callee.jitted_in(compiled)
            args = [each.with_shapes() for each in self._args]
            kwargs = {name: each.with_shapes() for name, each in self._kwargs.items()}
            used = self.program() if self.program else programs.kept(jitted, args, kwargs)
            if self.program is None and used is not None:
                self.program = weakref.ref(used)
            same = programs.is_todays(
                used, jitted, args, kwargs, self._static, held=self._held,
                check=if_unsure is None,
            )  # fmt: skip
        except CODE_ERRORS:  # what it read is gone, or cannot be traced, or be compared
            return if_unsure
        return if_unsure if same is None else not same


def _code_of(value: Any) -> Any:
    """Return what runs where a library calls it."""
    return ufuncs.function_of(value) or value


def _in(value: object, values: Iterable[object]) -> bool:
    return any(each is value for each in values)


def _without_own(reads: Reads) -> Reads:
    """Return what a step of Keras reads without what Keras itself sets in the model."""
    own = re.compile(rf"self(\.({'|'.join(KERAS_OWN)})\b.*)?")
    left = {path: each for path, each in reads.values.items() if not own.fullmatch(path)}
    return replace(reads, values=left)


_latest = threading.local()


def keep_program(code: JaxTracedCode, program: Any) -> None:
    """Have a function that was traced know its program, as long as JAX keeps that."""
    code.keep(program)
    _latest.code = code


def latest_code(function: Any) -> JaxTracedCode | None:
    """Return the code of what this thread had compiled last, if it is that of a function."""
    code: JaxTracedCode | None = vars(_latest).pop("code", None)
    return code if code is not None and code.is_of(function) else None


def imprint(value: object) -> Imprint | None:
    """Return what tells an array, or a library's object that holds some, from others."""
    if isinstance(value, np.generic | np.ndarray):
        return imprint_numpy(value)
    if not isinstance(value, jax.Array) or isinstance(value, jax.core.Tracer):
        return imprint_table(value) or _of_tree(value)
    words = units.array(str(value.dtype), value.shape)
    if value.is_deleted():
        return Imprint(words, (words, "deleted"), "array")
    is_key = jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)
    is_known = is_key or not jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended)
    if is_known and value.nbytes <= MOST_COMPARED and value.is_fully_addressable:
        return imprint_values(words, programs.numbers_of(value))
    return imprint_identity(words, value, "array")


def _of_tree(value: Any) -> Imprint | None:
    """Return what the arrays are in an object of a library's class, as a layer; else None."""
    if is_of(value, *_ENTERED) or any(map(is_users_class, mro_of(type(value)))):
        return None
    try:
        leaves, structure = trees.flatten(value)
    except CODE_ERRORS:  # no tree
        return None
    arrays = [found for each in leaves if each is not value and (found := imprint(each))]
    if not arrays:
        return None
    contents = tuple(each.content for each in arrays)
    words = type(value).__name__
    is_part = any(each.is_part for each in arrays)
    return Imprint(words, (str(structure), contents), "object", in_place=True, is_part=is_part)
