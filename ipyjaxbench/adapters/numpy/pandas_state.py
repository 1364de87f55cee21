"""What calls change of pandas's: which blocks a table or a series is made of."""

import sys
from typing import Any

from ipyjaxbench.frameworks import AttributeNames, State, are_identical
from ipyjaxbench.usercode import attributes

_KEPT = frozenset(("_mgr", "_attrs", "_name"))  # the others are caches
#: Private: what a manager holds; versions that lack one have it in another place.
_OF_MANAGER = (
    "blocks", "axes", "_known_consolidated", "_is_consolidated", "_blknos", "_blklocs",
)  # fmt: skip


class Frame(AttributeNames):
    """The attributes of a table or a series, but for caches."""

    def __init__(self, frame: Any) -> None:
        super().__init__(frame, _KEPT)

    def restore(self) -> None:
        """Set the old ones, and drop columns that were looked up in others (before pandas 3)."""
        super().restore()
        looked_up = attributes(self._target).get("_item_cache")
        if looked_up:
            looked_up.clear()


class Manager(State):
    """The blocks of numbers, and the axes, that the manager of a table or a series holds."""

    def _read(self) -> tuple[list[Any], list[Any]]:
        return [getattr(self._target, name, None) for name in _OF_MANAGER], [*self._target.axes]

    @property
    def parts(self) -> list[object]:
        """The numbers."""
        return [block.values for block in self._target.blocks]

    def changed(self) -> bool:
        """Whether it has other blocks or axes."""
        blocks_and_axes = 2  # the others follow from these
        (now, axes), (before, old_axes) = self._read(), self._before
        return not (
            are_identical(now[:blocks_and_axes], before[:blocks_and_axes])
            and are_identical(axes, old_axes)
        )

    def restore(self) -> None:
        """Have it hold the old ones."""
        values, axes = self._before
        for name, value in zip(_OF_MANAGER, values, strict=True):
            if getattr(self._target, name, None) is not value:
                setattr(self._target, name, value)
        self._target.axes[:] = axes


def states(value: Any) -> list[State] | None:
    """Return what calls can change of a table or a series; None of what is none of pandas's."""
    pandas: Any = sys.modules.get("pandas")
    kinds = getattr(pandas, "DataFrame", None), getattr(pandas, "Series", None)
    if None in kinds or not issubclass(type(value), kinds):  # type: ignore[arg-type]
        return None
    manager = attributes(value).get("_mgr")
    if getattr(manager, "blocks", None) is None:
        return None
    return [Frame(value), Manager(manager)]
