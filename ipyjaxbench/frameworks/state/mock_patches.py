"""Patches of `unittest.mock` that are started and not stopped: each stands for an attribute."""

import sys
from collections.abc import Iterator
from typing import Any

from ipyjaxbench.frameworks.state.undo import State
from ipyjaxbench.usercode import attributes

_MISSING: Any = object()


class StartedPatches(State):
    """Those that are active, in their order, and what they have put in the place of attributes."""

    def _read(self) -> list[Any]:
        return [*self._target]

    def changed(self) -> bool:
        """Whether others are active, or one was started again."""
        return super().changed() or any(now is not old for *_, now, old in self._patched())

    def restore(self) -> None:
        """Stop those that came, the last one first."""
        known = {*map(id, self._before)}
        for each in reversed([*self._target]):
            if id(each) not in known:
                each.stop()
        self._target[:] = self._before
        for owner, name, now, old in self._patched():
            if now is not old:
                setattr(owner, name, old)

    def __init__(self, active: list[Any]) -> None:
        held = [attributes(each) for each in active]
        places = [(own.get("target"), own.get("attribute")) for own in held]
        self._places = [
            (o, n, getattr(o, n)) for o, n in places if type(n) is str and hasattr(o, n)
        ]
        super().__init__(active)

    def _patched(self) -> Iterator[tuple[Any, str, Any, Any]]:
        """Yield each attribute, with what stands there now, and what did."""
        for owner, name, old in self._places:
            yield owner, name, getattr(owner, name, _MISSING), old


def started_patches(_: object) -> Iterator[tuple[str, State]]:
    """Yield the patches that are active; nothing where the module was not imported."""
    kind = getattr(sys.modules.get("unittest.mock"), "_patch", None)
    active = getattr(kind, "_active_patches", None)
    if type(active) is list:
        yield "patches of unittest.mock", StartedPatches(active)
