"""What calls leave to the calls after them, and what is no work at all."""

import functools
import itertools
import re
from collections import deque
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import ipyjaxbench
from ipyjaxbench import Measurement
from ipyjaxbench.frameworks import Scope
from ipyjaxbench.testing import FakeArray
from ipyjaxbench.timing.validity.carryover_effects import CarryoverEffects
from ipyjaxbench.timing.validity.container_growth import ContainerGrowth
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, Bench, notes_by_code

HERE = {"value-cached", "used-up", "grows", "slows-down", "not-called"}
FAST = 2_000  # nanoseconds of a call that computes nothing


def notes_here(m: Measurement) -> dict[str, str]:
    return {code: text for code, text in notes_by_code(m).items() if code in HERE}


def run(code: str, names: dict[str, Any]) -> dict[str, str]:
    return notes_here(ipyjaxbench.measure_code(code, names, budget=0.1))


# Values that are kept


@pytest.mark.parametrize(
    ("code", "kind", "first", "later", "what"),
    [
        ("kept()", list, 42_000, 1000, "kept(...)"),
        ("y = kept()", list, 42_000, 1000, "kept(...)"),
        ("clock.advance(1000); slow.table", list, 42_000, 1000, "slow.table"),
        ("kept()", list, 40_500, 1000, None),  # by less than 40 µs
        ("kept()", list, 60_000, 2990, "kept(...)"),
        ("kept()", list, 60_000, 3010, None),  # so much can be work: a list may be filled anew
        ("kept()", FakeArray, 101_000, 20_000, "kept(...)"),  # nothing changes an array
        ("kept()", FakeArray, 99_000, 20_000, None),  # calls take a fifth
    ],
)
def test_a_value_was_kept_where_the_first_call_took_far_longer(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, code: str, kind: type, first: int, later: int,
    what: str | None,
) -> None:  # fmt: skip
    monkeypatch.setattr(bench.framework, "immutable", True)
    memo: dict[int, object] = {}

    def kept() -> object:
        bench.clock.advance(later if memo else first)
        return memo.setdefault(1, [1, 2] if kind is list else FakeArray(bench.device, 0))

    class Slow:
        @functools.cached_property
        def table(self) -> object:
            return kept()

    bench.names |= {"kept": kept, "memo": memo, "slow": Slow()}
    text = notes_here(bench.time(code, restore=False, budget=0.1)).get("value-cached", "")
    assert text.startswith(f"{what} caches its value: the first call took ") is (what is not None)


def test_a_value_that_a_function_keeps_under_a_global_name_was_kept(bench: Bench) -> None:
    setting_up = """
def get(make):
    global kept
    if kept is None or not make:
        kept = [1]
        clock.advance(1_000_000 if make else 1_000)
    clock.advance(1_000)
    return kept
"""
    bench.names["kept"] = None
    exec(setting_up, bench.names)
    m = bench.time("get(True)", budget=0.1)
    (text,) = notes_here(m).values()
    assert text.startswith("get(...) caches its value: the first call took ")
    assert (m.verdict, bench.names["kept"]) == ("INVALID", [1])
    bench.names["kept"] = None
    assert notes_here(bench.time("get(False)", budget=0.1)) == {}  # a new one in each call


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


@pytest.mark.parametrize(("cost", "told"), [(41_000, True), (39_000, False)])
def test_a_look_up_is_told_where_it_was_most_of_a_call(bench: Bench, cost: int, told: bool) -> None:
    @functools.cache
    def table(n: int) -> int:
        bench.clock.advance(cost)
        return n

    bench.names["work"] = lambda: (bench.clock.advance(10_000), table(7))  # 10 µs later
    assert ("value-cached" in notes_here(bench.time("work()", budget=0.1))) is told


@pytest.mark.parametrize(("later", "compiles"), [(99_000, True), (101_000, False)])
def test_a_look_up_beside_other_work_leaves_the_figure(
    bench: Bench, later: int, compiles: bool
) -> None:
    @functools.cache
    def load() -> list[int]:
        bench.clock.advance(10 * MS)
        if compiles:
            bench.device.compile(MS)
        return [1]

    bench.names |= {"work": lambda: (load(), bench.clock.advance(later)), "load": load}
    m = bench.time("work()", budget=0.1)
    (note,) = (each for each in m.notes if each.code == "part-cached")
    assert (note.mark, note.advice.rpartition(": ")[2]) == ("·", "load.cache_clear(); work()")
    assert m.verdict != "INVALID"


def test_a_cache_that_is_emptied_or_missed_is_not(bench: Bench) -> None:
    @functools.cache
    def table(n: int) -> int:
        bench.clock.advance(MS)
        return n

    bench.names |= {"table": table, "turns": itertools.count()}
    assert notes_here(bench.time("table(next(turns))")) == {}
    assert notes_here(bench.time("clock.advance(2_000); table.cache_clear(); table(1)")) == {}


@pytest.mark.parametrize(
    "each",
    [lambda memo: [1, 2],  # another value in every call
     lambda memo: memo,  # one that was there before
     lambda memo: None, lambda memo: (memo.update({1: [1, 2]}), memo[1])[1]],  # replaced
)  # fmt: skip
def test_a_slow_first_call_alone_is_not(bench: Bench, each: Callable[[dict], Any]) -> None:
    memo: dict[int, list[int]] = {}
    turns = itertools.count()

    def call() -> Any:
        bench.clock.advance(FAST if next(turns) else MS)
        return each(memo)

    bench.names["call"] = call
    assert notes_here(bench.time("call()", budget=0.1)) == {}


# Iterators that are used up


@pytest.mark.parametrize(
    ("code", "make"),
    [("list(it)", lambda: (i for i in range(5))), ("for _ in it: pass", lambda: iter([1, 2])),
     ("y = [*it]", lambda: iter(range(3))), ("list(it)", lambda: zip([1], [2], strict=False)),
     ("list(it)", lambda: map(str, [1, 2])), ("list(it)", lambda: enumerate(iter([5]))),
     ("list(it)", lambda: filter(None, [0, 1]))],
)  # fmt: skip
def test_an_iterator_that_was_used_up_is_told(code: str, make: Callable[[], Iterator[Any]]) -> None:
    names = {"it": make()}
    text = "The first call exhausted it: later calls found it empty."
    assert run(code, names)["used-up"] == text
    result = ipyjaxbench.measure_code(code, names, number=2, repeat=3)  # the same cell once more
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
def test_a_container_that_grows_and_slows_the_code_is_told(bench: Bench, kind: Any) -> None:
    held: Any = kind()
    turns = itertools.count()

    def step() -> None:
        turn = next(turns)
        held.append(turn) if hasattr(held, "append") else held.update({turn: 1})
        bench.clock.advance(1000 + len(held))

    bench.names |= {"step": step, "held": held}
    text = notes_here(bench.time("step()", budget=0.2))["grows"]
    assert re.match(r"held grew from 0 to \d?\d,\d{3} items, and calls got slower with it \(", text)
    assert len(held) == 1  # put back


def test_a_container_in_an_object_is_named(bench: Bench) -> None:
    trainer = SimpleNamespace(log=[])

    def step() -> None:
        trainer.log.append(1)
        bench.clock.advance(1000 + len(trainer.log))

    bench.names |= {"step": step, "trainer": trainer}
    assert notes_here(bench.time("step()", budget=0.2))["grows"].startswith("trainer.log grew")


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda held: {"loss": held, "steps": 0}, "x['loss']"),
        (lambda held: {(1, 2): [], 3: held}, "x[3]"),
        (lambda held: SimpleNamespace(history={"loss": held}), "x.history['loss']"),
        (lambda held: {"train": {"loss": held}}, "x['train']['loss']"),
        (lambda held: {"loss": [0] * 9, "kept": held[:]}, None),
    ],
)
def test_a_container_in_a_dictionary_is_named(make: Callable[[Any], Any], name: str | None) -> None:
    held: list[int] = []
    growth = ContainerGrowth({"x": make(held)}, dict)
    held += range(100)
    growth.end(101)
    texts = [note.text.partition(" grew ")[0] for note in growth.notes(101, [2e-7] * 3, None)]
    assert texts == [name] * (name is not None)


def rising(step: float, count: int = 12) -> list[float]:
    return [1.0 + step * i for i in range(count)]


def stepping(*parts: float) -> list[float]:
    return [part + 0.001 * i for part in parts for i in range(5)]


GROWS = "grew from 1 to {} items, and calls got slower with it ({} s at first, {} s at the end)."


@pytest.mark.parametrize(
    ("samples", "calls", "grown", "told"),
    [
        # Of twelve samples the middle ones of the first and the last three, of forty of four.
        (rising(0.1), 101, 100, GROWS.format(101, "1.10", "2.00")),
        (rising(0.1, 40), 101, 100, GROWS.format(101, "1.15", "4.75")),
        (rising(0.1, 11), 101, 100, None),  # too few
        (rising(0.06), 101, 100, None),  # 1 + 9.5·0.06 over 1 + 1.5·0.06 is 1.44
        (rising(0.08), 101, 100, "grew"),  # and that with 0.08 is 1.57
        (rising(0.1)[::-1], 101, 100, None),
        # The first one and the seventh swapped: the order is 1 - 12·6² / (12·143) = 0.75.
        ([2.2, *rising(0.2)[1:6], 1.0, *rising(0.2)[7:]], 101, 100, "grew"),
        ([2.4, *rising(0.2)[1:7], 1.0, *rising(0.2)[8:]], 101, 100, None),  # 0.66, with the eighth
        ([0.0, *rising(0.1, 12)], 101, 100, None),  # the clock stood still
        # In half of the calls; without a cause the time must rise all the way.
        (rising(0.1), 11, 5, "grew"),
        (rising(0.1), 11, 4, "Every call takes longer"),
        (rising(0.1), 1, 5, "Every call takes longer"),
        (stepping(1.0, 1.2, 1.4, 1.6, 1.8, 2.0), 101, 0, "Every call takes longer"),
        # Two fifths of an even step are enough.
        (stepping(1.0, 1.09, 1.4, 1.6, 1.8, 2.0), 101, 0, "Every call takes longer"),
        (stepping(1.0, 1.07, 1.4, 1.6, 1.8, 2.0), 101, 0, None),
        (stepping(1.0, 1.01, 1.02, 2.0, 2.01, 2.02), 101, 0, None),  # it became busy
    ],
)
def test_growth_is_a_time_that_rises_by_half_with_what_calls_append(
    samples: list[float], calls: int, grown: int, told: str | None
) -> None:
    xs: list[int] = [0]
    scope = Scope(Snippet(Source.plain("f(xs)"), {"xs": xs}), [])
    carryover = CarryoverEffects(scope, [], [])
    xs += range(grown)
    carryover.growth.end(calls)
    xs.clear()  # put back
    found = [note.text for note in carryover.growing_containers(calls, samples)]
    assert len(found) == (told is not None)
    assert all(text.removeprefix("xs ").startswith(told or "") for text in found)


@pytest.mark.parametrize(
    ("samples", "told"),
    [
        ([2e-7] * 3, "grew from 1 to 101 items: the time is of calls at all these lengths."),
        ([40e-6] * 40, "grew"),  # a hundred items may be 2 microseconds' work, a twentieth
        ([41e-6] * 40, None),
    ],
)
def test_growth_is_told_whatever_the_samples_show_where_it_may_matter(
    samples: list[float], told: str | None
) -> None:
    xs: list[int] = [0]
    growth = ContainerGrowth({"xs": xs}, dict)
    xs += range(100)
    growth.end(101)
    texts = [note.text.removeprefix("xs ") for note in growth.notes(101, samples, None)]
    assert [text.startswith(told or "") for text in texts] == [True] * (told is not None)


class Log(list):
    def __len__(self) -> int:
        raise AssertionError("code of the user's")


@pytest.mark.parametrize(
    ("setup", "code", "options", "told"),
    [
        (None, "kept.append(1); clock.advance(200)", {}, "kept grew from "),
        (None, "kept.append(1); clock.advance(200)", {"number": 20, "repeat": 5},
         "kept grew from 0 to 100 items: "),
        (None, "kept.append(1); kept.pop(); clock.advance(200)", {}, None),
        ("xs = [1]", "xs.append(1); clock.advance(200)", {"number": 20, "repeat": 5},
         "xs grew from 1 to 21 items in a sample, before the setup made it anew: "),
        ("xs = [1]", "xs.append(1); clock.advance(200)", {"number": 1, "repeat": 5}, None),
    ],
)  # fmt: skip
def test_a_container_that_is_longer_by_the_number_of_calls_is_told_with_any_budget(
    bench: Bench, setup: str | None, code: str, options: dict[str, int], told: str | None
) -> None:
    bench.names["kept"] = Log()
    for each in [options] if options else [{"budget": 0.01}, {"budget": 0.1}]:
        text = notes_here(bench.time(code, setup, **each)).get("grows", "")
        assert text.startswith(told) if told else not text, text


# What is no work


@pytest.mark.parametrize(
    ("code", "what", "advice"),
    [("f", "f", "f(...)"), ("obj.method", "obj.method", "obj.method(...)"),
     ("bound", "bound", "bound(...)"), ("lambda: f(1)", "lambda: f(1)", "f(1)"),
     ("lambda a: a", "lambda a: a", "(lambda a: a)(...)"),
     ("partial(f, 1)", "partial(f, 1)", "partial(f, 1)(...)")],
)  # fmt: skip
def test_a_function_that_is_not_called_is_told(code: str, what: str, advice: str) -> None:
    names = {"f": lambda a: a, "partial": functools.partial}
    names |= {"obj": SimpleNamespace(method=len, value=1), "bound": functools.partial(len, [])}
    (note,) = ipyjaxbench.measure_code(code, names, number=2, repeat=3).notes
    assert "not-called" not in run("f(1); obj.value; (lambda: f(1))()", names)
    assert (note.code, note.advice) == ("not-called", advice)
    assert note.text.startswith(f"{what} is a function, but it is not called: only ")
