"""The numbers of hooks: PyTorch counts on over all modules, tensors, nodes and optimizers."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from torch.utils.hooks import RemovableHandle


class _Registered:
    """The number of the next hook as long as nobody but us has registered any."""

    next = -1


@contextmanager
def own_hook() -> Iterator[None]:
    """Register, within this context, a hook of our own."""
    is_first = next_hook() == 0
    yield
    _Registered.next = next_hook() if is_first else -1


def is_any_registered() -> bool:
    """Whether anybody but us has registered a hook of any kind in this process."""
    return next_hook() not in (0, _Registered.next)


def next_hook() -> int:
    """Return the number of the next hook."""
    return int(getattr(RemovableHandle, "next_id", sys.maxsize))
