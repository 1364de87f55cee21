"""What the programs of single calls lack of hooks, those of parts after a graph break too."""

import threading
from collections import defaultdict
from types import FrameType
from typing import Any

from ipyjaxbench.adapters.torch.retracing import lacking_hooks
from ipyjaxbench.adapters.torch.retracing.callee import Entered
from ipyjaxbench.adapters.torch.retracing.lacking_hooks import Lacking
from ipyjaxbench.retracing import Args, Kwargs


class HooksOfCalls:
    """Keeps, of each thread, what parts of its last call lack, and what was found of that."""

    def __init__(self) -> None:
        self._parts: defaultdict[int, list[Lacking]] = defaultdict(list)
        self._found: dict[int, Lacking] = {}

    def begin(self) -> None:
        """Forget the last call of this thread."""
        self._parts.pop(threading.get_ident(), None)

    def add_part(self, frame: FrameType) -> bool:
        """Look at a part that found its program, from within dynamo's hook.

        Returns:
            Whether it lacks any, or may do so.
        """
        if not lacking_hooks.may_be_any():
            return False
        lacking = lacking_hooks.lacking_in_part(frame)
        self._parts[threading.get_ident()].append(lacking)
        return lacking != Lacking()

    def lacking(self, function: Any, args: Args, kwargs: Kwargs) -> Lacking:
        """Return what the programs of a call lack."""
        thread, found = threading.get_ident(), Lacking()
        entered = lacking_hooks.may_be_any() and Entered.from_call(function, args, kwargs)
        if entered:
            whole = lacking_hooks.lacking_in_call(entered)
            found = whole.with_parts(self._parts.get(thread, ()))
        self._found[thread] = found
        return found

    def found_last(self) -> Lacking:
        """Return what was found last in this thread."""
        return self._found.get(threading.get_ident(), Lacking())
