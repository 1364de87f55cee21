"""Asks engines where their values live, and has them measure devices and network."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from ipyjaxbench.cluster import on_engine
from ipyjaxbench.cluster.job_peaks import JobPeaks, RankPeaks
from ipyjaxbench.cluster.job_whereabouts import JobWhereabouts
from ipyjaxbench.cluster.members import Members
from ipyjaxbench.cluster.merge_whereabouts import merge_whereabouts
from ipyjaxbench.cluster.network_peaks import NetworkPeaks
from ipyjaxbench.device import Peaks


def locate_on_engines(members: Members, code: str, *, start: bool = False) -> JobWhereabouts:
    """Return where the values of all engines live, as one tree.

    Args:
        members: the engines.
        code: expressions side by side; all variables where it is empty.
        start: let frameworks look for devices now.

    Raises:
        RankError: an engine failed; the message names it.
        OptionError: no engine has such a value.
    """
    __tracebackhide__ = True
    answers = members.call(on_engine.locate_values, code, start, meeting=False)
    found = [answer["found"] for answer in answers]
    return merge_whereabouts([*zip(members.labels, found, strict=True)])


def measure_peaks_on_engines(
    members: Members, timeout: float, *, start: bool = False, remeasure: bool = False
) -> JobPeaks:
    """Return what the devices of each engine can do, and how fast ranks exchange data.

    Engines of one host measure one after the other, so that none takes the other's CPUs.

    Args:
        members: the engines.
        timeout: seconds to wait for a rank.
        start: initialize frameworks that are imported there, so that their devices are measured.
        remeasure: measure also what was stored for these hosts.

    Raises:
        RankError: an engine failed; the message names it.
    """
    __tracebackhide__ = True
    import msgspec

    found: dict[int, Peaks] = {}
    for turn in _turns(members.hosts):
        answers = members.choose(turn).call(on_engine.measure_devices, start, remeasure)
        peaks = (msgspec.convert(answer["peaks"], Peaks) for answer in answers)
        found |= zip(turn, peaks, strict=True)
    network = _measure_network(members, timeout, remeasure=remeasure) if members.job else None
    ranks = tuple(
        RankPeaks(label, host, found[index].found)
        for index, (label, host) in enumerate(zip(members.labels, members.hosts, strict=True))
    )
    return JobPeaks(ranks, network)


def _turns(hosts: Sequence[str]) -> Iterator[list[int]]:
    """Yield places of engines that may measure at the same time: one of each host.

    Example:
        >>> [*_turns(["a", "a", "b"])]
        [[0, 2], [1]]
    """
    own: dict[str, list[int]] = {}
    for index, host in enumerate(hosts):
        own.setdefault(host, []).append(index)
    for turn in zip_longest(*own.values()):
        yield [index for index in turn if index is not None]


def _measure_network(members: Members, timeout: float, *, remeasure: bool) -> NetworkPeaks:
    """Return how fast the ranks of a job exchange data."""
    __tracebackhide__ = True
    import msgspec

    answers = members.call(on_engine.measure_collectives, remeasure, timeout)
    [found] = [answer["network"] for answer in answers if "network" in answer]
    return msgspec.convert(found, NetworkPeaks)
