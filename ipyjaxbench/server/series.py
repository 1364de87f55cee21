"""Runs of the same code, the oldest first: what came before a run, and how they went."""

from collections.abc import Mapping, Sequence

from ipyjaxbench.records import EntryHead
from ipyjaxbench.server.errors import NotFoundError
from ipyjaxbench.server.measured import TREND, series_of

#: A measurement and its id in the history.
Kept = tuple[str, EntryHead]


class AllSeries:
    """Measurements by series, in the order of time.

    Args:
        heads: all of the history by id, the newest first.
        known: `placed` of an earlier one: nothing is made again for the same measurements.

    Attributes:
        newest_first: all measurements.
        placed: each measurement with the key of its series, by id.
    """

    def __init__(
        self,
        heads: dict[str, EntryHead],
        known: Mapping[str, tuple[Kept, str]] | None = None,
    ) -> None:
        known = known or {}
        self.newest_first: list[Kept] = []
        self.placed: dict[str, tuple[Kept, str]] = {}
        self._runs: dict[str, list[Kept]] = {}
        self._positions: dict[str, int] = {}
        for own_id, head in reversed(heads.items()):
            placed = known.get(own_id)
            if placed is None or placed[0][1] is not head:  # new, or of a file that was replaced
                placed = (own_id, head), series_of(head)
            kept, key = self.placed[own_id] = placed
            runs = self._runs.setdefault(key, [])
            self._positions[own_id] = len(runs)
            runs.append(kept)
            self.newest_first.append(kept)
        self.newest_first.reverse()

    def head(self, own_id: str) -> EntryHead:
        """Return a measurement.

        Raises:
            NotFoundError: there is none of this id.
        """
        if own_id not in self.placed:
            raise NotFoundError(f"{own_id[:80]}: no such measurement")
        kept, _ = self.placed[own_id]
        return kept[1]

    def before(self, own_id: str) -> EntryHead | None:
        """Return the run before; None for the first."""
        place = self._positions[own_id]
        return self._runs_with(own_id)[place - 1][1] if place else None

    def trend(self, own_id: str) -> list[float]:
        """Return the medians of the last runs up to this one, in seconds."""
        end = self._positions[own_id] + 1
        return [head.median for _, head in self._runs_with(own_id)[max(end - TREND, 0) : end]]

    def key(self, own_id: str) -> str:
        """Return the key of the series that a measurement is of."""
        return self.placed[own_id][1]

    def _runs_with(self, own_id: str) -> list[Kept]:
        return self._runs[self.key(own_id)]

    def runs(self, key: str) -> Sequence[Kept]:
        """Return the runs of a series, the oldest first."""
        return self._runs.get(key, ())
