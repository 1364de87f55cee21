"""Arms are sampled in turns, each as if it were alone in the namespace."""

import itertools
import math
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ipyjaxbench import ArmFailedError, Comparison, OptionError, compare
from ipyjaxbench.adapters.python import Python
from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.interleave import StopRule, compare_snippets
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
    assert ratio.pairs >= 20
    assert ratio.value == pytest.approx(2.0)
    assert found.verdict("two") == "SLOWER"
    assert found.verdict("one") == ""
    assert found["one"].median < found["two"].median


@pytest.mark.parametrize(("turns", "calls"), [((2, 4), (500, 500)), ((2, 5), (500, 200))])
def test_arms_that_take_about_as_long_have_as_many_calls_in_a_sample(
    turns: tuple[int, int], calls: tuple[int, int]
) -> None:
    """A sample lasts a millisecond where nothing else is known."""
    found = by_hand({"a": f"work({turns[0]})", "b": f"work({turns[1]})"}, {})
    assert (found["a"].loops, found["b"].loops) == calls


def test_samples_are_taken_in_rounds_of_ten() -> None:
    found = by_hand({"a": "work(5000)", "b": "work(5000)"}, {})
    *full, last = found["a"].rounds
    assert full
    assert set(full) == {10}
    assert 0 < last <= 10


class Blocks:
    """Blocks of two arms until a rule says that there are enough of them."""

    def __init__(self, budget: float, samples: Callable[[int], float] = lambda _: 1.0) -> None:
        self.told: list[tuple[float, float]] = []
        self._clock, self._samples = FakeClock(), samples
        self.rule = StopRule(self._clock, 0, int(budget * 1e9), CompareOptions(), self._on_progress)

    def _on_progress(self, known: float, left: float) -> None:
        self.told.append((known, left * 1e-9))

    def take(self, seconds: float) -> int:
        """The number of blocks, each of which takes so long."""
        arms = [SimpleNamespace(steady=SimpleNamespace(samples=SimpleNamespace(seconds=[])))
                for _ in "ab"]  # fmt: skip
        self.rule.begin()
        done = False
        while not done:
            self._clock.advance(round(seconds * 1e9))
            for arm, factor in zip(arms, (1.0, self._samples(self.rule.passes)), strict=True):
                arm.steady.samples.seconds.append(factor)
            done = self.rule.is_done(arms)
        return self.rule.passes


@pytest.mark.parametrize(("seconds", "blocks"), [(2.9, 20), (3.1, 1)])
def test_a_minute_is_spent_on_the_fewest_pairs_whatever_the_budget(
    seconds: float, blocks: int
) -> None:
    assert Blocks(budget=1.0).take(seconds) == blocks


def test_ratios_that_are_known_end_it_after_a_quarter_of_the_budget() -> None:
    blocks = Blocks(budget=100.0)
    assert blocks.take(1.0) == 26
    assert blocks.rule.spent() == 26e9
    assert blocks.told[0] == (math.inf, pytest.approx(99.0))
    assert blocks.told[-1] == (math.inf, pytest.approx(74.0))  # as it was before it was asked
    assert Blocks(budget=10.0).take(0.5) == 20  # the fewest pairs


def test_ratios_that_are_not_known_are_asked_for_until_the_budget_is_spent() -> None:
    blocks = Blocks(budget=100.0, samples=lambda block: 1.0 + block % 2)
    assert blocks.take(1.0) == 101
    known = [known for known, _ in blocks.told]
    assert known == [math.inf] * 26 + [pytest.approx(math.log(2) / 2)] * 75
    assert blocks.told[-1][1] == 0.0


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

    found = run({"mine": "mine()", "theirs": "theirs()"}, {**two.names, "mine": mine}, clock,
                budget=4.0)  # fmt: skip
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

    found = run(
        {"a": "theirs()", "b": "late()"}, {**two.names, "late": late}, two.clock, budget=2.0
    )
    assert two.device.compilations == 1
    (note,) = [note for note in found.notes if note.code == "compiled-late"]
    assert note.text.startswith("1 sample with a compilation")
    assert len(found["a"].batches) == len(found["b"].batches)
    assert max(found["b"].samples) == pytest.approx(1e-3)


# Options


def test_the_budget_is_shared_or_grows_with_the_arms() -> None:
    assert CompareOptions().seconds_for(3) == pytest.approx(6.6)
    assert CompareOptions(budget=1.0).seconds_for(3) == 1.0
    assert CompareOptions(budget=0.0).seconds_for(3) == 0.0
    chosen = CompareOptions()
    assert (chosen.precision, chosen.target, chosen.restore) == (3, 0.02, True)
    assert (chosen.keep_going, chosen.align, chosen.baseline, chosen.sweep) == (
        False,
        False,
        None,
        (),
    )


@pytest.mark.parametrize(
    ("aim", "target", "seconds"),
    [("quick", 0.05, 1.5), ("usual", 0.02, 6.6), ("precise", 0.005, 30)],
)
def test_an_aim_says_how_steady_ratios_are_to_be_and_for_how_long(
    aim: str, target: float, seconds: float
) -> None:
    chosen = CompareOptions(aim=aim)
    assert (chosen.target, chosen.seconds_for(3)) == (target, pytest.approx(seconds))
    assert CompareOptions(aim=aim, budget=4.0).seconds_for(3) == 4.0


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
    found = by_hand({"a": "x = [] | x.append(1); work(len(x))", "b": "work(1)"}, {}, budget=None,
                    number=4, repeat=5)  # fmt: skip
    assert (found["a"].loops, found["a"].repeat) == (4, 5)
    assert found["a"].median == pytest.approx((1 + 2 + 3 + 4) / 4 * 1e-6)


def test_the_progress_of_counted_samples_is_how_long_the_rest_will_take() -> None:
    told: list[float] = []
    clock = FakeClock()
    rule = StopRule(
        clock, 0, 10**9, CompareOptions(repeat=4), lambda known, left: told.append(left)
    )
    rule.begin()
    done = []
    for _ in range(4):
        clock.advance(5)
        done.append(rule.is_done([]))
    assert (told, done) == ([15, 10, 5, 0], [False, False, False, True])


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([], {}, "no arms: a comparison needs at least two arms"),
        (["a"], {}, "only one arm, 'a': a comparison needs at least two arms"),
        (["a", "b", "a"], {}, "'a' appears twice: labels must be unique"),
        (
            ["a", 25 * "b"],
            {},
            f"label {25 * 'b'!r}: must be a label of at most 24 characters, for example a",
        ),
        (["a", "b"], {"baseline": "c"}, "baseline 'c': no such arm; the arms are a, b"),
    ],
)
def test_arms_that_cannot_be_compared_are_refused(
    labels: list[str], options: dict, message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        CompareOptions(**options).check(labels)
    assert str(caught.value) == message
    CompareOptions(baseline="b").check([24 * "a", "b"])


def test_arms_have_equally_many_samples_and_come_in_random_order() -> None:
    write, calls = recorder()
    names = {"a": lambda: write("a"), "b": lambda: write("b")}
    found = by_hand({"a": "a(); work(5000)", "b": "b(); work(5000)"}, names)
    assert len(found["a"].batches) == len(found["b"].batches) >= 20
    switches = sum(x != y for x, y in itertools.pairwise(calls))
    assert switches > len(found["a"].batches) / 3


def test_each_arm_finds_the_names_as_the_user_left_them() -> None:
    names: dict[str, Any] = {"x": 1, "seen": [], "other": []}
    run({"a": "x = x + 1; seen.append(x)", "b": "x = x + 10; other.append(x)"}, names)
    assert (names["seen"], names["other"]) == ([2], [11])


def test_each_arm_finds_objects_as_the_first_one_found_them() -> None:
    arms = {"a": "add(x, 1)", "b": "add(x, 1)", "c": "add(x, 2)"}
    names: dict[str, Any] = {"x": np.zeros(3), "add": lambda x, n: x.__iadd__(n)}
    found = run(arms, names)
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


def test_an_arm_that_raises_is_a_row_and_the_others_go_on() -> None:
    found = run({"a": "work(999)", "bad": "1 / 0", "b": "work(999)"}, {"work": work})
    (bad,) = [side for side in found.sides if side.label == "bad"]
    assert (bad.measured, bad.failed) == (None, "ZeroDivisionError: division by zero")
    assert found.ratio("b") is not None
    assert found.verdict("bad") == ""
    assert "bad failed: ZeroDivisionError: division by zero." in str(found)
    with pytest.raises(KeyError, match="bad failed: ZeroDivisionError"):
        found["bad"]
    for ask in (found.ratio, found.verdict, found.__getitem__):
        with pytest.raises(KeyError, match="'typo' is none of the arms: a, bad, b"):
            ask("typo")
    assert (found.ratio("a"), found.ratio("bad"), found.verdict("a")) == (None, None, "")


@pytest.mark.parametrize("arms", [{"a": "work(999)", "bad": "1 / 0"}, {"bad": "1/0", "b": "[][1]"}])
def test_a_failed_arm_is_raised_with_what_the_others_gave(arms: dict[str, str]) -> None:
    with pytest.raises(ArmFailedError, match="ZeroDivisionError") as caught:
        run(arms, {"work": work}, keep_going=False)
    assert isinstance(caught.value.error, ZeroDivisionError)
    assert isinstance(caught.value.result, Comparison)
    assert [side.label for side in caught.value.result.sides] == list(arms)


def test_arms_that_all_fail_are_never_passed_over() -> None:
    with pytest.raises(ArmFailedError):
        run({"a": "1 / 0", "b": "[][1]"}, {}, keep_going=True)


@pytest.mark.parametrize(
    ("plain", "other", "told"),
    [
        ("x + 1", "with np.errstate(): x + 1", "not-compared"),
        ("np.sort(x)", "sorted(values)", ""),
        ("np.sort(x)", "sorted(values[1:])", "other-result"),
        ("values.sort()", "None", ""),
    ],
)
def test_results_of_other_kinds_are_compared_where_they_hold_numbers(
    plain: str, other: str, told: str
) -> None:
    import numpy as np

    values = [3.0, 1.0, 2.0]
    found = run({"a": plain, "b": other}, {"np": np, "x": np.array(values), "values": values})
    codes = {note.code for note in found.notes} & {"not-compared", "other-result"}
    assert codes == ({told} if told else set())


def test_an_arm_that_raises_later_ends_alone() -> None:
    calls = iter(range(14))
    names = {"work": work, "calls": calls}
    found = run({"a": "work(9999)", "b": "next(calls)", "c": "work(9999)"}, names)
    assert found.ratio("c") is not None
    assert found.verdict("b") in ("ONCE", "CAN'T TELL")
    assert "b: " in str(found)
    assert "StopIteration" in str(found)
    assert Comparison.from_dict(found.to_dict()) == found


def test_an_interrupt_leaves_what_is_known() -> None:
    calls = iter(range(10**9))

    def interrupted() -> None:
        if next(calls) == 60:
            raise KeyboardInterrupt

    names = {"f": interrupted, "work": work}
    found = run({"a": "f()", "b": "work(99999)"}, names, budget=20)
    assert "interrupted" in [note.code for note in found.notes]
    assert Comparison.from_dict(found.to_dict()) == found


@pytest.mark.parametrize("call", [1, 2, 5])
def test_an_interrupt_before_the_first_block_leaves_no_ratio(call: int) -> None:
    calls = itertools.count(1)

    def interrupted() -> None:
        if next(calls) == call:
            raise KeyboardInterrupt

    found = run({"a": "work(9999)", "b": "f()"}, {"f": interrupted, "work": work}, budget=5)
    assert found.ratio("b") is None
    assert "interrupted" in [note.code for note in found.notes]
    assert ("not run" in str(found)) is (call == 1)
    assert Comparison.from_dict(found.to_dict()) == found


def test_what_cannot_be_compared_is_told_in_one_line() -> None:
    with pytest.raises(OptionError, match="only one arm, 'a': a comparison needs at least two"):
        compare({"a": work}, 9)
    with pytest.raises(OptionError, match="takes functions by label, not a list: write compare"):
        compare([work, work], 9)  # type: ignore[arg-type]


def test_code_that_differs_from_itself_leaves_no_winner() -> None:
    from ipyjaxbench.comparison.comparison import ArmResult
    from tests.results import measured

    odd = [1_000_000 + 60_000 * (i % 2) for i in range(80)]
    more = [round(1.02 * t) for t in odd]
    found = Comparison((ArmResult("a", measured(odd)), ArmResult("b", measured(more))), "a")
    itself = found.against_itself
    assert itself is not None
    assert not itself.covers_one()
    assert found.floor == pytest.approx(2 * math.log(1.06), abs=1e-3)
    assert found.verdict("b") == "CAN'T TELL"
    assert "not 1×: the machine is too noisy" in " ".join(str(found).split())


def test_the_output_of_later_calls_is_not_shown_and_that_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = run({"a": "print('a')", "b": "print('b')"}, {})
    assert capsys.readouterr().out == "a\nb\n"
    assert "output-hidden" in [note.code for note in found.all_notes()]
