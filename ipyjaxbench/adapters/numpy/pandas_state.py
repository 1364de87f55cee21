"""What calls change of pandas's: the blocks of a table or a series, and the names of its axes."""

import sys
from typing import Any

from ipyjaxbench.frameworks import AttributeNames, Holder, State, are_identical
from ipyjaxbench.usercode import attributes

_KEPT = frozenset(("_mgr", "_attrs", "_flags", "_name"))  # the others are caches
_OF_INDEX = frozenset(("_name", "_names"))  # the others never change, or are caches
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
        """The numbers, and the axes, which have names."""
        return [*(block.values for block in self._target.blocks), *self._target.axes]

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
    """Return what calls can change of pandas's; None of what is none of pandas's."""
    pandas: Any = sys.modules.get("pandas")
    kind = type(value)
    if pandas is None or not hasattr(pandas, "Series"):  # it is being imported
        return None
    if issubclass(kind, pandas.Index):
        return [AttributeNames(value, _OF_INDEX)]
    if issubclass(kind, pandas.api.extensions.ExtensionArray):
        numbers = getattr(value, "_ndarray", None)  # of strings, dates and categories
        return None if numbers is None else [Holder(value, [numbers])]
    manager = attributes(value).get("_mgr")
    is_table = issubclass(kind, pandas.DataFrame | pandas.Series)
    if not is_table or getattr(manager, "blocks", None) is None:
        return None
    return [Frame(value), Manager(manager)]
