"""What calls change of pandas's: the blocks of a table or a series, and the names of its axes."""

import sys
from typing import Any

from ipyjaxbench.frameworks import AttributeNames, Holder, State, are_identical
from ipyjaxbench.usercode import attributes, is_users_class

_KEPT = frozenset(("_mgr", "_attrs", "_flags", "_name"))
_CACHES = frozenset(("_item_cache", "_cacher", "_is_copy", "_cache"))
_OF_INDEX = frozenset(("_name", "_names"))  # the others never change, or are caches
#: Private: what a manager holds; versions that lack one have it in another place.
_OF_MANAGER = ("blocks", "axes", "_known_consolidated", "_is_consolidated")
#: Private: where each column is in the blocks, which pandas finds out where these are None. They
#: are changed in place, and pandas reads beyond memory where they are wrong.
_FOLLOWING = ("_blknos", "_blklocs")


class Frame(AttributeNames):
    """The attributes of a table or a series, but for caches."""

    def _values(self) -> dict[str, Any]:
        is_users = is_users_class(self._kind)
        return {n: v for n, v in super()._values().items() if _is_kept(n, is_users=is_users)}

    def restore(self) -> None:
        """Set the old ones, and drop columns that were looked up in others (before pandas 3)."""
        super().restore()
        looked_up = attributes(self._target).get("_item_cache")
        if looked_up:
            looked_up.clear()


def _is_kept(name: str, *, is_users: bool) -> bool:
    """Whether it is none of pandas's caches; some attributes are of a class of the user's."""
    return name in _KEPT or not name.startswith("_") or (is_users and name not in _CACHES)


class Manager(State):
    """The blocks of numbers, and the axes, that the manager of a table or a series holds."""

    def _read(self) -> tuple[list[Any], list[Any], list[Any]]:
        held = [getattr(self._target, name, None) for name in _OF_MANAGER]
        return held, [*self._target.axes], [block.mgr_locs for block in self._target.blocks]

    @property
    def parts(self) -> list[object]:
        """The numbers, and the axes, which have names."""
        return [*(block.values for block in self._target.blocks), *self._target.axes]

    def changed(self) -> bool:
        """Whether it has other blocks or axes, or blocks are of other columns."""
        blocks_and_axes = 2  # the others follow from these
        (now, *others), (before, *old) = self._read(), self._before
        pairs = zip((now[:blocks_and_axes], *others), (before[:blocks_and_axes], *old), strict=True)
        return not all(are_identical(*pair) for pair in pairs)

    def restore(self) -> None:
        """Have it hold the old ones."""
        values, axes, places = self._before
        for name, value in zip(_OF_MANAGER, values, strict=True):
            if getattr(self._target, name, None) is not value:
                setattr(self._target, name, value)
        self._target.axes[:] = axes
        for block, place in zip(self._target.blocks, places, strict=True):
            block.mgr_locs = place
        for name in _FOLLOWING:
            if getattr(self._target, name, None) is not None:  # a series has none
                setattr(self._target, name, None)


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
