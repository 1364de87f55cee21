"""What later calls change in place is put back as the first call left it."""

import math
import random
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.frameworks.state.checkpoint import Checkpoint


class Lists(list):  # type: ignore[type-arg]
    """Its own methods do more than a list's."""

    def clear(self) -> None:
        raise RuntimeError("no")

    extend = __iter__ = __len__ = __setitem__ = clear  # type: ignore[assignment]


class Keyed(dict):  # type: ignore[type-arg]
    """Its own methods do more than a dictionary's."""

    __setitem__ = __delitem__ = keys = values = Lists.clear  # type: ignore[assignment]


MAKE: dict[str, Any] = {
    "x['a'].append(1)": lambda: defaultdict(list),
    "x.n = x.n * 2 + 1": lambda: SimpleNamespace(n=1),
    "x.setdefault('a', []).append({}); x['a'][0][len(x['a'])] = 1": dict,
    "x[1:, 0] = x[1:, 0] * 2": lambda: np.asfortranarray(np.ones((3, 2))),
    "x.random()": lambda: random.Random(0),
}


def shown(value: Any) -> Any:
    if isinstance(value, random.Random):
        return value.getstate()
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("code", MAKE)
def test_it_is_as_one_run_leaves_it(code: str) -> None:
    once, value = {"x": MAKE[code]()}, MAKE[code]()
    exec(code, once)
    names = {"x": value}
    found = ipyjaxbench.measure_code(code, names, number=5, repeat=3)
    assert shown(names["x"]) == shown(once["x"])
    assert names["x"] is value  # the same object
    assert "state-advanced" not in {note.code for note in found.notes}


class Hostile:
    """Answers everything, and raises where Python itself asks."""

    __slots__ = ()

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("no")

    __getattr__ = __eq__ = __hash__ = __len__ = __iter__ = __bool__ = _refuse  # type: ignore[assignment]
    __dict__ = __class__ = property(_refuse)  # type: ignore[assignment]


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

        seen = property(lambda self: asked.append("seen"))

    roots = {"a": Hostile(), "b": [Hostile(), OfMeta, object.__new__(OfMeta)], "c": Told(),
             "d": {"k": Hostile()}, "e": (Hostile(),), "f": Lists([1]), "g": [1],
             "h": Keyed(a=1)}  # fmt: skip
    checkpoint = Checkpoint(roots, loaded()[0], {})
    roots["g"].append(2)
    list.append(roots["f"], 2)
    dict.update(roots["h"], b=2, a=3)
    checkpoint.restore()
    assert (roots["g"], dict.items(roots["h"])) == ([1], {"a": 1}.items())
    assert [*list.__iter__(roots["f"])] == [1]
    assert asked == []


def test_loops_end() -> None:
    loop: list[Any] = [*range(1000)]
    loop.append({"again": loop})
    checkpoint = Checkpoint({"x": loop}, loaded()[0], {})
    loop[0] = math.pi
    checkpoint.restore()
    assert loop[0] == 0


def test_what_is_too_large_is_named_and_leaves_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ipyjaxbench.frameworks.state.copy_budget.MOST", 2000)
    monkeypatch.setattr("ipyjaxbench.frameworks.state.copy_budget._FEWEST_OBJECTS", 2000)
    rows = [[i] for i in range(4000)]
    held = {"rows": rows, "model": [[np.zeros(2)]]}
    checkpoint = Checkpoint(held, loaded()[0], None)
    assert len(checkpoint.held) < 2500
    assert (checkpoint.cut, checkpoint.known) == (["rows"], {"model"})
    held["model"][0][0] += 1
    rows[5].append(1)
    rows.append([0])
    checkpoint.restore()
    assert held["model"][0][0].tolist() == [0.0, 0.0]
    assert (rows[5], len(rows)) == ([5], 4000)
    all_of_them = Checkpoint({"rows": [[i] for i in range(990)]}, loaded()[0], None)
    assert (len(all_of_them.held), all_of_them.cut) == (991, [])
