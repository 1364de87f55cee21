"""Has engines call a function, and waits for all of them: dead, busy and stuck ones are named."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ipyjaxbench.cluster.engines import Engines, Pending
from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.host import Clock

_POLL_SECONDS = 0.02
_ALIVE_SECONDS = 1.0  # between two looks whether engines are there
_DIED = "died"
INTERRUPTED = "was interrupted"
_GRACE_SECONDS = 3.0  # for engines that were told to end
_MARK_SECONDS = 1.0  # until an engine is asked whether it is past its work; then twice as long


@dataclass(frozen=True)
class Answer:
    """What one engine returned, or the line that says why it did not.

    Attributes:
        value: what it returned; None if nothing.
        failure: what went wrong there, such as "died"; "" if nothing did.
    """

    value: Any = None
    failure: str = ""


class Dispatch:
    """Work that engines have been sent.

    Args:
        engines: which ones.
        function: what each calls; it can be imported there.
        arguments: of each engine's call.

    Attributes:
        answers: those that are there, by the engine's place, in the order in which they came.
    """

    def __init__(
        self,
        engines: Engines,
        function: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
    ) -> None:
        self._engines, self._clock = engines, Clock.elapsed()
        self._pending: dict[int, Pending] = {}
        self._marks: dict[int, list[Pending]] = {}
        self.answers: dict[int, Answer] = {}
        for index, own in enumerate(arguments):
            try:
                self._pending[index] = engines.submit(index, function, *own)
            except Exception as error:  # noqa: BLE001  it has just gone, or this cannot be sent
                kind, message = engines.cause(error)
                self.answers[index] = Answer(failure=f"cannot be sent this: {kind}: {message}")
        self._looked = 0

    def wait(
        self, seconds: float | None = None, *, all_or_none: bool = False, led: bool = False
    ) -> list[Answer]:
        """Return the answers of all engines, in order.

        Args:
            seconds: after which those that have not answered are given up; None for never.
            all_or_none: whether one that fails ends the others' work.
            led: whether the first one, when it is interrupted, ends the others' work in order.

        Raises:
            KeyboardInterrupt: the user ended it; the engines have ended too.
        """
        __tracebackhide__ = True
        end = None if seconds is None else self._clock.wall() + seconds * 1e9
        try:
            while self._pending and (end is None or self._clock.wall() < end):
                self._collect()
                if all_or_none and any(answer.failure for answer in self.answers.values()):
                    self._end_others()
                    break
        except KeyboardInterrupt:
            self._interrupt(leader_first=led)
            raise
        for index, pending in self._pending.items():
            self._engines.abort(pending)
            self.answers[index] = Answer(failure=f"did not answer within {seconds or 0:g} s")
        self._pending.clear()
        return [self.answers[index] for index in range(len(self._engines))]

    def _interrupt(self, *, leader_first: bool) -> None:
        """End the work of all engines: a leader ends that of the others when they meet next.

        Those that have not met it yet are interrupted when it has ended. A second Ctrl-C ends their
        steps, wherever they are; so does the death of one, for which the others may wait for ever.
        An engine that is interrupted while it answers sends no answer.
        """
        everyone = [*self._pending]
        leader = everyone[:1] if leader_first else []
        try:
            self._engines.interrupt(leader or everyone)
            self._collect_while(lambda: bool(self._pending.keys() & set(leader)))
            if leader and not self._collect_for(_GRACE_SECONDS):
                self._engines.interrupt([*self._pending])
            self._collect_while(lambda: bool(self._pending))
        except KeyboardInterrupt:
            pass
        for _ in range(2):  # the first one may only be noted
            if self._pending:
                self._engines.interrupt([*self._pending])
                self._collect_for(_GRACE_SECONDS)
        if self._pending:
            stuck = ", ".join(self._engines.labels[index] for index in self._pending)
            raise RankError(
                f"{stuck} did not react to Ctrl-C: code that waits in a collective or a library"
                " cannot be ended. Wait until it returns, or restart the engines."
            )

    def _collect_while(self, is_waiting: Callable[[], bool]) -> None:
        """Collect answers until enough are there, or an engine has died."""
        pause, asked = _MARK_SECONDS, self._clock.wall()
        while is_waiting() and not self._has_dead():
            if self._clock.wall() - asked > pause * 1e9:
                pause, asked = 2 * pause, self._clock.wall()
                self._send_marks()
            self._collect()

    def _send_marks(self) -> None:
        """Ask engines whether they are past their work: then no answer will come."""
        for index in self._pending:
            mark = self._engines.send_mark(index) if self._engines.is_alive(index) else None
            if mark is not None:
                self._marks.setdefault(index, []).append(mark)

    def _has_dead(self) -> bool:
        return any(answer.failure == _DIED for answer in self.answers.values())

    def _end_others(self) -> None:
        """After a failure: the others were told of it; those that were not are interrupted."""
        if self._collect_for(0.0 if self._has_dead() else _GRACE_SECONDS):  # the dead told nobody
            return
        self._engines.interrupt([*self._pending])
        self._collect_for(_GRACE_SECONDS)
        for index in self._pending:
            self.answers[index] = Answer(
                failure="is still in its call, which waits for the others and cannot be ended."
                " Restart the engines"
            )
        self._pending.clear()

    def _collect_for(self, seconds: float) -> bool:
        """Collect answers for a while; return whether all are there."""
        end = self._clock.wall() + seconds * 1e9
        while self._pending and self._clock.wall() < end:
            self._collect()
        return not self._pending

    def _collect(self) -> None:
        """Take the answers that are there, and look for dead engines now and then."""
        now = self._clock.wall()
        look = now - self._looked > _ALIVE_SECONDS * 1e9
        self._looked = now if look else self._looked
        for index, pending in [*self._pending.items()]:
            if pending.done():
                self.answers[index] = self._answer(pending)
                del self._pending[index]
            elif look and not self._engines.is_alive(index):
                self.answers[index] = Answer(failure=_DIED)
                del self._pending[index]
            elif any(mark.done() for mark in self._marks.get(index, ())):
                self.answers[index] = Answer(failure=INTERRUPTED)
                self._engines.abort(pending)
                del self._pending[index]
        if self._pending:
            self._clock.sleep(_POLL_SECONDS)

    def _answer(self, pending: Pending) -> Answer:
        try:
            value = pending.result()
            return Answer(value, _failure(value))
        except Exception as error:  # noqa: BLE001  whatever the engine has raised
            kind, message = self._engines.cause(error)
            died = kind in ("EngineError", "KilledWorker")
            return Answer(failure=_DIED if died else f"raised {kind}: {message}".rstrip(": "))


def _failure(value: object) -> str:
    """Return why an engine has nothing to say, by what it returned."""
    if not isinstance(value, dict):
        return ""
    if "interrupted" in value and value.keys() <= {"interrupted", "printed"}:
        return INTERRUPTED
    return str(value.get("failure", ""))
