"""Where the state decides what a call takes, each starts from the one that the first found."""

from typing import Any

import pytest

import ipyjaxbench
from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.comparison import Comparison
from ipyjaxbench.comparison.interleave import compare_snippets
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.frameworks.state import containers
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, Bench, told


class Memo:
    """Computes for a millisecond what it does not know yet."""

    def __init__(self, clock: FakeClock) -> None:
        self._advance = clock.advance
        self.known: dict[int, int] = {}
        self.calls = 0

    def get(self, key: int) -> None:
        if key not in self.known:
            self._advance(MS)
            self.known[key] = key
        self._advance(20_000)

    def count(self) -> None:
        self.calls += 1
        self._advance(20_000)


def test_each_call_computes_what_the_first_one_computed(bench: Bench) -> None:
    memo = bench.names["memo"] = Memo(bench.clock)
    m = bench.time("memo.get(1)", budget=0.3)
    assert m.median == pytest.approx(1.02e-3)
    assert told(m)["started-anew"] == (
        "memo: put back before each call, untimed, as the first call found it. A call takes"
        " 1.02 ms from there, 20.0 µs from what it left."
    )
    assert m.verdict != "INVALID"
    assert memo.known == {1: 1}


def test_a_state_that_decides_nothing_is_left_as_it_is(bench: Bench) -> None:
    memo = bench.names["memo"] = Memo(bench.clock)
    m = bench.time("memo.count()", budget=0.1)
    assert "started-anew" not in told(m)
    assert m.loops > 1  # calls are timed together
    assert memo.calls == 1


def test_a_memo_that_was_filled_before_is_read(bench: Bench) -> None:
    memo = bench.names["memo"] = Memo(bench.clock)
    memo.get(1)
    m = bench.time("memo.get(1)", budget=0.1)
    assert m.median == pytest.approx(20e-6)
    assert "started-anew" not in told(m)


def test_a_state_that_takes_too_long_to_put_back_is_no_figure(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    memo = bench.names["memo"] = Memo(bench.clock)
    restore = containers.Entries.restore

    def slow(self: Any) -> None:
        bench.clock.advance(50 * MS)
        restore(self)

    monkeypatch.setattr(containers.Entries, "restore", slow)
    m = bench.time("memo.get(1)", budget=0.3)
    assert m.verdict == "INVALID"
    assert told(m)["started-elsewhere"].startswith(
        "The first call changed memo: from what it found the code takes 1.02 ms, from what it"
        " left, as measured, 20.0 µs."
    )
    assert memo.known == {1: 1}


@pytest.mark.parametrize("slow", range(2, 9))
def test_one_call_that_was_slow_by_chance_decides_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, slow: int
) -> None:
    restore = containers.Items.restore

    def restore_large(self: Any) -> None:
        bench.clock.advance(12 * MS)
        restore(self)

    monkeypatch.setattr(containers.Items, "restore", restore_large)
    items = bench.names["items"] = [1]
    turns = bench.counted(
        lambda turn: (items.append(1), bench.clock.advance(4 * MS * (turn == slow)))
    )
    m = bench.time("call()", budget=0.1)
    assert not {"started-anew", "started-elsewhere"} & {*told(m)}
    assert len(turns) > slow
    assert items == [1, 1]


@pytest.mark.parametrize("size", [3, 1_000_000, 1_000_001])
def test_what_a_list_has_room_for_decides_nothing(size: int) -> None:
    items = [*range(size)]
    found = ipyjaxbench.measure_code("items.append(1)", {"items": items}, budget=0.1)
    assert not {"started-anew", "started-elsewhere"} & {note.code for note in found.notes}
    assert len(items) == size + 1


def test_exact_numbers_of_calls_stay_exact(bench: Bench) -> None:
    memo = bench.names["memo"] = Memo(bench.clock)
    turns = bench.counted()
    bench.time("call(); memo.get(1)", number=2, repeat=3)
    assert len(turns) == 6
    assert memo.known == {1: 1}


def test_arms_start_from_what_the_first_of_them_found() -> None:
    items = [(i * 7919) % 100_003 for i in range(20_000)]
    ordered = sorted(items)
    found = ipyjaxbench.compare({"sort": items.sort, "sorted": lambda: sorted(items)}, budget=0.5)
    assert items == ordered
    assert {"sort", "sorted"} == {side.label for side in found.sides}
    for label in ("sort", "sorted"):
        assert "started-anew" in {note.code for note in found[label].notes}


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


def test_arms_start_from_what_was_left_where_one_cannot_start_anew(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.names["memo"] = Memo(bench.clock)
    restore = containers.Entries.restore

    def slow(self: Any) -> None:
        bench.clock.advance(40 * MS)
        restore(self)

    monkeypatch.setattr(containers.Entries, "restore", slow)
    found = compared(bench, long="clock.advance(50_000_000); memo.get(1)", short="memo.get(1)")
    assert anew(found) == {"short": "started-elsewhere"}
    assert found["long"].median == pytest.approx(50.02e-3)
    assert found["short"].median == pytest.approx(20e-6)
