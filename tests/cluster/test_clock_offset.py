"""Clocks of hosts are compared: how far they are apart, and how sure that is."""

from typing import cast

import pytest

from ipyjaxbench.cluster.clock_offset import ClockOffset, compare_clocks, estimate
from ipyjaxbench.cluster.rendezvous import Rendezvous
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.host import Clock
from tests.cluster.threads import ThreadJob, run_ranks

_NO_FRAMEWORK = cast("Framework", None)  # a rendezvous hands it on only
_HOUR = 3600 * 10**9


def _shifted(ahead: int) -> Clock:
    """Return the clock of another host."""
    here = Clock.elapsed()
    return Clock(here.now, lambda: here.wall() + ahead, here.sleep)


@pytest.mark.parametrize("there", [100, 4000])
@pytest.mark.parametrize("back", [100, 9000])
def test_the_offset_is_right_within_its_error(there: int, back: int) -> None:
    ahead = 123_456_789
    found = estimate([(1000, 1000 + ahead + there, 1050 + ahead + there, 1050 + there + back)])
    assert abs(found.offset - ahead) <= found.error == (there + back) // 2


def test_the_round_trip_with_the_least_delay_counts() -> None:
    slow, fast = (0, 900, 900, 1000), (0, 510, 510, 20)
    assert estimate([slow, fast, slow]) == ClockOffset(500, 10)


def test_drift_is_an_error() -> None:
    assert ClockOffset(100, 10).between(ClockOffset(140, 5)) == ClockOffset(120, 30)


def test_one_rank_of_each_other_host_knows_its_offset() -> None:
    boots, ahead = ("a", "b", "a", "b", "c"), (0, -_HOUR, 0, -_HOUR, _HOUR)

    def work(job: ThreadJob) -> ClockOffset | None:
        rendezvous = Rendezvous(job, _NO_FRAMEWORK, "run", 10, _shifted(ahead[job.rank]))
        return compare_clocks(rendezvous, boots[job.rank], "before")

    first, second, third, fourth, fifth = run_ranks(5, work)
    assert (first, third, fourth) == (None, None, None)
    for found, offset in ((second, _HOUR), (fifth, -_HOUR)):
        assert abs(found.offset - offset) <= found.error < 10**9
