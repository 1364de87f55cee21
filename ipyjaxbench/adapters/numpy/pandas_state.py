"""What calls change of pandas's: which blocks a table or a series is made of."""

import sys
from typing import Any

from ipyjaxbench.frameworks import AttributeNames, Names, State
from ipyjaxbench.usercode import attributes

_KEPT = frozenset(("_mgr", "_attrs", "_name"))  # the others are caches
#: Private: what a manager holds; versions that lack one have it in another place.
_OF_MANAGER = (
    "blocks", "axes", "_known_consolidated", "_is_consolidated", "_blknos", "_blklocs",
)  # fmt: skip


class Frame(Names):
    """The attributes of a table or a series.

    Args:
        frame: it.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        super().__init__(AttributeNames(frame, _KEPT))

    def restore(self) -> None:
        """Set the old ones, and drop columns that were looked up in others (before pandas 3)."""
        super().restore()
        looked_up = attributes(self._frame).get("_item_cache")
        if looked_up:
            looked_up.clear()

    def again(self) -> "Frame":
        """Those now."""
        return Frame(self._frame)


class Manager(State):
    """The blocks of numbers that a manager holds.

    Args:
        manager: of a table or a series.
    """

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self._before = [(name, getattr(manager, name, None)) for name in _OF_MANAGER]
        self._axes = [*manager.axes]

    @property
    def parts(self) -> list[object]:
        """The numbers."""
        return [block.values for block in self._manager.blocks]

    def changed(self) -> bool:
        """Whether it has other blocks or axes."""
        now, before = self._manager, dict(self._before)
        others = now.blocks is not before["blocks"] or now.axes is not before["axes"]
        return others or [*map(id, now.axes)] != [*map(id, self._axes)]

    def restore(self) -> None:
        """Have it hold the old ones."""
        for name, value in self._before:
            if getattr(self._manager, name, None) is not value:
                setattr(self._manager, name, value)
        self._manager.axes[:] = self._axes

    def again(self) -> "Manager":
        """Those now."""
        return Manager(self._manager)


def states(value: Any) -> list[State] | None:
    """What calls can change of a table or a series.

    Args:
        value: anything.

    Returns:
        None for what is none of pandas's.
    """
    pandas: Any = sys.modules.get("pandas")
    kinds = getattr(pandas, "DataFrame", None), getattr(pandas, "Series", None)
    if None in kinds or not issubclass(type(value), kinds):  # type: ignore[arg-type]
        return None
    manager = attributes(value).get("_mgr")
    if getattr(manager, "blocks", None) is None:
        return None
    return [Frame(value), Manager(manager)]
