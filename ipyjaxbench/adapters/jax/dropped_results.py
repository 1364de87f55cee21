"""Results that code drops: where their computation fails, no value shows it."""

from collections import deque
from collections.abc import Mapping, Sequence
from threading import get_ident
from typing import Any

import jax

from ipyjaxbench.adapters.jax.placement import base_array

_MOST_NUMBERS = 10_000_000  # of an array: larger ones may leave no memory for the next


class HeldResults:
    """Holds what compiled calls of this thread give, no longer than until it is computed.

    So little more memory is in use than without it: what the last calls gave.
    """

    def __init__(self) -> None:
        self._thread = get_ident()
        self._pending: deque[Any] = deque()
        self._failed: Exception | None = None

    def add(self, jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any], output: Any) -> None:
        """Hold the arrays that a call gave, in place of those that are computed."""
        del jitted, args, kwargs
        if get_ident() != self._thread:
            return
        pending = self._pending
        while pending and (pending[0].is_deleted() or pending[0].is_ready()):
            self._settle(pending.popleft())
        for leaf in map(base_array, jax.tree_util.tree_leaves(output)):
            if isinstance(leaf, jax.Array) and leaf.size <= _MOST_NUMBERS:
                pending.append(leaf)

    def wait(self) -> None:
        """Wait for all that were given, hold none of them, and raise what the first one raises."""
        __tracebackhide__ = True
        while self._pending:
            self._settle(self._pending.popleft())
        if self._failed is not None:
            raise self._failed.with_traceback(None)

    def _settle(self, array: Any) -> None:
        if not array.is_deleted():
            try:
                array.block_until_ready()
            except Exception as error:  # noqa: BLE001  whatever its computation raised
                self._failed = self._failed or error
