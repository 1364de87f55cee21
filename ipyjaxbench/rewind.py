"""Has calls start from the state that the first call found, where that decides their time."""

import math
from collections.abc import Callable, Iterator, Sequence

from ipyjaxbench import notes, stats
from ipyjaxbench.calls import Calls
from ipyjaxbench.checkpoint import Checkpoint
from ipyjaxbench.frameworks import Held, State
from ipyjaxbench.notes import Note

_PAIRS = 10  # calls from either state at most: equal ones are misjudged once in a hundred
_SHARE = 0.2  # of the budget, for these
#: By so much, and by so many nanoseconds, calls from the state found are slower where it matters.
_SLOWER, _SLOWER_NS = 1.1, 1000
_FAR, _FARTHEST, _FEW = 1.5, 3.0, 3  # where there are not as many pairs, or fewer than three
_FEWEST = 50  # samples that must fit into the budget


class Rewind:
    """What the first call changed of the state that it found.

    Args:
        found: that state, kept before the first call; looked at now, after it.
        typical: nanoseconds that a call will take, as far as the first one shows.

    Attributes:
        names: of what it changed.
        is_on: whether each call starts from that state.
    """

    def __init__(self, found: Checkpoint | None, typical: int) -> None:
        changed = [] if found is None else found.changed()
        self.names = list(dict.fromkeys(each.name for each in changed))
        self.is_on = False
        self._typical = typical
        self._found = [each.state for each in changed]
        self._left = [*_as_now(changed)]
        self._times: tuple[float, float] | None = None
        self._costs = math.inf

    @staticmethod
    def share(rewinds: Sequence["Rewind"]) -> None:
        """Have each of several codes start from the state that the first of them found.

        Args:
            rewinds: of the codes, in the order of their first calls.
        """
        found = [state for each in reversed(rewinds) for state in each._found]
        left = [state for each in rewinds for state in each._left]
        names = list(dict.fromkeys(name for each in rewinds for name in each.names))
        for each in rewinds:
            each._found, each._left, each.names = found, left, names

    def choose(self, calls: Calls, budget: float) -> None:
        """Try which state a call takes longer from, and decide.

        Args:
            calls: makes a few; they are arranged anew where it matters.
            budget: nanoseconds for all calls.
        """
        __tracebackhide__ = True
        typical = self._typical
        if not self._found or typical > budget:
            return
        before, found, left = calls.renew, [], []
        try:
            pairs = min(max(int(_SHARE * budget / (2 * typical + 1)), 1), _PAIRS)
            end = calls.clock.wall() + _SHARE * budget
            for _ in range(pairs):
                # Both are written just before, so that caches are as warm for one as the other.
                calls.renew = self._from(self._left, before, calls)
                left.append(calls.sample(1)[0])
                calls.renew = self._from(self._found, before, calls)
                taken, compiled = calls.sample(1)
                if compiled:  # once, as the first call did: that is no part of a call's time
                    return
                found.append(taken)
                if calls.clock.wall() > end:  # a clock of CPU time stands still in a sleep
                    break
        finally:
            calls.renew = before
        from_found, from_left = stats.median(found), stats.median(left)
        if _are_slower(found, left):
            self._times = from_found * 1e-9, from_left * 1e-9
            if self._costs <= max(from_found, budget / _FEWEST):
                self.is_on = True
                calls.renew = self._from(self._found, before, calls)

    def said(self) -> Iterator[Note]:
        """What a reader must know of the state that calls started from."""
        if self._times is not None:
            say = notes.started_anew if self.is_on else notes.started_elsewhere
            yield say(self.names, *self._times)

    def give_up(self) -> None:
        """Keep nothing any more."""
        self._found, self._left = [], []

    def _from(
        self, states: Sequence[State], before: Callable[[], None] | None, calls: Calls
    ) -> Callable[[], None]:
        def renew() -> None:
            if before is not None:
                before()
            start = calls.clock.wall()
            for state in states:
                state.restore()
            self._costs = min(self._costs, calls.clock.wall() - start)

        return renew


def _are_slower(found: Sequence[int], left: Sequence[int]) -> bool:
    """Whether calls from the state found are slower: by far, or in nearly all pairs."""
    if min(found) - min(left) < _SLOWER_NS:
        return False
    often = sum(a > b for a, b in zip(found, left, strict=True)) >= _PAIRS - 1
    far = _SLOWER if often else _FARTHEST if len(found) < _FEW else _FAR
    return min(found) > far * min(left)


def _as_now(changed: Sequence[Held]) -> Iterator[State]:
    for each in changed:
        yield each.state.again()
