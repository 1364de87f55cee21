"""A disk that callbacks of frameworks write to, and that is full at some point."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

FULL = "disk is full"


class Disk:
    """What a callback writes to; it is full from one of its calls on."""

    def __init__(self) -> None:
        self.calls = 0
        self.fails_from = 10**9

    def write(self, x: Any) -> Any:
        """Give back what was written."""
        is_full = self.calls + 1 >= self.fails_from
        self.calls += 1  # who waits for this may change the rest from now on
        if is_full:
            raise ValueError(FULL)
        return np.asarray(x)

    @contextmanager
    def full_from(self, call: int) -> Iterator[None]:
        """Be full from a call on, counted from now."""
        self.calls, self.fails_from = 0, call
        try:
            yield
        finally:
            self.fails_from = 10**9
