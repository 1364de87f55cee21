"""What is known of the file of ``--trace`` when it is written."""

import os
from dataclasses import dataclass

from ipyjaxbench import units
from ipyjaxbench.record_types import NonNegativeInt


@dataclass(frozen=True)
class TraceFile:
    """The file that a profiled pass was written to."""

    path: str  # absolute
    nbytes: NonNegativeInt = 0  # its size
    events: NonNegativeInt = 0  # how many phases, lines and operations it shows
    reason: str = ""  # why it was not written, in words; empty where it was
    missing: str = ""  # what is not in it and why, in words; empty where nothing is missing

    def words(self) -> str:
        """Return the row of a report.

        Example:
            >>> TraceFile("/home/me/step.json.gz", 12_300, 340).words()
            'step.json.gz (12.0 KiB, 340 events): drag it into https://ui.perfetto.dev'
        """
        if self.reason:
            return f"not written: {self.reason}"
        holds = f"{units.size(self.nbytes)}, {units.count(self.events, 'event')}"
        shown = f"{os.path.basename(self.path)} ({holds}): drag it into https://ui.perfetto.dev"
        return f"{shown}; {self.missing}" if self.missing else shown
