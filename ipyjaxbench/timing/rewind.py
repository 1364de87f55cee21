"""Has calls start from the state that the first call found, where that decides their time."""

import math
from collections.abc import Callable, Iterator, Sequence

from ipyjaxbench import stats
from ipyjaxbench.frameworks import Checkpoint, Held
from ipyjaxbench.reports import Note
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.runner import Calls

_MAX_PAIRS = 10  # calls from either state at most: equal ones are misjudged once in a hundred
_BUDGET_SHARE = 0.2  # of the budget, for these once there are three
#: By so much, and by so many nanoseconds, calls from the state found are slower where it matters.
_SLOWER_RATIO, _MIN_SLOWER_NS = 1.1, 1000
_FAR_RATIO = 1.5  # the same, where there are not as many pairs,
_FARTHEST_RATIO, _FEW_PAIRS = 3.0, 3  # or fewer than three
_MIN_SAMPLES = 50  # samples that must fit into the budget


class Rewind:
    """What the first call changed of the state that it found.

    ``found`` is that state, kept before the first call; it is looked at now, after it.
    """

    def __init__(self, found: Checkpoint | None, typical: int) -> None:
        self._uncopied = {} if found is None else found.changed_uncopied()
        changed = [] if found is None else found.changed()
        changed = [each for each in changed if each.name not in self._uncopied]
        self.is_on = False  # whether each call starts from the state found
        self._typical = typical
        self._reached = set() if found is None else {each.key for each in found.held}
        self._found = changed
        self.names = _names(changed)
        self._left = [each._replace(state=each.state.again()) for each in changed]
        if not all(each.state.can_restore for each in self._left):  # no memory for two copies
            self._uncopied |= {name: name for name in self.names}
            self._found, self._left = [], []
        self._times: tuple[float, float] | None = None
        self._matters, self._is_cheap = False, True
        self._too_large: list[str] = []  # in words, where calls were to start from the state found
        self._calls: Calls | None = None
        self._before: Callable[[], None] | None = None
        self._costs = math.inf

    @property
    def changed_names(self) -> set[str]:
        """Names of what the first call changed, as far as that is known."""
        return {*self.names, *self._uncopied}

    @staticmethod
    def share(rewinds: Sequence["Rewind"]) -> None:
        """Have each code start from the state that the one with the earliest first call found."""
        found_states = [state for each in reversed(rewinds) for state in each._found]
        left_states = [state for each in rewinds for state in each._left]
        for each in rewinds:
            each._found = [held for held in found_states if held.key in each._reached]
            each._left = [held for held in left_states if held.key in each._reached]
            each.names = _names(each._found)

    @staticmethod
    def agree(rewinds: Sequence["Rewind"]) -> None:
        """Have codes that reach the same changed object, and have chosen, start from one state."""
        for group in _sharing(rewinds):
            on = any(each._matters for each in group) and all(each._is_cheap for each in group)
            for each in group:
                each._turn(on=on)

    def choose(self, calls: Calls, budget: float) -> None:
        """Try which state a call takes longer from, within nanoseconds, and decide."""
        __tracebackhide__ = True
        self._calls, self._before = calls, calls.before_each
        self._too_large = [*self._uncopied.values()]
        if not self._found or self._typical > budget:
            return
        try:
            found, left = self._try(calls, budget)
        finally:
            calls.before_each = self._before
        if found:
            self._times = stats.median(found) * 1e-9, stats.median(left) * 1e-9
            self._matters = _are_slower(found, left)
            self._is_cheap = self._costs <= max(stats.median(found), budget / _MIN_SAMPLES)
        else:
            self._is_cheap = False
        self._turn(on=self._matters and self._is_cheap)

    def _turn(self, *, on: bool) -> None:
        """Have each call start from the state found, or from what the one before it left."""
        self.is_on = on and self._calls is not None
        if self._calls is not None:
            renew = self._start_from(self._found, self._calls)
            self._calls.before_each = renew if on else self._before

    def _try(self, calls: Calls, budget: float) -> tuple[list[int], list[int]]:
        """Nanoseconds of calls from the state found, and from that left; none if they compile."""
        __tracebackhide__ = True
        found: list[int] = []
        left: list[int] = []
        pairs = min(max(int(_BUDGET_SHARE * budget / (2 * self._typical + 1)), 1), _MAX_PAIRS)
        begun = calls.clock.wall()
        for _ in range(pairs):
            # Both are written just before, so that caches are as warm for one as the other.
            calls.before_each = self._start_from(self._left, calls)
            left.append(calls.sample(1).ns)
            calls.before_each = self._start_from(self._found, calls)
            sample = calls.sample(1)
            if sample.compiled:  # once, as the first call did: that is no part of a call's time
                return [], []
            found.append(sample.ns)
            # One slow call misleads fewer than three pairs: each may take a third of the budget.
            share = _BUDGET_SHARE if len(found) >= _FEW_PAIRS else len(found) / _FEW_PAIRS
            if calls.clock.wall() - begun > share * budget:  # CPU time stands still in a sleep
                break
        return found, left

    def notes(self) -> Iterator[Note]:
        """Note what a reader must know of the state that calls started from."""
        if self._too_large:
            yield notes.not_kept_before(self._too_large)
        if self.is_on:
            yield notes.started_anew(self.names, self._times)
        elif self._matters and self._times is not None:
            yield notes.started_elsewhere(self.names, *self._times)

    def give_up(self) -> None:
        """Let go of all that is kept."""
        self._found, self._left = [], []
        self._calls = self._before = None

    def _start_from(self, states: Sequence[Held], calls: Calls) -> Callable[[], None]:
        def renew() -> None:
            start = calls.clock.wall()
            for each in states:
                each.state.restore()
            self._costs = min(self._costs, calls.clock.wall() - start)

        return renew


def _are_slower(found: Sequence[int], left: Sequence[int]) -> bool:
    """Whether calls from the state found are slower: by far, or in nearly all pairs."""
    if min(found) - min(left) < _MIN_SLOWER_NS:
        return False
    often = sum(a > b for a, b in zip(found, left, strict=True)) >= _MAX_PAIRS - 1
    far = _SLOWER_RATIO if often else _FARTHEST_RATIO if len(found) < _FEW_PAIRS else _FAR_RATIO
    return min(found) > far * min(left)


def _names(changed: Sequence[Held]) -> list[str]:
    return list(dict.fromkeys(each.name for each in changed))


def _sharing(rewinds: Sequence[Rewind]) -> list[list[Rewind]]:
    """Those that reach a changed object in common, directly or through others, together."""
    groups: list[tuple[set[int], list[Rewind]]] = []
    for rewind in rewinds:
        keys, members = {each.key for each in rewind._found}, [rewind]
        apart = []
        for group in groups:
            if keys.isdisjoint(group[0]):
                apart.append(group)
            else:
                keys, members = keys | group[0], [*group[1], *members]
        groups = [*apart, (keys, members)]
    return [members for _, members in groups]
