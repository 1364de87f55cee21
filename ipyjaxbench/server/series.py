"""Runs of the same code, the oldest first: what came before a run, and how they went."""

from collections.abc import Iterable, Mapping, Sequence

from ipyjaxbench.records import EntryHead
from ipyjaxbench.server.errors import NotFoundError
from ipyjaxbench.server.measured import TREND, series_of

#: A measurement and its id in the history.
Kept = tuple[str, EntryHead]


class AllSeries:
    """Measurements by series, in the order of time.

    Args:
        newest_first: all of the history.
        known: `keys` of an earlier one: those of the same measurements are not computed again.

    Attributes:
        newest_first: all measurements.
        keys: each measurement with its series, by id.
    """

    def __init__(
        self,
        newest_first: Iterable[Kept],
        known: Mapping[str, tuple[EntryHead, str]] | None = None,
    ) -> None:
        known = known or {}
        self.newest_first = [*newest_first]
        self.keys: dict[str, tuple[EntryHead, str]] = {}
        self._runs: dict[str, list[Kept]] = {}
        self._places: dict[str, tuple[str, int]] = {}
        for own_id, head in reversed(self.newest_first):
            before, key = known.get(own_id, (None, ""))
            if before is not head:  # new, or of a file that was replaced
                key = series_of(head)
            self.keys[own_id] = (head, key)
            runs = self._runs.setdefault(key, [])
            self._places[own_id] = (key, len(runs))
            runs.append((own_id, head))

    def head(self, own_id: str) -> EntryHead:
        """Return a measurement.

        Raises:
            NotFoundError: there is none of this id.
        """
        if own_id not in self._places:
            raise NotFoundError(f"{own_id[:80]}: no such measurement")
        key, place = self._places[own_id]
        return self._runs[key][place][1]

    def before(self, own_id: str) -> EntryHead | None:
        """Return the run before; None for the first."""
        key, place = self._places[own_id]
        return self._runs[key][place - 1][1] if place else None

    def trend(self, own_id: str) -> list[float]:
        """Return the medians of the last runs up to this one, in seconds."""
        key, place = self._places[own_id]
        return [head.median for _, head in self._runs[key][max(place + 1 - TREND, 0) : place + 1]]

    def runs(self, key: str) -> Sequence[Kept]:
        """Return the runs of a series, the oldest first."""
        return self._runs.get(key, ())

    def newest(self) -> list[Kept]:
        """Return the newest run of each series, the newest first."""
        return sorted(
            (runs[-1] for runs in self._runs.values()), key=lambda kept: kept[1].when, reverse=True
        )
