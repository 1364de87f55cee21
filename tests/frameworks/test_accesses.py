"""Which parts of values code reads: no more of them than it names, and no code is run to know."""

import ast
from collections import OrderedDict, defaultdict
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from ipyjaxbench.frameworks.accesses import find_accessed


class Pair(NamedTuple):
    """A tuple with names."""

    left: int
    right: int


class Slots:
    """Two slots, one of them empty."""

    __slots__ = ("full", "missing")

    def __init__(self) -> None:
        self.full = 1


class Model:
    """Attributes, and some whose code would run."""

    runs = 0

    def __init__(self) -> None:
        self.w = 1
        self.hidden = 2

    @property
    def computed(self) -> int:
        Model.runs += 1
        return 0

    def method(self) -> None:
        Model.runs += 1

    def __getattr__(self, name: str) -> Any:
        Model.runs += 1
        raise AttributeError(name)


class Fields:
    """An object with names of fields, and no tuple."""

    _fields = ("w",)

    def __init__(self) -> None:
        self.w = 1


class Shouting(dict[str, int]):
    """A dictionary with code of its own."""

    def __getitem__(self, key: str) -> int:
        Model.runs += 1
        return super().__getitem__(key)


VALUES: dict[str, Any] = {
    "f": len,
    "d": {"a": {"b": 1}, 3: 2, "m": Model()},
    "l": [5, [6, 7]],
    "p": Pair(1, 2),
    "s": Slots(),
    "n": SimpleNamespace(a=SimpleNamespace(b=1), b=2),
    "m": Model(),
    "q": Fields(),
    "o": OrderedDict(a=1),
    "e": defaultdict(list, a=1),
    "loud": Shouting(a=1),
    "i": 3,
}


def read(code: str) -> set[str]:
    """What is read, but for the function."""
    names = {n.id for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Name)}
    values = {name: VALUES[name] for name in VALUES if name in names}
    Model.runs = 0
    found = find_accessed(ast.parse(code).body, values, [])
    assert Model.runs == 0
    return set(found) - {"f"}


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("f(d['a']['b'], d[3])", {"d['a']['b']", "d[3]"}), ("f(d['m'].w)", {"d['m'].w"}),
        ("f(l[0], l[-1][0])", {"l[0]", "l[-1][0]"}), ("f(p.left)", {"p.left"}),
        ("f(s.full)", {"s.full"}), ("f(n.a.b)", {"n.a.b"}), ("f(q.w)", {"q.w"}),
        ("f(o['a'], e['a'])", {"o['a']", "e['a']"}), ("d['a'] = f(l[1])", {"d['a']", "l[1]"}),
        ("[f(d['a']) for _ in l]", {"d['a']", "l"}), ("f(l[d[3]])", {"l", "d[3]"}),
        # All of a value is read where its parts are not known.
        ("f(d['a'], d)", {"d"}), ("f(d['missing'])", {"d"}), ("f(l[i])", {"l", "i"}),
        ("f(l[:1])", {"l"}), ("m.method()", {"m"}), ("f(m.computed, m.w)", {"m"}),
        ("f(m.missing)", {"m"}), ("f(s.missing)", {"s"}), ("f(e['new'])", {"e"}),
        ("f(loud['a'])", {"loud"}), ("f(d['a'].items())", {"d['a']"}),
    ],
)  # fmt: skip
def test_parts_are_read_by_constant_items_and_attributes(code: str, parts: set[str]) -> None:
    assert read(code) == parts
    assert "new" not in VALUES["e"]
