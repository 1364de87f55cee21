"""After how many calls a compilation is paid back: functions measured eager and compiled."""

import gc
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.frameworks import Compilation, Program
from ipyjaxbench.testing import FakeArray
from ipyjaxbench.timing import break_even
from ipyjaxbench.timing.compile_cost import ColdCallResult
from ipyjaxbench.timing.measurement import Measurement
from tests.bench import MS, Bench
from tests.results import measured


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    break_even._known.clear()
    yield
    break_even._known.clear()


class Pair:
    """A function that takes 12 ms, and the same compiled in 140 ms to take 2 ms."""

    def __init__(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bench = bench
        compiled: set[int] = set()
        quick = [False]

        def step(*_: object, **__: object) -> None:
            bench.clock.advance(2 * MS if quick[0] else 12 * MS)

        def run(function: Callable[..., None], *args: object, **kwargs: object) -> None:
            if id(function) not in compiled or bench.device.cold:
                compiled.add(id(function))
                bench.device.compile(140 * MS, "step")
            quick[0] = True
            try:
                function(*args, **kwargs)
            finally:
                quick[0] = False

        class Compiled(partial):  # type: ignore[type-arg]
            pass

        compilation = bench.framework.capability(Compilation)
        original = lambda f: f.args[0] if isinstance(f, partial) else None  # noqa: E731
        monkeypatch.setattr(compilation, "compiles", lambda value: isinstance(value, Compiled))
        monkeypatch.setattr(compilation, "original", original)
        monkeypatch.setattr(bench.framework, "parts", lambda value: None)
        self.make = lambda function: Compiled(run, function)
        bench.names.update(step=step, fast=self.make(step), x=self.array(), y=self.array())

    def array(self) -> FakeArray:
        return FakeArray(self.bench.device, 0)

    def time(self, code: str, **options: Any) -> Measurement:
        return self.bench.time(code, number=1, repeat=10, **options)


@pytest.fixture
def pair(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Pair:
    return Pair(bench, monkeypatch)


def paid(m: Measurement) -> tuple[bool, float, float] | None:
    c = m.counterpart
    return None if c is None else (c.compiled, c.per_call, c.compilation)


def test_the_compiled_call_tells_when_it_is_paid_back(pair: Pair) -> None:
    assert pair.time("step(x)").counterpart is None
    m = pair.time("fast(x)")
    assert paid(m) == pytest.approx((False, 0.012, 0.14))
    assert "break-even   after 14 calls (eager 12 ms, compiled 2.0 ms" in str(m)
    assert paid(pair.time("z = step(y)")) == pytest.approx((True, 0.002, 0.14))  # and the eager one
    m = pair.time("fast(x)")
    assert m.phases == {}  # what compiling cost is remembered
    assert paid(m) == pytest.approx((False, 0.012, 0.14))


def test_what_compiling_cost_has_to_be_known(pair: Pair) -> None:
    pair.bench.names["fast"](pair.bench.names["x"])
    pair.time("step(x)")
    assert pair.time("fast(x)").counterpart is None
    assert paid(pair.time("fast(x)", fresh=True)) == pytest.approx((False, 0.012, 0.14))


ALIKE = [
    ("step(x, k=3)", "fast(x, k=3)"), ("step(both)", "fast(both)"),
    ("step('a', x)", "fast('a', x)"), ("module.step(x)", "module.fast(x)"),
]  # fmt: skip
APART = [
    ("step(x)", "fast(x, y)"), ("step(x)", "fast(3)"), ("step(x)", "fast(a=x)"),
    ("step(x)", "fast(x); 1"), ("step(x)", "fast(both)"), ("step(x)", "other(x)"),
    ("step(x)", "holder['f'](x)"), ("step(x, 3)", "fast(x, 4)"), ("step(x, 3)", "fast(x, 3.0)"),
    ("step(x, a=3)", "fast(x, b=3)"), ("step(x, n)", "fast(x, flag)"),
    ("step(bare)", "fast(bare)"),  # an object without arrays
    ("thing.step(x)", "thing.fast(x)"),  # a method
    ("slotted(x)", "fast(x)"),  # which cannot be held weakly
]  # fmt: skip


@pytest.mark.parametrize(("eager", "compiled"), [*ALIKE, *APART])
def test_calls_with_arguments_alike_are_compared(pair: Pair, eager: str, compiled: str) -> None:
    names = pair.bench.names
    own = {"step": names["step"], "fast": names["fast"]}
    names |= {"both": [pair.array(), pair.array()], "other": pair.make(lambda x: None), "n": 1,
              "bare": SimpleNamespace(), "holder": {"f": names["fast"]}, "flag": True,
              "thing": SimpleNamespace(**own), "module": ModuleType("module")}  # fmt: skip
    vars(names["module"]).update(own)
    slotted = {"__slots__": (), "__call__": lambda self, x: None}
    names["slotted"] = type("Slotted", (), slotted)()
    pair.time(eager)
    assert (pair.time(compiled).counterpart is not None) is ((eager, compiled) in ALIKE)


LOADED = (Program("f", 0.1, "disk cache", "jax"),)


@pytest.mark.parametrize(
    ("facts", "seconds"),
    [
        ({"phases": {"trace": 0.1, "compile": 0.3}}, 0.4),
        ({"phases": {"trace": 0.1, "compile": None}}, 0.499),  # all that a first call took longer
        ({"phases": {}}, None),
        ({"phases": {"cache load": 0.1}, "programs": LOADED}, None),
        ({"phases": {"cache load": 0.1}, "programs": LOADED,
          "fresh": ColdCallResult(0.8, {"compile": 0.7})}, 0.7),
        ({"phases": {}, "fresh": ColdCallResult(0.8, {"compile": None})}, 0.799),
        ({"phases": {}, "fresh": ColdCallResult(None, {})}, None),
        ({"phases": {}, "fresh": ColdCallResult(None, {"compile": None})}, None),
    ],
)  # fmt: skip
def test_what_compiling_cost_is_told_by_a_call(
    facts: dict[str, Any], seconds: float | None
) -> None:
    m = measured([MS] * 30, first_call=0.5, **facts)
    assert break_even._compilation(m) == pytest.approx(seconds)


def test_a_few_are_remembered_but_no_array_no_single_call_and_none_that_compiles_each_time(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = pair.bench.names
    pair.bench.time("step(x)", number=1, repeat=1)
    names["anew"] = lambda x: pair.bench.device.compile(40 * MS)
    assert pair.time("anew(x)").verdict == "RECOMPILES"
    assert not break_even._known
    names.update(short=lambda x: None, mine=pair.array())
    pair.time("short(mine)")
    gone = [weakref.ref(names.pop("short")), weakref.ref(names.pop("mine"))]
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
    monkeypatch.setattr(break_even, "_MAX_REMEMBERED", 3)
    for number in range(6):
        pair.time(f"step({number})")
    assert len(break_even._known) == 3
