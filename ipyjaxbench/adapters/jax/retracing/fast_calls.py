"""Calls of jitted functions that find their program without Python."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from types import FrameType
from typing import Any

from jax._src import api

from ipyjaxbench.adapters.jax.retracing.callee import Called
from ipyjaxbench.adapters.jax.retracing.user_call import is_the_users, user_call
from ipyjaxbench.adapters.shared.retracing import main_frame, site_of
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import CachedCall, OnHit
from ipyjaxbench.usercode import attributes

_METHODS = ("get_global", "set_global", "get_local", "set_local")
_Hook = Callable[[Any, Sequence[Any], Mapping[str, Any], Any], object]


class FastCalls(AbstractContextManager["FastCalls"]):
    """Has JAX tell of each such call while the context is open, in all threads.

    That is JAX's own hook for what checks results, as ``jax_debug_nans`` does (private). A
    version without the hook reports no calls.
    """

    def __init__(self) -> None:
        self.on_hit: OnHit | None = None
        state: Any = getattr(api, "_post_hook_state", None)
        self._state = state if all(hasattr(state, name) for name in _METHODS) else None
        self._before: _Hook | None = None
        self._stack = ExitStack()

    def __enter__(self) -> "FastCalls":
        state = self._state
        if state is not None and self.on_hit is not None:
            self._before = state.get_global()
            self._install(state.get_global, state.set_global)
            if state.get_local() is None:  # left by ``with jax.debug_nans(...)``, in this thread
                self._install(state.get_local, state.set_local)
        return self

    def _install(self, get: Callable[[], Any], set_to: Callable[[Any], object]) -> None:
        before = get()

        def put_back() -> None:
            if get() == self._hook:  # else the user has set `jax_debug_nans` meanwhile
                set_to(before)

        set_to(self._hook)
        self._stack.callback(put_back)

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _hook(
        self, jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any], output: Any
    ) -> None:
        if self._before is not None:
            self._before(jitted, args, kwargs, output)
        if self.on_hit is not None:
            with suppress(*CODE_ERRORS):  # what is raised here would stop the user's call
                self.on_hit(partial(_found, jitted, args, kwargs, sys._getframe()))


def _found(
    jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any], frame: FrameType
) -> CachedCall | None:
    """Return the user's call; None for what a library jitted, and for parts of `jax.grad`."""
    plain = attributes(jitted).get("__wrapped__")
    if plain is None:
        return None
    called, _ = user_call(Called(plain, args, kwargs), frame)
    if not is_the_users(called, frame):
        return None
    function = jitted if called.function is plain else called.function
    return CachedCall(function, called.args, called.kwargs, site_of(frame, main_frame()))
