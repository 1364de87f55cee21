"""What user code changes outside of itself while JAX traces it: a look changes nothing."""

import os
import pickle
import random
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import MethodType
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.compilation import is_jitted
from ipyjaxbench.adapters.jax.graphs.arguments import is_leaf
from ipyjaxbench.adapters.jax.retracing.callee import WRAPPERS
from ipyjaxbench.adapters.jax.state import CUSTOM
from ipyjaxbench.adapters.numpy import state as numpy_state
from ipyjaxbench.adapters.shared.undo_log import Named, UndoLog
from ipyjaxbench.frameworks import (
    GeneratorState,
    Setting,
    State,
    read_environment,
    write_environment,
)
from ipyjaxbench.usercode import Call, is_a, is_of, is_users_class, module_of, unwrap

_LARGEST_ARRAY_BYTES = 2**20  # of an array of NumPy that is copied


class JaxUndoLog(UndoLog):
    """What a call's function reaches, but for data among its arguments, and the process's state."""

    most = 500  # a search for static arguments traces, and so looks, many times

    def __init__(self, call: Call) -> None:
        # The trees that arguments are, and their arrays, are copies when the code runs.
        fixed = [
            (n, leaf) for n, v in call.arguments for leaf in trees.leaves(v) if not is_leaf(leaf)
        ]
        super().__init__([("self", call.function), *fixed], _process_states())

    def is_tracer(self, value: Any) -> bool:
        """Whether a value is a tracer."""
        return is_a(value, jax.core.Tracer)

    def leaves(self, tree: Any) -> list[Any]:
        """Return the leaves of a tree as JAX walks it."""
        return trees.leaves(tree)

    def is_entered(self, value: Any) -> bool:
        """Whether the user wrote the class of an object."""
        return is_users_class(type(value))

    def parts_of(self, name: str | None, value: Any) -> Iterable[Named] | None:
        """Return what a jitted function wraps, or hold numbers, iterators, files, generators."""
        if is_a(value, jax.Array):
            return ()
        if is_of(value, *CUSTOM):
            return self.hold_attributes(name, value)
        if is_jitted(value) or module_of(type(value)) in WRAPPERS:
            own = [] if is_of(value, MethodType) else self.hold_attributes(name, value)
            return [*own, (name, unwrap(value))]
        if is_of(value, np.ndarray) and value.nbytes > _LARGEST_ARRAY_BYTES:
            return ()
        states = numpy_state.moving_states(value, self.budget)
        for state in states or ():
            self.hold(name, state)
        return None if states is None else [(name, each) for one in states for each in one.parts]


def _process_states() -> Iterator[tuple[str, State]]:
    """Yield directories, filters, switches, and what random numbers are drawn from, as now."""
    for name, read, write in _SETTINGS:
        yield name, Setting(read, write)
    yield "random", GeneratorState(random.getstate, random.setstate)
    # Its arrays cannot be compared with ==, their bytes can.
    yield (
        "np.random",
        GeneratorState(
            lambda: pickle.dumps(np.random.get_state()),
            lambda before: np.random.set_state(pickle.loads(before)),
        ),
    )


def _directory() -> list[str]:
    try:
        return [os.getcwd()]
    except OSError:  # it was removed
        return [""]


def _set_filters(before: list[Any]) -> None:
    warnings.filters[:] = before  # type: ignore[index]
    with warnings.catch_warnings():  # tells Python that they are others
        pass


def _configured() -> list[Any]:
    return [each for item in getattr(jax.config, "values", {}).items() for each in item]


def _configure(before: list[Any]) -> None:
    now = dict(getattr(jax.config, "values", {}))
    for name, value in zip(before[::2], before[1::2], strict=True):
        if now[name] is not value:
            jax.config.update(name, value)


#: Name, how it is read, and how it is set.
_SETTINGS: tuple[tuple[str, Callable[[], list[Any]], Callable[[list[Any]], object]], ...] = (
    ("os.environ", read_environment, write_environment),
    ("the working directory", _directory, lambda before: os.chdir(*before)),
    ("warnings.filters", lambda: [*warnings.filters], _set_filters),
    (
        "np.seterr",
        lambda: [*np.geterr().values()],
        lambda before: np.seterr(**dict(zip(np.geterr(), before, strict=True))),
    ),
    ("jax.config", _configured, _configure),
)
