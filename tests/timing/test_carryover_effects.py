"""What calls leave to the calls after them, and what is no work at all."""

import functools
import itertools
import re
from collections import deque
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench import Measurement
from ipyjaxbench.frameworks import Scope
from ipyjaxbench.testing import FakeArray, FakeClock
from ipyjaxbench.timing.validity.carryover_effects import CarryoverEffects
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, Bench, notes_by_code

HERE = {"value-cached", "used-up", "grows", "slows-down", "below-clock", "no-work", "not-called"}


FAST = 2_000  # nanoseconds of a call that computes nothing


def run(code: str, names: dict[str, Any], **options: Any) -> dict[str, str]:
    """The Notes of this page that real time gives."""
    options = options or {"budget": 0.1}
    result = ipyjaxbench.measure_code(code, names, **options)
    return {note.code: note.text for note in result.notes if note.code in HERE}


def notes_here(m: Measurement) -> dict[str, str]:
    return {code: text for code, text in notes_by_code(m).items() if code in HERE}


# Values that are kept


class Slow:
    """Computes slowly, in several ways of keeping the result."""

    def __init__(self, bench: Bench) -> None:
        self._advance = bench.clock.advance
        self.memo: dict[int, list[int]] = {}

    @functools.cached_property
    def table(self) -> list[int]:
        self._advance(MS)
        return [1, 2]

    def kept(self) -> list[int]:
        if 1 not in self.memo:
            self._advance(MS)
            self.memo[1] = [1, 2]
        self._advance(FAST)
        return self.memo[1]

    def afresh(self) -> list[int]:
        self._advance(MS)
        return [1, 2]


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("slow.kept()", "slow.kept(...)"),
        ("y = slow.kept()", "slow.kept(...)"),
        ("clock.advance(2_000); slow.table", "slow.table"),
    ],
)
def test_a_value_that_the_first_call_kept_is_told(bench: Bench, code: str, what: str) -> None:
    bench.names["slow"] = Slow(bench)
    text = notes_here(bench.time(code, restore=False))["value-cached"]
    assert text.startswith(f"{what} caches its value: the first call took 1.00 ms, later ones")


def test_a_cache_that_the_first_call_filled_is_told_whatever_the_times_are(bench: Bench) -> None:
    @functools.lru_cache
    def fib(n: int) -> int:
        bench.clock.advance(MS // 100)
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    bench.names["fib"] = fib
    measured = bench.time("clock.advance(1_000_000); fib(50)")
    (note,) = (each for each in measured.notes if each.code == "value-cached")
    assert note.advice == "fib.cache_clear(); clock.advance(1_000_000); fib(50)"
    assert measured.verdict == "INVALID"
    assert notes_here(bench.time("clock.advance(1_000_000); fib(50)")) == {}
    assert notes_here(bench.time(note.advice)) == {}


@pytest.mark.parametrize(
    ("kind", "first", "later", "told"),
    [
        (list, 42_000, 1000, True),
        (list, 40_500, 1000, False),  # by less than 40 µs
        (list, 60_000, 2990, True),
        (list, 60_000, 3010, False),  # so much can be work: a list may be filled anew
        (FakeArray, 101_000, 20_000, True),  # nothing changes an array
        (FakeArray, 99_000, 20_000, False),  # calls take a fifth
    ],
)
def test_a_value_was_kept_where_the_first_call_took_far_longer(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, kind: type, first: int, later: int, told: bool
) -> None:
    monkeypatch.setattr(bench.framework, "immutable", True)
    memo: dict[int, object] = {}

    def kept() -> object:
        bench.clock.advance(later if memo else first)
        return memo.setdefault(1, [1, 2] if kind is list else FakeArray(bench.device, 0))

    bench.names |= {"kept": kept, "memo": memo}
    assert ("value-cached" in notes_here(bench.time("kept()", restore=False))) is told


def test_a_look_up_inside_of_other_work_is_told_where_it_was_most_of_the_first_call(
    bench: Bench,
) -> None:
    def is_noted(cost: int) -> bool:
        @functools.cache
        def table(n: int) -> int:
            bench.clock.advance(cost)
            return n

        bench.names["work"] = lambda: (bench.clock.advance(10_000), table(7))
        return "value-cached" in notes_here(bench.time("work()"))

    assert is_noted(41_000)  # 51 µs at first, 10 µs later
    assert not is_noted(39_000)


def test_a_cache_that_is_emptied_or_missed_is_not(bench: Bench) -> None:
    turns = itertools.count()

    @functools.cache
    def table(n: int) -> int:
        bench.clock.advance(MS)
        return n

    bench.names |= {"table": table, "turns": turns}
    assert notes_here(bench.time("table(next(turns))")) == {}
    assert notes_here(bench.time("clock.advance(2_000); table.cache_clear(); table(1)")) == {}


@pytest.mark.parametrize(
    "each",
    [
        lambda slow: slow.afresh(),  # another value in every call
        lambda slow: slow.memo,  # one that was there before
        lambda slow: None,
        lambda slow: (slow.memo.update({1: slow.afresh()}), slow.memo[1])[1],  # replaced
    ],
)
def test_a_slow_first_call_alone_is_not(bench: Bench, each: Callable[[Slow], Any]) -> None:
    slow, turns = Slow(bench), itertools.count()

    def call() -> Any:
        bench.clock.advance(FAST if next(turns) else MS)
        return each(slow)

    bench.names["call"] = call
    assert notes_here(bench.time("call()")) == {}


# Iterators that are used up


ITERATORS: list[tuple[str, Callable[[], Iterator[Any]]]] = [
    ("list(it)", lambda: (i for i in range(5))),
    ("for _ in it: pass", lambda: iter([1, 2])),
    ("y = [*it]", lambda: iter(range(3))),
    ("list(it)", lambda: zip([1], [2], strict=False)),
    ("list(it)", lambda: map(str, [1, 2])),
    ("list(it)", lambda: enumerate(iter([5]))),
    ("list(it)", lambda: filter(None, [0, 1])),
]


@pytest.mark.parametrize(("code", "make"), ITERATORS)
def test_an_iterator_that_the_first_call_used_up_is_told(
    code: str, make: Callable[[], Iterator[Any]]
) -> None:
    names = {"it": make()}
    text = "The first call exhausted it: later calls found it empty."
    assert run(code, names)["used-up"] == text
    result = ipyjaxbench.measure_code(code, names, budget=0.02)  # the same cell once more
    (note,) = [note for note in result.notes if note.code == "used-up"]
    assert note.text == "An earlier run exhausted it: the calls found it empty."
    assert "state-advanced" not in {note.code for note in result.notes}


@pytest.mark.parametrize(
    "code",
    ["list(i for i in range(3))", "gen = (i for i in range(3)); list(gen)", "next(endless)",
     "list(xs)", "it.__class__"],
)  # fmt: skip
def test_iterators_with_more_to_give_and_those_made_inside_are_not(code: str) -> None:
    names = {"endless": itertools.count(), "xs": [1, 2], "it": iter([1]), "gen": iter("")}
    assert "used-up" not in run(code, names)


# What grows


@pytest.mark.parametrize("kind", [list, deque, set, dict])
def test_a_container_that_grows_and_slows_the_code_is_told(bench: Bench, kind: type) -> None:
    held = kind()
    turns = itertools.count()

    def step() -> None:
        turn = next(turns)
        held.append(turn) if kind in (list, deque) else held.update({turn: 1})
        bench.clock.advance(1000 + len(held))

    bench.names |= {"step": step, "held": held}
    text = notes_here(bench.time("step()", budget=0.2))["grows"]
    assert re.match(r"held grew from 0 to \d{2},\d{3} items, and calls got slower with it \(", text)
    assert len(held) == 1  # put back


def test_a_container_in_an_object_is_named(bench: Bench) -> None:
    trainer = SimpleNamespace(log=[])

    def step() -> None:
        trainer.log.append(1)
        bench.clock.advance(1000 + len(trainer.log))

    bench.names |= {"step": step, "trainer": trainer}
    assert notes_here(bench.time("step()", budget=0.2))["grows"].startswith("trainer.log grew")


def test_time_that_grows_with_every_call_is_told_without_a_cause(bench: Bench) -> None:
    turns = itertools.count()
    bench.names["step"] = lambda: bench.clock.advance(1000 + next(turns))
    text = notes_here(bench.time("step()", budget=0.2))["slows-down"]
    assert text.startswith("Every call takes longer than the one before, from ")


def growth(samples: list[float], calls: int = 101, grown: int = 100) -> dict[str, str]:
    """What is said of calls with these samples that have appended so many items to ``xs``."""
    xs: list[int] = [0]
    scope = Scope(Snippet(Source.plain("f(xs)"), {"xs": xs}), [])
    carryover = CarryoverEffects(scope, [], [])
    xs += range(grown)
    carryover.inspect_containers()
    xs.clear()  # put back
    return {note.code: note.text for note in carryover.growing_containers(calls, samples)}


def rising(step: float, count: int = 12) -> list[float]:
    return [1.0 + step * i for i in range(count)]


def swapped(samples: list[float], i: int, j: int) -> list[float]:
    """The samples with these two in each other's place."""
    samples[i], samples[j] = samples[j], samples[i]
    return samples


def test_growth_is_told_with_the_first_and_the_last_samples() -> None:
    # Of twelve the middle one of the first three, and of the last three.
    text = (
        "xs grew from 1 to 101 items, and calls got slower with it (1.10 s at first,"
        " 2.00 s at the end)."
    )
    assert growth(rising(0.1)) == {"grows": text}
    # Of forty samples those of the first and the last four.
    assert "(1.15 s at first, 4.75 s at the end)" in growth(rising(0.1, 40))["grows"]


@pytest.mark.parametrize(
    ("samples", "told"),
    [
        (rising(0.1, 11), False),  # too few
        (rising(0.1, 12), True),
        (rising(0.06), False),  # 1 + 9.5·0.06 over 1 + 1.5·0.06 is 1.44
        (rising(0.08), True),  # and that with 0.08 is 1.57
        (rising(0.1)[::-1], False),
        (swapped(rising(0.2), 0, 6), True),  # the order is 1 - 12·6² / (12·143) = 0.75
        (swapped(rising(0.2), 0, 7), False),  # and 0.66 here
        ([0.0, *rising(0.1, 12)], False),  # the clock stood still
    ],
)
def test_growth_is_a_time_that_rises_by_half(samples: list[float], told: bool) -> None:
    assert ("grows" in growth(samples)) is told


@pytest.mark.parametrize(
    ("calls", "grown", "code"),
    [(11, 5, "grows"), (11, 4, "slows-down"), (1, 5, "slows-down"), (11, 0, "slows-down")],
)
def test_a_container_grows_that_half_of_the_calls_made_larger(
    calls: int, grown: int, code: str
) -> None:
    assert list(growth(rising(0.1), calls, grown)) == [code]


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ([1.0, 1.2, 1.4, 1.6, 1.8, 2.0], True),
        ([1.0, 1.09, 1.4, 1.6, 1.8, 2.0], True),  # two fifths of an even step are enough
        ([1.0, 1.07, 1.4, 1.6, 1.8, 2.0], False),
        ([1.0, 1.01, 1.02, 2.0, 2.01, 2.02], False),  # a machine that became busy
    ],
)
def test_without_a_cause_the_time_must_rise_all_the_way(parts: list[float], told: bool) -> None:
    samples = [part + 0.001 * i for part in parts for i in range(5)]
    assert list(growth(samples, grown=0)) == ["slows-down"] * told


# What the clock cannot show, and what is no work


def test_calls_that_have_to_be_prepared_one_by_one_need_more_work(bench: Bench) -> None:
    clock = FakeClock(step=50)
    bench.names["tick"] = clock
    m = bench.time("x += [1]; tick.advance(300)", "x = []", clock=clock, budget=0.01)
    (note,) = [note for note in m.notes if note.code == "below-clock"]
    assert note.advice == "do more work per call"


# Functions that are named or made, and not called


@pytest.mark.parametrize(
    ("code", "what", "advice"),
    [
        ("f", "f", "f(...)"),
        ("obj.method", "obj.method", "obj.method(...)"),
        ("np.linalg.norm", "np.linalg.norm", "np.linalg.norm(...)"),
        ("bound", "bound", "bound(...)"),
        ("lambda: f(1)", "lambda: f(1)", "f(1)"),
        ("lambda a: a", "lambda a: a", "(lambda a: a)(...)"),
        ("partial(f, 1)", "partial(f, 1)", "partial(f, 1)(...)"),
    ],
)
def test_a_function_that_is_not_called_is_told(code: str, what: str, advice: str) -> None:
    names = {"f": lambda a: a, "np": np, "partial": functools.partial}
    names |= {"obj": SimpleNamespace(method=len, value=1), "bound": functools.partial(len, [])}
    found = ipyjaxbench.measure_code(code, names, budget=0.02).notes
    (note,) = [note for note in found if note.code != "needs-longer"]
    assert "not-called" not in run("f(1); obj.value; (lambda: f(1))()", names)
    assert (note.code, note.advice) == ("not-called", advice)
    assert note.text.startswith(f"{what} is a function, but it is not called: only ")


# Ordinary code


@pytest.mark.parametrize(
    "code",
    ["x @ x", "x.T", "x += 1", "xs.append(1)", "d['k']", "d.setdefault('n', [])",
     "np.add(x, x, out=out)", "sorted(xs)", "np.random.rand(30)", "f()"],
)  # fmt: skip
def test_ordinary_code_is_left_alone(code: str) -> None:
    names = {"np": np, "x": np.ones((9, 9)), "xs": [3, 1], "d": {"k": 1}, "out": np.ones((9, 9)),
             "f": lambda: None}  # fmt: skip
    assert run(code, names) == {}
