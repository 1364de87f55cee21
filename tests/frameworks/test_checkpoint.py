"""What later calls change in place is put back as the first call left it."""

import contextlib
import functools
import math
import random
from array import array
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench import Measurement
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.frameworks.state.checkpoint import Checkpoint

TOTAL = 0


class Plain:
    """Keeps what it counts in an attribute and in its class."""

    made = 0

    def __init__(self) -> None:
        self.n = 0

    def step(self) -> None:
        self.n += 1
        type(self).made += 1


class Lists(list):  # type: ignore[type-arg]
    """Its own methods do more than a list's."""

    def clear(self) -> None:
        raise RuntimeError("no")

    extend = __iter__ = clear  # type: ignore[assignment]


def closing() -> tuple[Any, Any]:
    n, seen = 0, []

    def step() -> None:
        nonlocal n
        n += 1
        seen.append(n)

    return step, lambda: (n, [*seen])


def global_step() -> None:
    global TOTAL
    TOTAL += 1


def run(code: str, names: dict[str, Any], **options: Any) -> Measurement:
    return ipyjaxbench.measure_code(code, names, **(options or {"number": 5, "repeat": 3}))


def codes(m: Measurement) -> set[str]:
    return {note.code for note in m.notes}


MAKE: dict[str, Any] = {
    "x.reverse(); x.append(3)": lambda: [1, 2],
    "x['a'].append(1)": lambda: defaultdict(list),
    "x.append(1.5)": lambda: array("d"),
    "x.n = x.n * 2 + 1": lambda: SimpleNamespace(n=1),
    "x.setdefault('a', []).append({}); x['a'][0][len(x['a'])] = 1": dict,
    "x[1:, 0] = x[1:, 0] * 2": lambda: np.asfortranarray(np.ones((3, 2))),
    "x.random(3)": lambda: np.random.default_rng(0),
    "x.random()": lambda: random.Random(0),
}


def shown(value: Any) -> Any:
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    if isinstance(value, random.Random):
        return value.getstate()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [*value.items()] if isinstance(value, dict) else value


@pytest.mark.parametrize("code", MAKE)
def test_it_is_as_one_run_leaves_it(code: str) -> None:
    once = {"x": MAKE[code]()}
    exec(code, once)
    value = MAKE[code]()
    names = {"x": value}
    found = run(code, names)
    assert shown(names["x"]) == shown(once["x"])
    assert names["x"] is value  # the same object
    assert "state-advanced" not in codes(found)


def test_what_functions_close_over_globals_and_objects_of_methods_are_put_back() -> None:
    global TOTAL
    TOTAL = 0
    step, look = closing()
    items, held = [0], Plain()
    names = {"step": step, "other": functools.partial(global_step), "add": items.append}
    run("step(); other(); add(1); go()", {**names, "go": held.step})
    assert look() == (1, [1])
    assert (TOTAL, items, held.n) == (1, [0, 1], 1)


def test_what_changes_in_a_late_call_only_is_put_back() -> None:
    turns, late, buffer = iter(range(100)), [0], np.zeros(3)

    def step() -> None:
        if next(turns) == 7:
            late.append(1)
            buffer[1] = 9

    run("step()", {"step": step})
    assert (late, buffer.tolist()) == ([0], [0, 0, 0])


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_it_is_put_back_when_a_later_call_raises(error: type[BaseException]) -> None:
    items: list[int] = []

    def step() -> None:
        items.append(1)
        if len(items) == 4:
            raise error("four")

    with contextlib.suppress(KeyboardInterrupt):
        found = run("step()", {"step": step})
        assert "stopped-by-error" in codes(found)
    assert items == [1]


def test_without_restoring_all_calls_count_and_it_is_said() -> None:
    items: list[int] = []
    numbers = np.zeros(2)
    names = {"items": items, "numbers": numbers}
    found = run("items.append(1); numbers[0] += 1", names, number=5, repeat=3, restore=False)
    assert (len(items), numbers.tolist()) == (15, [15, 0])
    (note,) = [note for note in found.notes if note.code == "state-advanced"]
    assert "items" in note.text
    assert "numbers" in note.text
    assert "restore=False" in note.text


def test_what_does_not_change_is_not_said() -> None:
    names = {"x": np.ones(100), "d": {"a": [1]}, "sum": sum}
    assert "put-back" not in codes(run("x.sum(); d['a'][0]", names))


def test_what_no_memory_holds_is_not_copied_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ipyjaxbench.frameworks.state.copy_budget._UNCHECKED_BYTES", 0)
    monkeypatch.setattr("ipyjaxbench.frameworks.state.undo.host_memory", lambda: 100)
    large, small = np.zeros(100), np.zeros(2)
    found = run("large[0] += 1; small[0] += 1", {"small": small, "large": large})
    assert (large[0], small[0]) == (15, 1)
    (note,) = [note for note in found.notes if note.code == "state-advanced"]
    assert note.text.startswith("'large' advanced by 15 calls instead of one")


class Hostile:
    """Answers everything, and raises where Python itself asks."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no")

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("no")

    @property
    def __class__(self) -> Any:
        raise RuntimeError("no")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __hash__(self) -> int:
        raise RuntimeError("no")

    __len__ = __iter__ = __bool__ = __hash__  # type: ignore[assignment]


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError("no")

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]


def test_no_code_of_what_is_looked_at_is_run() -> None:
    asked: list[str] = []

    class OfMeta(metaclass=Meta):
        pass

    class Told:
        def __getattribute__(self, name: str) -> Any:
            asked.append(name)
            return object.__getattribute__(self, name)

        @property
        def seen(self) -> int:
            asked.append("seen")
            return 1

    roots = {"a": Hostile(), "b": [Hostile(), OfMeta, object.__new__(OfMeta)], "c": Told(),
             "d": {"k": Hostile()}, "e": (Hostile(),), "f": Lists([1]), "g": [1]}  # fmt: skip
    checkpoint = Checkpoint(roots, loaded()[0], {})
    roots["g"].append(2)
    list.append(roots["f"], 2)
    checkpoint.restore()
    assert roots["g"] == [1]
    assert [*list.__iter__(roots["f"])] == [1]
    assert asked == []


def test_loops_end() -> None:
    loop: list[Any] = [*range(1000)]
    loop.append({"again": loop})
    checkpoint = Checkpoint({"x": loop}, loaded()[0], {})
    loop[0] = math.pi
    checkpoint.restore()
    assert loop[0] == 0


def test_caches_of_libraries_are_left_alone() -> None:
    known: dict[str, int] = {}

    def cached() -> None:
        known["k"] = len(known)

    library = type(cached)(
        cached.__code__.replace(co_filename="/usr/lib/python3/site-packages/lib.py"),
        globals(), "cached", None, cached.__closure__,
    )  # fmt: skip
    checkpoint = Checkpoint({"f": library}, loaded()[0], {})
    library()
    checkpoint.restore()
    assert known == {"k": 0}


def test_what_is_too_large_to_keep_is_named_and_leaves_room_for_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ipyjaxbench.frameworks.state.checkpoint._MOST", 2000)
    rows = [[i] for i in range(4000)]
    held = {"rows": rows, "model": [[np.zeros(2)]]}
    checkpoint = Checkpoint(held, loaded()[0], None)
    assert len(checkpoint.held) < 2500
    assert checkpoint.cut == ["rows"]
    assert checkpoint.known == {"model"}
    held["model"][0][0] += 1
    rows[5].append(1)
    rows.append([0])
    checkpoint.restore()
    assert held["model"][0][0].tolist() == [0.0, 0.0]
    assert (rows[5], len(rows)) == ([5], 4000)
    all_of_them = Checkpoint({"rows": [[i] for i in range(990)]}, loaded()[0], None)
    assert (len(all_of_them.held), all_of_them.cut) == (991, [])
