"""What the devices of many engines can do, and the network between them."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ipyjaxbench.cluster.network_peaks import NetworkPeaks
from ipyjaxbench.device import DevicePeaks, peak_row
from ipyjaxbench.reports import Result


@dataclass(frozen=True)
class RankPeaks:
    """What the devices of one engine can do.

    Attributes:
        label: its name: "rank 0" in a job, otherwise "engine 0".
        host: its machine.
        found: the peaks of each framework and kind of device.
    """

    label: str
    host: str
    found: tuple[DevicePeaks, ...]


@dataclass(frozen=True, repr=False)
class JobPeaks(Result):
    """What the devices of many engines can do, and the network between them.

    Attributes:
        ranks: the peaks of each rank or engine.
        network: the peaks of the collectives between them; None if no job connects them.
    """

    kind: ClassVar[str] = "job-peaks"

    ranks: tuple[RankPeaks, ...]
    network: NetworkPeaks | None = None

    def check(self) -> str | None:
        """Return why these facts contradict each other."""
        if self.network is not None and len(self.network.hosts) != len(self.ranks):
            return "the network is of other ranks"
        return self.network.check() if self.network is not None else None

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each framework and device of each rank; FLOP and bytes per second."""
        return [
            {"rank": rank.label, "host": rank.host, **row}
            for rank in self.ranks
            for row in map(peak_row, rank.found)
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<JobPeaks {len(self.ranks)} ranks>"
