"""Arms are sampled in turns, each as if it were alone in the namespace."""

import itertools
import random
from typing import Any

import numpy as np
import pytest

from ipyjaxbench import ArmFailedError, Comparison
from ipyjaxbench.adapters.python import Python
from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.interleave import compare_snippets
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.errors import Interrupted
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, Bench, recorder


def run(
    arms: dict[str, str], names: dict[str, Any], clock: Clock | None = None, **options: Any
) -> Comparison:
    """Compare code; a set-up stands in front of ``|``."""
    entries = []
    for label, code in arms.items():
        setup, bar, timed = code.rpartition("|")
        before = Snippet(Source.plain(setup.strip()), names) if bar else None
        entries.append(ArmSpec(label, Snippet(Source.plain(timed.strip()), names), before))
    chosen = CompareOptions(**{"budget": 0.2, "keep_going": True, **options})
    try:
        return compare_snippets(entries, chosen, clock=clock)
    except Interrupted as stopped:
        found = stopped.result
    assert isinstance(found, Comparison)
    assert "interrupted" in [note.code for note in found.notes]
    return found


def work(turns: int) -> int:
    return sum(range(turns))


def by_hand(arms: dict[str, str], names: dict[str, Any], **options: Any) -> Comparison:
    """Compare code under a clock that ``work`` moves by a microsecond for each of its turns."""
    clock = FakeClock()
    worked = {"work": lambda turns: clock.advance(1000 * turns)}
    return run(arms, {**names, **worked}, clock, **options)


def test_twice_the_work_takes_twice_the_time() -> None:
    found = by_hand({"one": "work(20)", "two": "work(40)"}, {})
    ratio = found.ratio("two")
    assert ratio is not None
    assert (ratio.pairs >= 20, ratio.value) == (True, pytest.approx(2.0))
    assert (found.verdict("one"), found.verdict("two")) == ("", "SLOWER")


@pytest.mark.parametrize(("turns", "calls"), [((2, 4), (500, 500)), ((2, 5), (500, 200))])
def test_arms_that_take_about_as_long_have_as_many_calls_in_a_sample(
    turns: tuple[int, int], calls: tuple[int, int]
) -> None:
    """A sample lasts a millisecond where nothing else is known."""
    found = by_hand({"a": f"work({turns[0]})", "b": f"work({turns[1]})"}, {})
    assert (found["a"].loops, found["b"].loops) == calls


def test_samples_are_as_many_for_all_in_random_order_and_rounds_of_ten() -> None:
    write, calls = recorder()
    names = {"a": lambda: write("a"), "b": lambda: write("b")}
    found = by_hand({"a": "a(); work(5000)", "b": "b(); work(5000)"}, names)
    assert len(found["a"].batches) == len(found["b"].batches) >= 20
    switches = sum(x != y for x, y in itertools.pairwise(calls))
    assert switches > len(found["a"].batches) / 3
    *full, last = found["a"].rounds
    assert {*full} == {10}
    assert 0 < last <= 10


def test_one_arm_alone_ends_after_a_quarter_of_the_budget() -> None:
    found = by_hand({"a": "work(999)", "bad": "1 / 0"}, {}, budget=0.2)
    assert 20 <= len(found["a"].batches) < 100  # of a millisecond


# Arms of two frameworks


@pytest.fixture
def two(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A framework beside Python, on a clock that is told by hand."""
    for room in ("comparison.interleave", "comparison.fairness", "comparison.name_bindings",
                 "timing.session"):  # fmt: skip
        both = [Python(), bench.framework]
        monkeypatch.setattr(f"ipyjaxbench.{room}.loaded", lambda both=both: (both, {}))
    bench.names["theirs"] = lambda: bench.device.start(dispatch=0, work=MS)
    return bench


@pytest.mark.parametrize(
    ("slower", "for_ms", "told"),
    [(1.25, 1000, True), (1.15, 1000, False), (1.25, 110, False)],
)
def test_an_arm_that_others_slow_down_waits_until_that_is_over(
    two: Bench, slower: float, for_ms: int, told: bool
) -> None:
    """Threads of the other framework go on for a while when its turn is over."""
    clock, worked = two.clock, two.device.worked

    def mine() -> None:
        disturbed = len(worked) > 50 and clock.now() - worked[-1][1] < for_ms * MS
        clock.advance(round(slower * MS) if disturbed else MS)

    names = {**two.names, "mine": mine}
    found = run({"mine": "mine()", "theirs": "theirs()"}, names, clock, budget=4.0)
    notes = {note.code: note.text for note in found.notes}
    assert found["theirs"].median == pytest.approx(1e-3)
    assert found["mine"].median == pytest.approx(1e-3 if for_ms == 110 else slower * 1e-3)
    assert ("slowed-by-others" in notes) is told
    if told:
        assert [*notes][-1] == "slowed-by-others"  # what arms do differently is said before
        assert notes["slowed-by-others"].startswith("mine takes 1.2× as long interleaved")


def test_a_block_in_which_an_arm_compiles_is_left_out_of_all_arms(two: Bench) -> None:
    def late() -> object:
        if two.clock.now() > 400 * MS and not two.device.compilations:
            two.device.compile(80 * MS)
        return two.device.start(dispatch=0, work=MS)

    names = {**two.names, "late": late}
    found = run({"a": "theirs()", "b": "late()"}, names, two.clock, budget=2.0)
    assert two.device.compilations == 1
    (note,) = [note for note in found.notes if note.code == "compiled-late"]
    assert note.text.startswith("1 sample with a compilation")
    assert len(found["a"].batches) == len(found["b"].batches)
    assert max(found["b"].samples) == pytest.approx(1e-3)


# Names, objects and random numbers


def test_each_arm_finds_names_as_the_user_left_them_and_objects_as_the_first_one_did() -> None:
    names: dict[str, Any] = {"x": 1, "seen": [], "other": []}
    run({"a": "x = x + 1; seen.append(x)", "b": "x = x + 10; other.append(x)"}, names)
    assert (names["seen"], names["other"]) == ([2], [11])
    names = {"x": np.zeros(3), "add": lambda x, n: x.__iadd__(n)}
    found = run({"a": "add(x, 1)", "b": "add(x, 1)", "c": "add(x, 2)"}, names)
    assert [note.text for note in found.notes if note.code == "other-result"] == [
        "The result of c differs from that of a by 50 %."
    ]
    assert names["x"].tolist() == [2.0] * 3  # as the last one's first call left it


def test_random_state_is_the_same_for_every_arm_and_afterwards() -> None:
    random.seed(3)
    first = random.random()
    random.seed(3)
    drawn: dict[str, list[float]] = {"a": [], "b": []}
    names = {"random": random, "drawn": drawn}
    run({n: f"drawn['{n}'].append(random.random())" for n in drawn}, names)
    assert drawn["a"][0] == drawn["b"][0] == first
    assert random.random() == first


@pytest.mark.parametrize(("plain", "other", "told"), [
    ("x + 1", "with np.errstate(): x + 1", {"not-compared"}),
    ("np.sort(x)", "sorted(values)", set()),
    ("np.sort(x)", "sorted(values[1:])", {"other-result"}),
    ("values.sort()", "None", set()),
])  # fmt: skip
def test_results_of_other_kinds_are_compared_where_they_hold_numbers(
    plain: str, other: str, told: set[str]
) -> None:
    values = [3.0, 1.0, 2.0]
    found = run({"a": plain, "b": other}, {"np": np, "x": np.array(values), "values": values})
    assert {note.code for note in found.notes} & {"not-compared", "other-result"} == told


# What fails or is interrupted


def test_an_arm_that_raises_is_a_row_and_the_others_go_on() -> None:
    found = run({"a": "work(999)", "bad": "1 / 0", "b": "work(999)"}, {"work": work})
    (bad,) = [side for side in found.sides if side.label == "bad"]
    assert (bad.measured, bad.failed) == (None, "ZeroDivisionError: division by zero")
    assert found.ratio("b") is not None
    assert "bad failed: ZeroDivisionError: division by zero." in str(found)
    with pytest.raises(KeyError, match="bad failed: ZeroDivisionError"):
        found["bad"]
    for ask in (found.ratio, found.verdict, found.__getitem__):
        with pytest.raises(KeyError, match="'typo' is none of the arms: a, bad, b"):
            ask("typo")
    assert (found.ratio("a"), found.ratio("bad"), found.verdict("bad")) == (None, None, "")


@pytest.mark.parametrize(
    ("arms", "keep_going"),
    [
        ({"a": "work(999)", "bad": "1 / 0"}, False),
        ({"bad": "1/0", "b": "[][1]"}, False),
        ({"bad": "1 / 0", "b": "[][1]"}, True),  # to go on is of no use
    ],
)
def test_a_failed_arm_is_raised_with_what_the_others_gave(
    arms: dict[str, str], keep_going: bool
) -> None:
    with pytest.raises(ArmFailedError, match="ZeroDivisionError") as caught:
        run(arms, {"work": work}, keep_going=keep_going)
    assert isinstance(caught.value.error, ZeroDivisionError)
    assert isinstance(caught.value.result, Comparison)
    assert [side.label for side in caught.value.result.sides] == list(arms)


def test_an_arm_that_raises_later_ends_alone() -> None:
    names = {"work": work, "calls": iter(range(14))}
    found = run({"a": "work(9999)", "b": "next(calls)", "c": "work(9999)"}, names)
    assert found.ratio("c") is not None
    assert found.verdict("b") in ("ONCE", "CAN'T TELL")
    told = next(note.text for note in found.all_notes() if "StopIteration" in note.text)
    left = "The time is of the calls before it." if found.ratio("b") else "No call before it was a"
    assert told.startswith(f"b: Call 15 raised StopIteration. {left}")
    assert Comparison.from_dict(found.to_dict()) == found


@pytest.mark.parametrize("call", [1, 2, 5, 60])
def test_an_interrupt_leaves_what_is_known(call: int) -> None:
    calls = itertools.count(1)

    def interrupted() -> None:
        if next(calls) == call:
            raise KeyboardInterrupt

    found = run({"a": "work(9999)", "b": "f()"}, {"f": interrupted, "work": work}, budget=5)
    assert (found.ratio("b") is None) is (call < 60)  # before the first block
    assert ("not run" in str(found)) is (call == 1)
    assert Comparison.from_dict(found.to_dict()) == found


def test_the_output_of_later_calls_is_not_shown_and_that_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = run({"a": "print('a')", "b": "print('b')"}, {})
    assert capsys.readouterr().out == "a\nb\n"
    assert "output-hidden" in [note.code for note in found.all_notes()]


@pytest.mark.parametrize(
    ("arms", "told"),
    [
        (
            {"a": "d[len(d)] = 1; work(1)", "b": "work(1 + len(d) // 1000)"},
            {"a": "d grew", "b": "d grew"},
        ),
        (
            {"b": "work(1 + len(d) // 1000)", "a": "d[len(d)] = 1; work(1)"},
            {"a": "d grew", "b": "d grew"},
        ),
        ({"a": "work(1)", "b": "q = [] | q.append(1); work(len(q))"}, {"b": "q grew"}),
        ({"a": "work(1)", "b": "d[1] = 1; work(2)"}, {}),
    ],
)
def test_a_container_that_calls_make_longer_leaves_no_factor(
    arms: dict[str, str], told: dict[str, str]
) -> None:
    found = by_hand(arms, {"d": {}, "q": []})
    notes = {name: note.text for name in arms for note in found[name].notes if note.code == "grows"}
    assert {name: text[: len("d grew")] for name, text in notes.items()} == told
    _, other = arms
    assert found.depends_on_calls(other) is bool(told)
    assert (found.ratio(other) is None) is bool(told)
    if told:
        assert (found.verdict(other), found.depends_on_interleaving(other)) == ("CAN'T TELL", False)
        assert found.all_notes()[0].code == "grows"
        assert "×" not in str(found).splitlines()[0]
        assert {n.code for n in found.notes}.isdisjoint({"undecided", "few-samples"})


# Options


@pytest.mark.parametrize(
    ("options", "loops", "samples"),
    [({"number": 3, "repeat": 8}, 3, 8), ({"number": 3}, 3, 20), ({"repeat": 30}, 500, 30)],
)
def test_calls_per_sample_and_samples_of_each_arm_are_as_many_as_were_asked_for(
    options: dict, loops: int, samples: int
) -> None:
    found = by_hand({"a": "work(2)", "b": "work(2)"}, {}, budget=None, **options)
    assert [(found[label].loops, found[label].repeat) for label in "ab"] == [(loops, samples)] * 2


def test_a_set_up_runs_once_before_a_sample_of_several_calls() -> None:
    arms = {"a": "x = [] | x.append(1); work(len(x))", "b": "work(1)"}
    found = by_hand(arms, {}, budget=None, number=4, repeat=5)
    assert (found["a"].loops, found["a"].repeat) == (4, 5)
    assert found["a"].median == pytest.approx((1 + 2 + 3 + 4) / 4 * 1e-6)
