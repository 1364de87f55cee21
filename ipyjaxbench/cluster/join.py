"""How the processes of a job find a measurement in which all of them take part."""

import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager

from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.cluster.rendezvous import Rendezvous
from ipyjaxbench.frameworks import Framework, Job
from ipyjaxbench.host import Clock

_COUNT = "ipyjaxbench/runs"
_NAMED, _NAME = "ipyjaxbench/named", "ipyjaxbench/name"
_NAMING_MS = 5_000
_joined: set[tuple[int, str]] = set()  # ranks of this process, and runs in which they took part


@contextmanager
def join(framework: Framework, job: Job, seconds: float, clock: Clock) -> Iterator[Rendezvous]:
    """Take part in the next measurement of a job: rank 0 opens it, the others find it.

    Raises:
        RankError: rank 0 opens none within the seconds.
    """
    if job.rank:
        with closing(Rendezvous(job, framework, _find_run(job, seconds), seconds, clock)) as one:
            yield one
        return
    number, run = job.add(_COUNT), uuid.uuid4().hex
    job.put(_run(number), run.encode())
    try:
        with closing(Rendezvous(job, framework, run, seconds, clock)) as one:
            yield one
    finally:
        job.put(_closed(number), b"")


def name_of(job: Job) -> str:
    """Return what all ranks of a job call it, and those of no other job; "" if none answers."""
    if job.add(_NAMED) == 1:
        job.put(_NAME, uuid.uuid4().hex.encode())
    return (job.get(_NAME, _NAMING_MS) or b"").decode()


def _find_run(job: Job, seconds: float) -> str:
    """Return the run that rank 0 has opened and not closed, or the next one that it opens."""
    number = job.add(_COUNT, 0)
    is_open = number > 0 and job.peek(_closed(number)) is None
    found = job.get(_run(number), int(seconds * 1000)) if is_open else None
    if found is None or (job.rank, found.decode()) in _joined:
        found = job.get(_run(number + 1), int(seconds * 1000))
    if found is None:
        raise RankError(
            f"rank 0 did not arrive within {seconds:g} s. All ranks must run the same cell;"
            " --timeout 300 waits longer."
        )
    _joined.add((job.rank, found.decode()))
    return found.decode()


def _run(number: int) -> str:
    return f"ipyjaxbench/run/{number}"


def _closed(number: int) -> str:
    return f"ipyjaxbench/closed/{number}"
