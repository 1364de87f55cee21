"""What holds for the whole process, and user code may change while it is traced."""

import functools
import os
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax.graphs.restore import Change


class Settings:
    """Directories, filters, switches, and what random numbers are drawn from, as they are now."""

    def __init__(self) -> None:
        self._before = [_read(read) for _, read, _, _ in _SETTINGS]

    def changes(self) -> Iterator[Change]:
        """Each that is another one now."""
        for before, (name, read, write, is_drawn) in zip(self._before, _SETTINGS, strict=True):
            if before is not None and _read(read) != before:
                yield Change(name, functools.partial(write, before), drawn=is_drawn)


def _read(read: Callable[[], Any]) -> Any:
    """A setting; None where it cannot be read, as a directory that was removed."""
    try:
        return read()
    except OSError:
        return None


def _set_environment(before: dict[str, str]) -> None:
    for name in {*os.environ} - {*before}:
        del os.environ[name]
    for name, value in before.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _set_filters(before: list[Any]) -> None:
    warnings.filters[:] = before  # type: ignore[index]
    with warnings.catch_warnings():  # tells Python that they are others
        pass


def _configured() -> dict[str, Any]:
    return dict(getattr(jax.config, "values", {}))


def _configure(before: dict[str, Any]) -> None:
    for name, value in _configured().items():
        if name in before and before[name] is not value:
            jax.config.update(name, before[name])


def _drawn_from_numpy() -> Any:
    """The state of NumPy's global generator, in a form that can be compared."""
    name, keys, *rest = np.random.get_state(legacy=True)
    return name, np.asarray(keys).tobytes(), *rest


def _set_numpy(before: Any) -> None:
    name, keys, *rest = before
    np.random.set_state((name, np.frombuffer(keys, np.uint32), *rest))


#: Name, how it is read and set, and whether numbers are drawn from it.
_SETTINGS: tuple[tuple[str, Callable[[], Any], Callable[[Any], Any], bool], ...] = (
    ("os.environ", lambda: dict(os.environ), _set_environment, False),
    ("the working directory", os.getcwd, os.chdir, False),
    ("warnings.filters", lambda: [*warnings.filters], _set_filters, False),
    ("np.seterr", np.geterr, lambda before: np.seterr(**before), False),
    ("jax.config", _configured, _configure, False),
    ("random", random.getstate, random.setstate, True),
    ("np.random", _drawn_from_numpy, _set_numpy, True),
)
