"""Where the state decides what a call takes, each starts from the one that the first found."""

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import ipyjaxbench
from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.interleave import compare_snippets
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.frameworks import Checkpoint
from ipyjaxbench.frameworks.state import containers
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.timing.rewind import Rewind
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, Bench, notes_by_code
from tests.timing.timed import Timed


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


@pytest.mark.parametrize(
    ("lines", "told"),
    [(io.StringIO("a,b\n" * 10), "started-anew"), (iter(["a,b"] * 10), "used-up")],
)
def test_a_reader_that_each_call_finds_anew_is_not_called_advanced(
    bench: Bench, lines: Iterator[str], told: str
) -> None:
    advance = bench.clock.advance
    bench.names |= {"rows": csv.reader(lines), "use": lambda row: advance(MS), "go": advance}
    m = bench.time("for row in rows: use(row)\ngo(20_000)", budget=0.5)
    codes = {*notes_by_code(m)} & {"started-anew", "state-advanced", "used-up"}
    assert codes == {told}


def test_a_state_too_slow_to_put_back_is_told(
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


def test_what_a_list_has_room_for_decides_nothing() -> None:
    items = [1, 2, 3]
    found = ipyjaxbench.measure_code("items.append(1)", {"items": items}, budget=0.1)
    assert not {"started-anew", "started-elsewhere"} & {note.code for note in found.notes}
    assert len(items) == 4


def test_arms_that_reach_the_same_object_start_from_the_same_state(bench: Bench) -> None:
    bench.names["memo"] = Memo(bench.clock)
    # What the memo knows decides the time of one arm, and is lost in that of the other one.
    codes = {"long": "clock.advance(50_000_000); memo.get(1)", "short": "memo.get(1)",
             "other": "clock.advance(30_000)"}  # fmt: skip
    arms = [ArmSpec(n, Snippet(Source.plain(code), bench.names)) for n, code in codes.items()]
    found = compare_snippets(arms, CompareOptions(budget=1.0), clock=bench.clock)
    anew = [label for label in codes for n in found[label].notes if n.code == "started-anew"]
    assert anew == ["long", "short"]
    assert found["long"].median == pytest.approx(51.02e-3)
    assert found["short"].median == pytest.approx(1.02e-3)


# What is tried, and what is decided by it


class Tried(Timed):
    """Code whose calls take what is next for the state that they start from: found, or left.

    It fills ``memos``, which codes may share; where it ``compiles``, it does so from that found.
    """

    def __init__(
        self,
        found: Sequence[int],
        left: Sequence[int],
        *memos: dict[int, int],
        compiles: bool = False,
    ) -> None:
        memos = memos or ({},)
        self.states: list[bool] = []  # for each call: whether it started from the state found
        of_found, of_left = itertools.cycle(found), itertools.cycle(left)

        def call() -> None:
            self.states.append(is_first := not memos[0])
            work = self.device.compile if is_first and compiles else self.clock.advance
            work(next(of_found if is_first else of_left))
            for memo in memos:
                memo[1] = 1

        super().__init__("call()", call=call)
        self.clock.advance(10_000 * MS)
        for memo in memos:
            memo.clear()
        roots = {f"memo{i}": memo for i, memo in enumerate(memos)}
        self._found = Checkpoint.from_values(roots, [self.framework], self.names)
        call()
        self.states.clear()

    def rewind(self, typical: int, budget: float) -> Rewind:
        """Try within a budget, where a call seems to take ``typical`` nanoseconds."""
        rewind = Rewind(self._found, typical)
        rewind.choose(self.calls, budget)
        return rewind


def codes(rewind: Rewind) -> list[str]:
    return [note.code for note in rewind.notes()]


MANY = (1000, 1000 * MS)


@pytest.mark.parametrize(
    ("found", "left", "within", "pairs", "is_on"),  # a call seems to take so long; the budget
    [
        # Of ten pairs: slower by a tenth, and by a microsecond.
        ([1_100_001], [1_000_000], MANY, 10, True),
        ([1_100_000], [1_000_000], MANY, 10, False),
        ([2000], [1000], MANY, 10, True),
        ([1999], [1000], MANY, 10, False),
        # In nine of them, or by far.
        ([1_200_000], [1_300_000, *[1_000_000] * 9], MANY, 10, True),
        ([1_200_000], [1_300_000, 1_300_000, *[1_000_000] * 8], MANY, 10, False),
        ([1_600_000], [1_700_000, 1_700_000, *[1_000_000] * 8], MANY, 10, True),
        # Of few pairs half as much again, and of one or two three times as much.
        ([15_001], [10_000], (10_000, 510_000), 5, True),
        ([15_000], [10_000], (10_000, 510_000), 5, False),
        ([30_001], [10_000], (10_000, 210_000), 2, True),
        ([30_000], [10_000], (10_000, 210_000), 2, False),
        ([30_001], [10_000], (10_000, 50_000), 1, True),
        # They take a fifth of the budget after three, and a third for each of the first.
        ([40_000], [20_000], (100, 1_000_000), 4, None),
        ([100_000], [50_000], (100, 1_000_000), 3, None),
        ([200_000], [133_333], (100, 1_000_000), 3, None),
        ([200_000], [133_334], (100, 1_000_000), 1, None),
        ([1, 100_000, 500_000], [100_000], (100, 1_000_000), 2, None),
        ([0], [0], (100, 1_000_000), 10, False),
        ([3000], [1000], (1001, 1000), 0, False),  # none where a call takes longer than that
        ([3000], [1000], (1000, 1000), 1, None),
    ],
)
def test_pairs_of_calls_show_whether_the_state_decides_the_time(
    found: list[int], left: list[int], within: tuple[int, int], pairs: int, is_on: bool | None
) -> None:
    tried = Tried(found, left)
    rewind = tried.rewind(*within)
    assert tried.states == [False, True] * pairs
    assert is_on is None or (rewind.is_on, codes(rewind)) == (is_on, ["started-anew"] * is_on)


@pytest.mark.parametrize(
    ("cost", "found", "budget", "is_on"),
    [(1_000_000, 500_000, 50_000_000, True),  # fifty fit into the budget
     (1_000_001, 500_000, 50_000_000, False),
     (1_000_000, 1_000_000, 5_000_000, True),  # it takes no longer than a call
     (1_000_001, 1_000_000, 5_000_000, False)],
)  # fmt: skip
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


@pytest.mark.parametrize(("budget", "is_on"), [(100 * MS, True), (10, False)])
def test_codes_that_were_not_tried_start_as_the_others_do(budget: int, is_on: bool) -> None:
    memo: dict[int, int] = {}
    first, second = Tried([3 * MS], [MS], memo), Tried([3 * MS], [MS], memo)
    rewinds = [first.rewind(1000, budget), second.rewind(1000, 10)]
    Rewind.agree(rewinds)
    assert [rewind.is_on for rewind in rewinds] == [is_on, is_on]
    assert second.states == []
