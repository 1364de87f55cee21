"""Measures how fast the processes of a job exchange data; each of them runs this function.

Rank 0 says what is done next, and all do it. A chunk of calls is timed in each rank: it begins at
a rendezvous on the host, and with one call that is not timed, after which the ranks are level.
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass, replace

from ipyjaxbench import stats
from ipyjaxbench.cluster import network_store
from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.cluster.network_peaks import CollectiveTime, NetworkPeaks
from ipyjaxbench.cluster.network_store import NetworkKey
from ipyjaxbench.cluster.rendezvous import Rendezvous
from ipyjaxbench.frameworks import COLLECTIVES, Collectives
from ipyjaxbench.host import Clock, summarize_error
from ipyjaxbench.timing import gc_paused
from ipyjaxbench.usercode import describe_error

_SECONDS = 10.0
_SIZES = tuple(4**power for power in range(6, 14))  # 4 KiB to 64 MiB
_ITEM = 4  # bytes of a float32
_CHUNK_NS = 15_000_000  # at least
_MIN_CHUNKS, _CHUNKS, _MAX_CALLS = 3, 5, 1000
_NS = 1e-9


def measure_network(
    rendezvous: Rendezvous,
    *,
    remeasure: bool = False,
    seconds: float = _SECONDS,
    clock: Clock | None = None,
) -> NetworkPeaks | None:
    """Measure collectives among all ranks, of each kind and size that time allows.

    Args:
        rendezvous: where the ranks meet.
        remeasure: whether to measure what was stored for these hosts, too.
        seconds: after which no further size is begun.
        clock: what times the calls; the default is elapsed time.

    Returns:
        In rank 0, what was measured or stored; None in the others.

    Raises:
        RankError: a rank did not come, or failed, or has another version.

    Example:
        >>> # with join(framework, job, 30, Clock.elapsed()) as r: measure_network(r)
    """
    clock = clock or Clock.elapsed()
    with rendezvous.taking_part(), gc_paused():
        rank = _Rank(rendezvous, clock)
        try:
            if rendezvous.leads:
                return _lead(rank, seconds, remeasure=remeasure)
            _follow(rank)
        except RankError:
            raise
        except BaseException as error:
            if rendezvous.leads:
                rendezvous.stop(f"rank 0 raised {describe_error(error)}")
            else:
                rendezvous.fail(describe_error(error))
            raise
    return None


@dataclass(frozen=True)
class _Step:
    """What all ranks do next: "make" a collective, "try" it, "run" it so often, or "end"."""

    purpose: str
    kind: str = ""
    nbytes: int = 0
    calls: int = 1


class _Rank:
    """One rank: makes the steps of rank 0."""

    def __init__(self, rendezvous: Rendezvous, clock: Clock) -> None:
        self.rendezvous, self.clock = rendezvous, clock
        self.offers = rendezvous.framework.capability(Collectives)
        self.chunks: list[list[float]] = []  # seconds per call, for each collective and size
        self._run: Callable[[], object] | None = None

    def key(self) -> NetworkKey:
        """Return what must be equal in all ranks, with the host of this one."""
        framework = self.rendezvous.framework
        return NetworkKey(
            framework.name, framework.version(), self.offers.transport(), (socket.gethostname(),),
            self.offers.participants(),
        )  # fmt: skip

    def take(self, step: _Step) -> str:
        """Make a step; return why it failed, in words; "" where it did not."""
        if step.purpose == "run":
            self.chunks[-1].append(self._time(step.calls))
            return ""
        try:
            if step.purpose == "make":
                self._run = None  # its memory is free before more is taken
                self._run = self.offers.make(step.kind, step.nbytes)
            elif step.purpose == "try":
                self._time(1)
                self.chunks.append([])
        # Transports say in many ways what they cannot do.
        except Exception as error:  # noqa: BLE001
            return self._reason(error)
        return ""

    def _reason(self, error: Exception) -> str:
        if isinstance(error, NotImplementedError) or "not support" in str(error):
            return f"not offered by {self.offers.transport() or self.rendezvous.framework.name}"
        return summarize_error(error)

    def _time(self, calls: int) -> float:
        run, clock = self._run, self.clock
        assert run is not None
        run()
        start = clock.now()
        for _ in range(calls):
            run()
        return max(clock.now() - start, 1) / calls * _NS

    def medians(self) -> list[float]:
        """Return seconds per call of everything that was timed."""
        return [stats.median(each) for each in self.chunks if each]


def _follow(rank: _Rank) -> None:
    """Make the steps of rank 0, and hand over what they took."""
    meeting, own = rank.rendezvous, rank.rendezvous.job.rank
    meeting.write(f"network/key/{own}", rank.key())
    while (step := _Step(*meeting.follow())).purpose != "end":
        failure = rank.take(step)
        if step.purpose != "run":
            meeting.write(f"network/{len(meeting.meetings)}/{own}", failure)
    meeting.write(f"network/{len(meeting.meetings)}/{own}", rank.medians())


def _lead(rank: _Rank, seconds: float, *, remeasure: bool) -> NetworkPeaks:
    """Say what is done, and put together what all ranks measured."""
    key = _agreed_key(rank)
    now = Clock.calendar().now() * _NS
    found = None if remeasure else network_store.read(key)
    if found is not None:
        _release(rank, _Step("end"))
        _gathered(rank)
        return replace(found, now=now, stored=True)
    begun = rank.clock.wall()
    plan = _Plan(rank, begun + int(seconds / _NS))
    plan.carry_out()
    _release(rank, _Step("end"))
    of_ranks = [rank.medians(), *_gathered(rank).values()]
    times = [
        CollectiveTime(kind, nbytes, each)
        for (kind, nbytes), each in zip(plan.timed, zip(*of_ranks, strict=True), strict=True)
    ]
    spent = (rank.clock.wall() - begun) * _NS
    peaks = NetworkPeaks(
        **key._asdict(), times=tuple(times), missing=plan.missing, seconds=spent, taken=now, now=now
    )
    unsaved = network_store.write(key, peaks) if times else ""
    return replace(peaks, words=(unsaved,)) if unsaved else peaks


class _Plan:
    """Rank 0's decisions: which sizes, and how many calls of each."""

    def __init__(self, rank: _Rank, end: int) -> None:
        self._rank, self._end = rank, end
        self.timed: list[tuple[str, int]] = []
        self.missing: dict[str, str] = {}

    def carry_out(self) -> None:
        """Time each collective at sizes that grow, each as long as its share of the time lasts."""
        clock = self._rank.clock
        for number, kind in enumerate(COLLECTIVES):
            left = max(self._end - clock.wall(), 0) // (len(COLLECTIVES) - number)
            end = clock.wall() + left
            for place, size in enumerate(_SIZES):
                until = clock.wall() + max(end - clock.wall(), 0) // (len(_SIZES) - place)
                if not self._measure(kind, size, until) or clock.wall() >= end:
                    break

    def _measure(self, kind: str, size: int, until: int) -> bool:
        """Time one collective; return whether that went well in all ranks."""
        rank = self._rank
        unit = _ITEM * max(rank.offers.participants(), 1)
        nbytes = -(-size // unit) * unit  # each participant has as much as the others
        for purpose in ("make", "try"):
            start = rank.clock.wall()
            if why := self._announce(_Step(purpose, kind, nbytes)):
                self.missing |= {} if self._has(kind) else {kind: why}
                return False
        taken = max((rank.clock.wall() - start) / 2, 1)  # the step made two calls
        # Ranks leave the call that levels them one after the other: many calls dilute that.
        chunk = max((until - rank.clock.wall()) / _CHUNKS, _CHUNK_NS)
        calls = round(min(max(chunk / taken, 1), _MAX_CALLS))
        for done in range(_CHUNKS):
            if done >= _MIN_CHUNKS and rank.clock.wall() >= until:
                break
            self._announce(_Step("run", calls=calls))
        self.timed.append((kind, nbytes))
        return True

    def _has(self, kind: str) -> bool:
        return any(kind == timed for timed, _ in self.timed)

    def _announce(self, step: _Step) -> str:
        """Have all ranks make a step; return why it failed in any."""
        rank = self._rank
        _release(rank, step)
        own = rank.take(step)
        if step.purpose == "run":
            return ""
        return next(filter(None, (own, *_gathered(rank).values())), "")


def _release(rank: _Rank, step: _Step) -> None:
    rank.rendezvous.release((step.purpose, step.kind, step.nbytes, step.calls))


def _gathered(rank: _Rank) -> dict[int, str]:
    """Return what all other ranks wrote after the last meeting."""
    meeting = rank.rendezvous
    place = f"network/{len(meeting.meetings)}"
    return {each: meeting.read(f"{place}/{each}", each) for each in range(1, meeting.job.size)}


def _agreed_key(rank: _Rank) -> NetworkKey:
    """Return what is equal in all ranks, with all hosts.

    Raises:
        RankError: it is not equal; all ranks raise it.
    """
    meeting, own = rank.rendezvous, rank.key()
    hosts = [*own.hosts]
    for number in range(1, meeting.job.size):
        name, version, transport, (host,), participants = meeting.read(
            f"network/key/{number}", number
        )
        hosts.append(host)
        other = own._replace(version=version, transport=transport, participants=participants)
        if own != other:
            refused = f"rank {number} has {name} {version} over {transport}, rank 0 has"
            meeting.stop(f"{refused} {own.version} over {own.transport}")
            raise RankError(f"{refused} {own.version} over {own.transport}")
    return own._replace(hosts=tuple(hosts))
