"""Keeps the signatures with which functions are traced when nobody looks at the calls."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import jax.monitoring

from ipyjaxbench.frameworks.jax import keys
from ipyjaxbench.frameworks.jax.call_watch import plain_of
from ipyjaxbench.frameworks.jax.events import PHASES
from ipyjaxbench.signature import Signature

#: name of the function, its signature, whether nothing was traced.
Learn = Callable[[str, Signature, bool], None]


class Learner:
    """Listens to traces and compilations for as long as the process lives; cached calls are free.

    JAX does not tell with which arguments it traces. They stand in the frame of the function that
    takes calls which the fast path has no program for (private: ``cache_miss`` in ``pjit.py``);
    where no such frame is found nothing is learned.

    Args:
        learn: gets what was found.
    """

    def __init__(self, learn: Learn) -> None:
        self._learn = learn
        self._traced: int | None = None  # the frame in which the last trace was made
        jax.monitoring.register_event_duration_secs_listener(self._hear)

    def _hear(self, event: str, seconds: float, **told: Any) -> None:  # noqa: ARG002
        phase = PHASES.get(event)
        if phase not in ("trace", "compile"):
            return
        frame = _missed(sys._getframe(1))
        if frame is None:
            return
        placed = phase == "compile" and self._traced != id(frame)
        self._traced = id(frame)
        function = frame.f_locals.get("fun")
        args, kwargs = frame.f_locals.get("args"), frame.f_locals.get("kwargs")
        if function is None or args is None or kwargs is None or _is_of_library(function):
            return
        plain = plain_of(function)
        self._learn(getattr(plain, "__name__", "?"), keys.signature(plain, args, kwargs), placed)


def _missed(frame: FrameType | None) -> FrameType | None:
    """The outermost frame of a call that the fast path had no program for."""
    found = None
    while frame is not None:
        code = frame.f_code
        if code.co_name == "cache_miss" and code.co_filename.endswith("pjit.py"):
            found = frame
        frame = frame.f_back
    return found


def _is_of_library(function: Any) -> bool:
    file = getattr(getattr(plain_of(function), "__code__", None), "co_filename", "")
    return "site-packages" in file or "dist-packages" in file
