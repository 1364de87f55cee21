"""When torch.compile is at work, which reads functions of PyTorch's to compile what calls them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any


@contextmanager
def while_compiling(on_change: Callable[[bool], None]) -> Iterator[None]:
    """Say when compiling begins (True) and ends (False), for as long as the context is open."""
    dynamo: Any = sys.modules.get("torch._dynamo.callback")  # it is not loaded by looking
    handler = getattr(dynamo, "callback_handler", None)
    with ExitStack() as stack:
        if handler is not None:
            for begins, remove, register in (
                (True, handler.remove_start_callback, handler.register_start_callback),
                (False, handler.remove_end_callback, handler.register_end_callback),
            ):
                callback = partial(_say, on_change, begins)
                register(callback)
                stack.callback(remove, callback)
        yield


def _say(on_change: Callable[[bool], None], begins: bool, *_: object) -> None:  # noqa: FBT001
    on_change(begins)
