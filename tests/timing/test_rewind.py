"""Where the state decides what a call takes, each starts from the one that the first found."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

import ipyjaxbench
from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.comparison import Comparison
from ipyjaxbench.comparison.interleave import compare_snippets
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.frameworks import Checkpoint, Compilation
from ipyjaxbench.frameworks.state import containers
from ipyjaxbench.testing import FakeClock, FakeDevice
from ipyjaxbench.timing.rewind import Rewind
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, Bench, notes_by_code
from tests.fake_framework import FakeFramework


def slow_restore(monkeypatch: pytest.MonkeyPatch, clock: FakeClock, nanoseconds: int) -> None:
    """Putting back what a dictionary held takes so long."""
    restore = containers.Entries.restore

    def slow(self: Any) -> None:
        clock.advance(nanoseconds)
        restore(self)

    monkeypatch.setattr(containers.Entries, "restore", slow)


class Memo:
    """Computes for a millisecond what it does not know yet."""

    def __init__(self, clock: FakeClock) -> None:
        self._advance = clock.advance
        self.known: dict[int, int] = {}

    def get(self, key: int) -> None:
        if key not in self.known:
            self._advance(MS)
            self.known[key] = key
        self._advance(20_000)


def test_each_call_computes_what_the_first_one_computed(bench: Bench) -> None:
    memo = bench.names["memo"] = Memo(bench.clock)
    m = bench.time("memo.get(1)", budget=0.3)
    assert m.median == pytest.approx(1.02e-3)
    assert notes_by_code(m)["started-anew"] == (
        "memo: reset before each call (not timed) to the state before the first one. A call takes"
        " 1.02 ms from there, and 20.0 µs without the reset."
    )
    assert m.verdict != "INVALID"
    assert memo.known == {1: 1}


def test_a_state_that_takes_too_long_to_put_back_is_no_figure(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    memo = bench.names["memo"] = Memo(bench.clock)
    slow_restore(monkeypatch, bench.clock, 50 * MS)
    m = bench.time("memo.get(1)", budget=0.3)
    assert m.verdict == "INVALID"
    assert notes_by_code(m)["started-elsewhere"].startswith(
        "The first call changed memo. The code takes 1.02 ms before that change and"
        " 20.0 µs after it; the latter was measured."
    )
    assert memo.known == {1: 1}


@pytest.mark.parametrize("size", [3, 1_000_001])
def test_what_a_list_has_room_for_decides_nothing(size: int) -> None:
    items = [*range(size)]
    found = ipyjaxbench.measure_code("items.append(1)", {"items": items}, budget=0.1)
    assert not {"started-anew", "started-elsewhere"} & {note.code for note in found.notes}
    assert len(items) == size + 1


def compared(bench: Bench, **arms: str) -> Comparison:
    entries = [ArmSpec(n, Snippet(Source.plain(code), bench.names)) for n, code in arms.items()]
    return compare_snippets(entries, CompareOptions(budget=3.0), clock=bench.clock)


def anew(found: Comparison) -> dict[str, str]:
    """What each arm starts from."""
    kinds = ("started-anew", "started-elsewhere")
    notes = [(side.label, n) for side in found.sides for n in found[side.label].notes]
    return {label: note.code for label, note in notes if note.code in kinds}


def test_arms_that_reach_the_same_object_start_from_the_same_state(bench: Bench) -> None:
    bench.names["memo"] = Memo(bench.clock)
    # What the memo knows decides the time of one arm, and is lost in that of the other one.
    found = compared(
        bench,
        long="clock.advance(50_000_000); memo.get(1)",
        short="memo.get(1)",
        other="clock.advance(30_000)",
    )
    assert anew(found) == {"long": "started-anew", "short": "started-anew"}
    assert found["long"].median == pytest.approx(51.02e-3)
    assert found["short"].median == pytest.approx(1.02e-3)


# What is tried, and what is decided by it


class Tried:
    """Code whose calls take what is next for the state that they start from.

    Args:
        found: nanoseconds of calls from the state that the first call found.
        left: the same from the state that it left.
        memos: what the code fills; codes may share one.
        compiles: whether the calls from the state found compile something meanwhile.
    """

    def __init__(
        self,
        found: Sequence[int],
        left: Sequence[int],
        *memos: dict[int, int],
        compiles: bool = False,
    ) -> None:
        device = FakeDevice(FakeClock())
        self.clock = clock = device.clock
        clock.advance(10_000 * MS)
        self.memos = memos or ({},)
        self.states: list[bool] = []  # for each call: whether it started from the state found
        of_found, of_left = itertools.cycle(found), itertools.cycle(left)

        def call() -> None:
            self.states.append(is_first := not self.memos[0])
            work = device.compile if is_first and compiles else clock.advance
            work(next(of_found if is_first else of_left))
            for memo in self.memos:
                memo[1] = 1

        framework = FakeFramework(device)
        names: dict[str, Any] = {"call": call}
        self.calls = Calls(Snippet(Source.plain("call()"), names), None, clock, Drain([], clock))
        self.calls.watches = [framework.capability(Compilation).watch(())]
        for memo in self.memos:
            memo.clear()
        roots = {f"memo{i}": memo for i, memo in enumerate(self.memos)}
        self._found = Checkpoint.from_values(roots, [framework], names)
        call()
        self.states.clear()

    def rewind(self, typical: int, budget: float) -> Rewind:
        """Try within a budget, where a call seems to take ``typical`` nanoseconds."""
        rewind = Rewind(self._found, typical)
        rewind.choose(self.calls, budget)
        return rewind


def codes(rewind: Rewind) -> list[str]:
    return [note.code for note in rewind.notes()]


@pytest.mark.parametrize(
    ("found", "left", "is_slower"),
    [
        # Of ten pairs: by a tenth, and by a microsecond.
        ([1_100_001], [1_000_000], True),
        ([1_100_000], [1_000_000], False),
        ([2000], [1000], True),
        ([1999], [1000], False),
        # In nine of them.
        ([1_200_000], [1_300_000, *[1_000_000] * 9], True),
        ([1_200_000], [1_300_000, 1_300_000, *[1_000_000] * 8], False),
        ([1_600_000], [1_700_000, 1_700_000, *[1_000_000] * 8], True),  # or by far
    ],
)
def test_ten_pairs_show_whether_the_state_decides_the_time(
    found: list[int], left: list[int], is_slower: bool
) -> None:
    tried = Tried(found, left)
    rewind = tried.rewind(1000, 1000 * MS)
    assert tried.states == [False, True] * 10
    assert rewind.is_on is is_slower
    assert codes(rewind) == ["started-anew"] * is_slower


@pytest.mark.parametrize(
    ("budget", "pairs", "found", "is_slower"),
    [
        (510_000, 5, 15_001, True),  # half as much again
        (510_000, 5, 15_000, False),
        (210_000, 2, 30_001, True),  # three times as much
        (210_000, 2, 30_000, False),
        (50_000, 1, 30_001, True),
    ],
)
def test_of_few_pairs_the_difference_has_to_be_large(
    budget: float, pairs: int, found: int, is_slower: bool
) -> None:
    tried = Tried([found], [10_000])
    rewind = tried.rewind(10_000, budget)
    assert tried.states == [False, True] * pairs
    assert rewind.is_on is is_slower


@pytest.mark.parametrize(
    ("found", "left", "pairs"),
    [
        ([40_000], 20_000, 4),  # after three pairs a fifth of the budget
        ([100_000], 50_000, 3),
        ([200_000], 133_333, 3),  # a third for each of the first
        ([200_000], 133_334, 1),
        ([1, 100_000, 500_000], 100_000, 2),
        ([0], 0, 10),
    ],
)
def test_trying_takes_a_share_of_the_budget(found: list[int], left: int, pairs: int) -> None:
    tried = Tried(found, [left])
    tried.rewind(100, 1_000_000)
    assert tried.states == [False, True] * pairs


def test_calls_that_take_longer_than_the_budget_are_not_tried() -> None:
    tried = Tried([3000], [1000])
    rewind = tried.rewind(1001, 1000)
    assert (tried.states, rewind.is_on, codes(rewind)) == ([], False, [])
    tried.rewind(1000, 1000)
    assert tried.states == [False, True]


@pytest.mark.parametrize(
    ("cost", "found", "budget", "is_on"),
    [
        (1_000_000, 500_000, 50_000_000, True),  # fifty fit into the budget
        (1_000_001, 500_000, 50_000_000, False),
        (1_000_000, 1_000_000, 5_000_000, True),  # it takes no longer than a call
        (1_000_001, 1_000_000, 5_000_000, False),
    ],
)
def test_a_state_is_put_back_where_that_is_cheap(
    monkeypatch: pytest.MonkeyPatch, cost: int, found: int, budget: float, is_on: bool
) -> None:
    tried = Tried([found], [1000])
    slow_restore(monkeypatch, tried.clock, cost)
    rewind = tried.rewind(1000, budget)
    assert rewind.is_on is is_on
    assert codes(rewind) == ["started-anew" if is_on else "started-elsewhere"]
    tried.calls.sample(1)
    assert tried.states[-1] is is_on


def test_a_state_from_which_code_compiles_is_not_put_back() -> None:
    tried = Tried([MS], [1000], compiles=True)
    rewind = tried.rewind(1000, 100 * MS)
    assert (rewind.is_on, codes(rewind)) == (False, [])
    tried.calls.sample(1)
    assert tried.states == [False, True, False]


def test_codes_that_reach_one_object_start_from_one_state_where_it_matters_to_any() -> None:
    one: dict[int, int] = {}
    other: dict[int, int] = {}
    slow, last = Tried([3 * MS], [MS], one), Tried([MS], [MS], other)
    between, apart = Tried([MS], [MS], one, other), Tried([MS], [MS])
    rewinds = [each.rewind(1000, 100 * MS) for each in (slow, last, between, apart)]
    assert [rewind.is_on for rewind in rewinds] == [True, False, False, False]
    Rewind.agree(rewinds)
    assert [rewind.is_on for rewind in rewinds] == [True, True, True, False]


def test_codes_that_were_not_tried_start_from_what_the_others_start_from() -> None:
    memo: dict[int, int] = {}
    first, second = Tried([3 * MS], [MS], memo), Tried([3 * MS], [MS], memo)
    rewinds = [first.rewind(1000, 100 * MS), second.rewind(1000, 10)]
    Rewind.agree(rewinds)
    assert [rewind.is_on for rewind in rewinds] == [True, True]
    assert second.states == []
    rewinds = [first.rewind(1000, 10), second.rewind(1000, 10)]
    Rewind.agree(rewinds)
    assert [rewind.is_on for rewind in rewinds] == [False, False]
