"""How much memory copies may take, and how much may be read where there is none for a copy."""

import math
from collections.abc import Callable

from ipyjaxbench.frameworks.state.looks import MOST

_UNCHECKED_BYTES = 64 * 2**20  # bytes of copies that need no look at the free memory
_FREE_SHARE = 0.25  # of the free memory, for all copies
_FEWEST_OBJECTS = 50_000  # that are looked at for each of many arms
_MOST_LOOKS = 20_000  # at objects of frameworks' own
_MOST_READ = 16 * 2**30  # bytes of which there is no copy: reading them takes seconds
_MOST_READ_OF_DATA = 2**30  # the same of data
_MOST_ITEMS_OF_DATA = 20_000  # items of a container of data that are looked at


class CopyBudget:
    """How much may be copied: a quarter of what was free at first, on each device.

    Args:
        most: bytes that may be taken, however many are free.
        gives_away: the code gives arrays away that nothing else changes.
        arms: how many are compared: they share the time that looking at objects may take.
        whole: the budget that this one is a part of, for data: they are large, and seldom changed.
    """

    def __init__(
        self,
        most: float = math.inf,
        *,
        gives_away: bool = False,
        arms: int = 1,
        whole: "CopyBudget | None" = None,
    ) -> None:
        self._most, self._whole = most, whole
        self.gives_away = gives_away
        self.most_objects = max(MOST // arms, _FEWEST_OBJECTS)
        self.most_items = math.inf if whole is None else _MOST_ITEMS_OF_DATA
        self._taken: dict[str, int] = {}
        self._limits: dict[str, float] = {}
        self._known: dict[object, object] = {} if whole is None else whole._known
        self._lost: set[object] = set() if whole is None else whole._lost
        self._looks = _MOST_LOOKS
        self._left_to_read = _MOST_READ if whole is None else _MOST_READ_OF_DATA

    def part(self, most: float) -> "CopyBudget":
        """Return one of which copies take so many bytes at most, of those of this one."""
        if most == math.inf:
            return self
        return CopyBudget(most, gives_away=self.gives_away, whole=self)

    @property
    def copies(self) -> bool:
        """Whether anything is copied at all; else it is but looked at."""
        return self._most > 0 and (self._whole is None or self._whole.copies)

    def is_new(self, owner: object, key: object = None) -> bool:
        """Whether memory is asked about for the first time: several arrays may share it.

        Its owner is held. The key tells memory from other memory: by default the owner's identity.
        """
        key = id(owner) if key is None else key
        is_new = key not in self._known
        self._known[key] = owner
        return is_new

    def lose(self, key: object) -> None:
        """Remember that there is no copy of some memory."""
        self._lost.add(key)

    def has_lost(self, key: object) -> bool:
        """Whether there is none."""
        return key in self._lost

    def may_look(self) -> bool:
        """Whether one more object that a framework keeps may be looked at; count it then."""
        if self._whole is not None:
            return self._whole.may_look()
        self._looks -= 1
        return self._looks >= 0

    def may_read(self, nbytes: int) -> bool:
        """Whether so many bytes may be read, of which there is no copy; count them then."""
        if nbytes > self._left_to_read:
            return False
        self._left_to_read -= nbytes
        return True

    def take(self, device: str, nbytes: int, free: Callable[[], int]) -> bool:
        """Whether a copy fits on a device, of which `free` tells the free bytes; count it then."""
        taken = self._taken.get(device, 0) + nbytes
        if taken > self._most:
            return False
        if self._whole is not None and not self._whole.take(device, nbytes, free):
            return False
        if self._whole is None and taken > _UNCHECKED_BYTES:
            if device not in self._limits:
                self._limits[device] = _FREE_SHARE * (free() + self._taken.get(device, 0))
            if taken > self._limits[device]:
                return False
        self._taken[device] = taken
        return True
