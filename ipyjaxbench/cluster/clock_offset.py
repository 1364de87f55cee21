"""How far the clocks of hosts are apart: NTP's formula (RFC 5905, section 8) over a job's store."""

from collections.abc import Sequence
from dataclasses import dataclass

from ipyjaxbench.cluster.rendezvous import Rendezvous
from ipyjaxbench.record_types import NonNegativeInt

_ROUND_TRIPS = 20


@dataclass(frozen=True)
class ClockOffset:
    """What to add to a host's clock to have that of rank 0.

    Attributes:
        offset: nanoseconds by which the clock of rank 0 is ahead.
        error: nanoseconds by which that may be wrong.
    """

    offset: int
    error: NonNegativeInt

    def between(self, later: "ClockOffset") -> "ClockOffset":
        """Return that of the time between two estimates; what clocks drifted is an error of it."""
        drift = abs(later.offset - self.offset)
        error = max(self.error, later.error) + drift // 2
        return ClockOffset((self.offset + later.offset) // 2, error)


def estimate(round_trips: Sequence[tuple[int, int, int, int]]) -> ClockOffset:
    """Return the offset by the round trip with the least delay.

    Args:
        round_trips: nanoseconds at which each was sent and arrived at rank 0, was sent back and
            arrived here; the first and the last by the clock of this host.

    Example:
        >>> estimate([(0, 1050, 1060, 100), (0, 1200, 1210, 900)])
        ClockOffset(offset=1005, error=45)
    """
    sent, arrived, answered, back = min(round_trips, key=_delay)
    delay = _delay((sent, arrived, answered, back))
    return ClockOffset(((arrived - sent) + (answered - back)) // 2, max(delay, 0) // 2)


def _delay(times: tuple[int, int, int, int]) -> int:
    sent, arrived, answered, back = times
    return (back - sent) - (answered - arrived)


def compare_clocks(rendezvous: Rendezvous, boot: str, phase: str) -> ClockOffset | None:
    """Compare the clock of each host with that of rank 0; all ranks call it.

    Args:
        rendezvous: where the ranks meet.
        boot: what is equal in processes that share a clock.
        phase: what no other comparison of this measurement is called.

    Returns:
        The offset, in one rank of each host; None in the others, and where the clock is rank 0's.

    Raises:
        RankError: a rank did not come.
    """
    rank = rendezvous.job.rank
    if not rendezvous.leads:
        rendezvous.write(f"{phase}/boot/{rank}", boot)
        if rank not in rendezvous.read(f"{phase}/asked", 0):
            return None
        return estimate([_ask(rendezvous, f"{phase}/{rank}/{n}") for n in range(_ROUND_TRIPS)])
    ranks = range(rendezvous.job.size - 1, 0, -1)
    first = {rendezvous.read(f"{phase}/boot/{rank}", rank): rank for rank in ranks}
    asked = sorted(rank for other, rank in first.items() if other != boot)
    rendezvous.write(f"{phase}/asked", asked)
    for rank in asked:
        for n in range(_ROUND_TRIPS):
            _answer(rendezvous, f"{phase}/{rank}/{n}", rank)
    return None


def _ask(rendezvous: Rendezvous, name: str) -> tuple[int, int, int, int]:
    sent = rendezvous.now()
    rendezvous.write(f"{name}/sent", None)
    arrived, answered = rendezvous.read(f"{name}/answered", 0)
    return sent, arrived, answered, rendezvous.now()


def _answer(rendezvous: Rendezvous, name: str, rank: int) -> None:
    rendezvous.read(f"{name}/sent", rank)
    arrived = rendezvous.now()
    rendezvous.write(f"{name}/answered", (arrived, rendezvous.now()))
