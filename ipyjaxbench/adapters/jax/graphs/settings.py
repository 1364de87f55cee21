"""What holds for the whole process, and user code may change while it is traced."""

import os
import pickle
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from ipyjaxbench.frameworks import (
    GeneratorState,
    Setting,
    State,
    read_environment,
    write_environment,
)


def states() -> Iterator[tuple[str, State]]:
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
