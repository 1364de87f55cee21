"""How much memory copies may take."""

import math
from collections.abc import Callable

_UNCHECKED_BYTES = 64 * 2**20  # bytes of copies that need no look at the free memory
_FREE_SHARE = 0.25  # of the free memory, for all copies
_MOST_LOOKS = 20_000  # at objects of frameworks' own


class CopyBudget:
    """How much may be copied: a quarter of what was free at first, on each device.

    Args:
        most: bytes that may be taken, however many are free.
        gives_away: the code gives arrays away that nothing else changes.
    """

    def __init__(self, most: float = math.inf, *, gives_away: bool = False) -> None:
        self._most = most
        self.gives_away = gives_away
        self._taken: dict[str, int] = {}
        self._limits: dict[str, float] = {}
        self._known: dict[object, object] = {}
        self._looks = _MOST_LOOKS

    def is_new(self, owner: object, key: object = None) -> bool:
        """Whether memory is asked about for the first time: several arrays may share it.

        Its owner is held. The key tells memory from other memory: by default the owner's identity.
        """
        key = id(owner) if key is None else key
        is_new = key not in self._known
        self._known[key] = owner
        return is_new

    def may_look(self) -> bool:
        """Whether one more object that a framework keeps may be looked at; count it then."""
        self._looks -= 1
        return self._looks >= 0

    def take(self, device: str, nbytes: int, free: Callable[[], int]) -> bool:
        """Whether a copy fits on a device, of which `free` tells the free bytes; count it then."""
        taken = self._taken.get(device, 0) + nbytes
        if taken > self._most:
            return False
        if taken > _UNCHECKED_BYTES:
            if device not in self._limits:
                self._limits[device] = _FREE_SHARE * (free() + self._taken.get(device, 0))
            if taken > self._limits[device]:
                return False
        self._taken[device] = taken
        return True
