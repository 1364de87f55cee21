"""JAX's own hook after calls that find their program without Python."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from jax._src import api

_METHODS = ("get_global", "set_global", "get_local", "set_local")
#: Called with a jitted function, its arguments, those by name, and what it gave.
OnCall = Callable[[Any, Sequence[Any], Mapping[str, Any], Any], object]


class PostHook(AbstractContextManager["PostHook"]):
    """Has JAX tell of each such call while the context is open, in all threads.

    That is JAX's own hook for what checks results, as ``jax_debug_nans`` does (private). A
    version without the hook reports no calls.
    """

    def __init__(self, on_call: OnCall) -> None:
        self._on_call = on_call
        state: Any = getattr(api, "_post_hook_state", None)
        self._state = state if all(hasattr(state, name) for name in _METHODS) else None
        self._before: OnCall | None = None
        self._stack = ExitStack()

    def __enter__(self) -> "PostHook":
        state = self._state
        if state is not None:
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
        self._on_call(jitted, args, kwargs, output)
