"""Where the processes of a job meet: over its store, on the host, never in a collective.

Rank 0 leads. Each step it waits until all others are ready, then it releases them with a message.
"""

import contextlib
import json
import queue
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.cluster.interrupts import Interrupts
from ipyjaxbench.cluster.place import place_of_thread
from ipyjaxbench.frameworks import Framework, Job
from ipyjaxbench.host import Clock

_INTERRUPTIBLE_SECONDS = 0.2  # after which a thread that waits looks whether Ctrl-C came
_ANSWER_NS = 3_000_000_000  # for ranks to say where they are
_POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Meeting:
    """One meeting of all ranks, as one of them saw it; nanoseconds on the host's clock."""

    entered: int  # when this rank was ready
    left: int  # when it went on


class Rendezvous:
    """Meets the other processes of a job, step by step.

    Args:
        job: this process's place, and the store.
        framework: whose job it is.
        run: what no other measurement of this job is called.
        seconds: after which a rank that does not come is missing.
        clock: the host's.
    """

    def __init__(
        self, job: Job, framework: Framework, run: str, seconds: float, clock: Clock
    ) -> None:
        self.job = job
        self.framework = framework
        self.meetings: list[Meeting] = []
        self._prefix = f"ipyjaxbench/{run}"
        self._milliseconds = int(seconds * 1000)
        self._seconds = seconds
        self._clock = clock
        self.interrupts = Interrupts()
        self._getter = _Getter(job, self.interrupts)

    @property
    def leads(self) -> bool:
        """Whether this is rank 0."""
        return self.job.rank == 0

    def close(self) -> None:
        """Meet no more."""
        self._getter.close()

    def now(self) -> int:
        """Return nanoseconds on this host's clock."""
        return self._clock.wall()

    def write(self, name: str, value: Any) -> None:
        """Write what this rank alone writes, as JSON."""
        self.job.put(self._key(name), json.dumps(value).encode())

    def read(self, name: str, rank: int) -> Any:
        """Return what a rank wrote.

        Raises:
            RankError: it did not within the time.
        """
        # Rank 0 finds out who is missing, and tells: whoever waits for it waits longer.
        patience = 0 if self.leads else 2 * _ANSWER_NS // 1_000_000
        found = self._getter.get(self._key(name), self._milliseconds + patience)
        if found is None:
            raise RankError(self._missing([rank]))
        return json.loads(found)

    def release(self, message: Any) -> None:
        """Wait until all other ranks are ready, and have them go on with a message.

        Raises:
            RankError: a rank did not come, or its code failed.
            KeyboardInterrupt: there was a Ctrl-C since the last step.
        """
        __tracebackhide__ = True
        self.interrupts.check()
        entered, step = self._clock.wall(), len(self.meetings)
        found = self._getter.get(self._key(f"ready/{step}"), self._milliseconds)
        failure = json.loads(found) if found else self._missing(self._absent(step))
        if failure:
            self.stop(failure)
            raise RankError(failure)
        self.write(f"go/{step}", {"go": message})
        self.meetings.append(Meeting(entered, self._clock.wall()))

    def follow(self) -> Any:
        """Say that this rank is ready, and return what rank 0 releases it with.

        Raises:
            RankError: rank 0 did not come.
            KeyboardInterrupt: there was a Ctrl-C since the last step.
        """
        __tracebackhide__ = True
        self.interrupts.check()
        entered, step = self._clock.wall(), len(self.meetings)
        self.write(f"here/{step}/{self.job.rank}", None)
        if self.job.add(self._key(f"count/{step}")) == self.job.size - 1:
            self.write(f"ready/{step}", None)
        message = self.read(f"go/{step}", 0)
        if "stopped" in message:
            raise RankError(message["stopped"])
        self.meetings.append(Meeting(entered, self._clock.wall()))
        return message["go"]

    def stop(self, words: str) -> None:
        """Have all others, who wait for this step, raise that rank 0 has stopped."""
        self._write_once(f"go/{len(self.meetings)}", {"stopped": words})

    def fail(self, words: str) -> None:
        """Tell rank 0, in place of being ready, that this rank's code failed."""
        self._write_once(f"ready/{len(self.meetings)}", f"rank {self.job.rank} raised {words}")

    def _absent(self, step: int) -> list[int]:
        """Return the ranks that are not at a step."""
        keys = {rank: self._key(f"here/{step}/{rank}") for rank in range(1, self.job.size)}
        return [rank for rank, key in keys.items() if self.job.peek(key) is None]

    def _missing(self, ranks: list[int]) -> str:
        """Say which ranks did not come, and where their code is."""
        self._write_once("where", None)
        end = self._clock.wall() + _ANSWER_NS
        places: dict[int, str] = {}
        while len(places) < len(ranks) and self._clock.wall() < end:
            for rank in ranks:
                found = self.job.peek(self._key(f"place/{rank}"))
                places |= {rank: json.loads(found)} if found else {}
            self._clock.sleep(_POLL_SECONDS)
        hosts = {rank: self.job.peek(self._key(f"host/{rank}")) for rank in ranks}
        on = {rank: f"on {json.loads(host)}, " for rank, host in hosts.items() if host}
        where = [f"{on.get(rank, '')}{places.get(rank, 'no answer')}" for rank in ranks]
        both = zip(ranks, where, strict=True)
        names = ", ".join(f"rank {rank} ({place})" for rank, place in both)
        return (
            f"{names} did not arrive within {self._seconds:g} s. All ranks must run the same cell;"
            " --timeout 300 waits longer."
        )

    def _write_once(self, name: str, value: Any) -> None:
        """Write what another rank may have written before."""
        if self.job.peek(self._key(name)) is None:
            with contextlib.suppress(Exception):  # it has, just now
                self.write(name, value)

    @contextlib.contextmanager
    def taking_part(self) -> Iterator[None]:
        """Defer Ctrl-C, and tell those who miss this rank where it is, its code from a thread."""
        main, done = threading.get_ident(), threading.Event()
        self.write(f"host/{self.job.rank}", socket.gethostname())

        def answer() -> None:
            while not done.wait(_POLL_SECONDS):
                if self.job.peek(self._key("where")) is not None:
                    self.write(f"place/{self.job.rank}", place_of_thread(main))
                    return

        threading.Thread(target=answer, daemon=True, name="ipyjaxbench whereabouts").start()
        try:
            with self.interrupts.deferred():
                yield
        finally:
            done.set()

    def _key(self, name: str) -> str:
        return f"{self._prefix}/{name}"


_Asked = queue.SimpleQueue[Callable[[], None] | None]


class _Getter:
    """Waits for keys in a thread, so that Ctrl-C is seen at once."""

    def __init__(self, job: Job, interrupts: Interrupts) -> None:
        self._job, self._interrupts = job, interrupts
        self._asked: _Asked | None = None

    def close(self) -> None:
        """End the thread."""
        if self._asked is not None:
            self._asked.put(None)
            self._asked = None

    def get(self, key: str, milliseconds: int) -> bytes | None:
        found: list[bytes | BaseException | None] = []
        done = threading.Event()

        def wait() -> None:
            try:
                found.append(self._job.get(key, milliseconds))
            except BaseException as error:  # noqa: BLE001  raised in the thread that asks
                found.append(error)
            done.set()

        asked, self._asked = self._asked or _start_worker(), None
        asked.put(wait)
        try:
            while not done.wait(_INTERRUPTIBLE_SECONDS):
                self._interrupts.check()
        except BaseException:
            asked.put(None)  # that thread still waits: the next get has another
            raise
        self._asked = asked
        [outcome] = found
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def _start_worker() -> _Asked:
    """Start a thread that does what is put into a queue, until None is."""
    asked: _Asked = queue.SimpleQueue()

    def work() -> None:
        while (wait := asked.get()) is not None:
            wait()

    threading.Thread(target=work, daemon=True, name="ipyjaxbench rendezvous").start()
    return asked
