"""Work that calls leave running and their values do not show: looked for right after calls."""

from collections.abc import Sequence

from ipyjaxbench import stats
from ipyjaxbench.timing.synchronize import Drain

#: Looks of which most have to show work, where only a clock shows it.
FEWEST_LOOKS = 5
#: Work matters from this share of a call on.
_MIN_LEFT_SHARE = 0.05
_LONGER_NS = 20_000_000  # that work of another call may take longer, at most, to begin with
_DIFFERENT = 2  # times longer than what was suspected: asking alone does not vary so
_BUSY_NS = 1_000_000  # from which on answers are late because work is: programs take turns so
_PART = 0.25  # of what was suspected: asking that takes as long may be waiting for work
_PATIENCE = 4  # times as much longer, where a control may have found work
_MOST_PATIENCE = _PATIENCE**2
_FEW_QUESTIONS = 3  # questions: of more, one "yes" is not enough
_CONVINCING_ANSWERS = 2  # of answers without a clock, over all samples
_ASKED_AGAIN = 2  # times: to see that something runs, and that it has ended
_MOST_DOUBTS = 3  # raised by a clock, until its single answers are not asked for any more
_NOISE_QUANTILE = 0.9


class HiddenWork:
    """Looks right after calls whether something runs on, and decides from several looks.

    Where frameworks tell without a clock, "yes" was never wrong and "no" in up to 6 % of cases
    (`adapters.jax.synchronization` has the figures): two of many answers decide, or one of three;
    tests/accuracy/sections/decisions.py counts how often this errs.

    Where only a clock shows it, a single answer was wrong in 2 to 8 % of cases on an H100, so that
    answers are not added up over a measurement: most of several looks in a row have to show more
    than their own noise, and a later one that does is a reason to look again, no more.
    """

    def __init__(self, drain: Drain) -> None:
        self.drain = drain
        self._suspected = 0  # nanoseconds of work that only a clock showed, to be confirmed
        self._controls: list[int] = []  # nanoseconds of asking when that work had to be over
        self._patience = 1  # how much longer than expected that work may go on
        self._yes = 0  # answers without a clock, after samples
        self._asking: int | None = None  # nanoseconds of CPU time, where nothing is found
        self._doubts = 0  # samples after which a clock showed work

    @property
    def is_certain(self) -> bool:
        """Whether the last answer came without a clock."""
        return self.drain.is_certain

    @property
    def looks(self) -> int:
        """How many calls to look at to decide: every second may be a control."""
        if not self.drain.may_wait:
            return 0
        return _FEW_QUESTIONS if self.is_certain else 2 * FEWEST_LOOKS

    def look(self) -> int | None:
        """Wait as `Drain.wait_for_rest` does, after calls alike; None where this is a control.

        After a call, asking takes longer than when nothing has run: threads sleep, caches are cold
        (on a GPU by up to 100 µs). So what only a clock showed is held against the same question
        after another such call and a pause in which that work would have ended. Beside a busy
        program it may not have: where the answer takes long, the next pause is longer, and decides
        whether it was asking that took so long, or work.
        """
        drain = self.drain
        if suspected := self._suspected:
            self._suspected = 0
            self._control(suspected)
            return None
        left = drain.wait_for_rest(int(stats.median(self._controls or [0])))
        self._suspected = 0 if self.is_certain else left
        return left

    def spent_on_work(self, left: int | None, spent: int) -> int:
        """Return the CPU time of work that a look found, of what was spent while looking.

        What looking itself costs is none of the call's: many arrays may be held.
        """
        clock = self.drain.clock
        if not left:
            self._asking = spent if self._asking is None else min(self._asking, spent)
            return 0
        if self._asking is None:
            before = clock.spent()
            self.drain.wait_for_rest()
            self._asking = clock.spent() - before
        return max(spent - _ASKED_AGAIN * self._asking, 0)

    def _control(self, suspected: int) -> None:
        """Ask when nanoseconds of suspected work have to be over."""
        drain = self.drain
        longer = min(suspected, _LONGER_NS)  # no two calls are alike
        drain.clock.spin(suspected + self._patience * longer)
        answer = drain.synchronize()
        taken = answer - drain.idle
        if taken > max(_PART * suspected, _BUSY_NS) and self._patience < _MOST_PATIENCE:
            self._patience *= _PATIENCE
        elif taken <= _DIFFERENT * suspected:  # else that work, too, was running
            self._controls.append(answer)

    def decide(self, calls: Sequence[tuple[int, int | None]]) -> int:
        """Return nanoseconds of work that code leaves running; 0 where it is none, or little.

        Args:
            calls: the time of each, and for how long work went on after it, in nanoseconds, None
                where that was not asked.
        """
        asked = [left for _, left in calls if left is not None]
        if not asked:
            return 0
        matters = _MIN_LEFT_SHARE * stats.median([call for call, _ in calls])
        if self.is_certain:
            found = [left for left in asked if left]
            needed = _CONVINCING_ANSWERS if len(asked) > _FEW_QUESTIONS else 1
        else:
            # Where there are few looks, each has to show the more.
            least = max(matters, self._noise()) * max(FEWEST_LOOKS / len(asked), 1)
            found = [left for left in asked if left > least]
            needed = len(asked) // 2 + 1 if len(asked) >= FEWEST_LOOKS else len(asked)
        if len(found) < needed:
            return 0
        middle = int(stats.median(found))
        return middle if middle > matters else 0

    def ask_after_sample(self, per_call: float) -> int:
        """Look; nanoseconds of work that is likely left now, though none was when it was decided.

        Where a clock shows it, that is one answer: it has to be decided anew.
        """
        if self._doubts == _MOST_DOUBTS:
            return 0
        left = self.look() or 0
        if left <= _MIN_LEFT_SHARE * per_call:
            return 0
        if self.is_certain:
            self._yes += 1
            return left if self._yes == _CONVINCING_ANSWERS else 0
        if left <= self._noise():
            return 0
        self._doubts += 1
        return left

    def forget_samples(self) -> None:
        """Count anew: from now on calls are made in another way."""
        self._yes = 0

    def _noise(self) -> float:
        """Nanoseconds by which asking differs where nothing runs."""
        if not self._controls:
            return 0.0
        return stats.quantile(self._controls, _NOISE_QUANTILE) - stats.median(self._controls)
