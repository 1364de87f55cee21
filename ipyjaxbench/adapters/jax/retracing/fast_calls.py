"""Calls of jitted functions that find their program without Python."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from types import FrameType
from typing import Any

from ipyjaxbench.adapters.jax.post_hook import PostHook
from ipyjaxbench.adapters.jax.retracing.callee import Called
from ipyjaxbench.adapters.jax.retracing.copied import of_original
from ipyjaxbench.adapters.jax.retracing.user_call import is_the_users, user_call
from ipyjaxbench.adapters.shared.retracing import main_frame, site_of
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import CachedCall, OnHit
from ipyjaxbench.usercode import attributes


class FastCalls(AbstractContextManager["FastCalls"]):
    """Has JAX tell of each such call while the context is open, in all threads."""

    def __init__(self) -> None:
        self.on_hit: OnHit | None = None
        self._stack = ExitStack()

    def __enter__(self) -> "FastCalls":
        if self.on_hit is not None:
            self._stack.enter_context(PostHook(self._tell))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _tell(self, jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any], _: object) -> None:
        if self.on_hit is not None:
            with suppress(*CODE_ERRORS):  # what is raised here would stop the user's call
                hook = sys._getframe(1)  # around it are the frames of the call
                self.on_hit(partial(_found, jitted, args, kwargs, hook))


def _found(
    jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any], frame: FrameType
) -> CachedCall | None:
    """Return the user's call; None for what a library jitted, and for parts of `jax.grad`."""
    plain = attributes(of_original(jitted, args, kwargs)[0]).get("__wrapped__")
    if plain is None:
        return None
    called, _ = user_call(Called(plain, args, kwargs), frame)
    if not is_the_users(called, frame):
        return None
    function = jitted if called.function is plain else called.function
    return CachedCall(function, called.args, called.kwargs, site_of(frame, main_frame()))
