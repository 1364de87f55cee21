"""What is in play when code runs: values and their parts, functions, frameworks, libraries."""

import ast
import dataclasses
import json
import sys
from collections import OrderedDict, defaultdict, namedtuple
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from ipyjaxbench.adapters.numpy.framework import NumPy
from ipyjaxbench.adapters.python import Python
from ipyjaxbench.frameworks import (
    Compilation,
    Framework,
    Placement,
    Scope,
    find_placements,
)
from ipyjaxbench.frameworks.accesses import find_accessed
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.fake_framework import FakeFramework

FAKE = FakeFramework()
FRAMEWORKS: list[Framework] = [Python(), NumPy(), FAKE]


def array() -> Any:
    return FAKE.device.start(dispatch=0, work=0)


def scope(code: str, **names: Any) -> Scope:
    return Scope(Snippet(Source.plain(code), names), FRAMEWORKS)


def test_values_are_those_of_names_that_are_read_and_exist() -> None:
    found = scope("y = f(x); z = get_ipython", f=len, x=[1], y=3, get_ipython=len, other=4)
    assert found.read_values == {"f": len, "x": [1]}


def test_arrays_that_are_read_are_inputs_by_their_names() -> None:
    held = {"a": array(), "b": array()}
    for code, name, arrays in (("f(x['a'])", "x['a']", 1), ("f(x)", "x", 2)):
        (found,) = scope(code, f=len, x=held).inputs
        assert (found.name, found.arrays, found.framework) == (name, arrays, "fake")


def test_arrays_of_two_frameworks_under_one_name_are_two_placements() -> None:
    found = find_placements({"x": [array(), np.ones(3), array()], "n": 3}, FRAMEWORKS)
    assert [(each.name, each.framework, each.arrays) for each in found] == [
        ("x", "fake", 2), ("x", "numpy", 1),
    ]  # fmt: skip


HELD = [array()]


def uses_held() -> int:
    return len(HELD)


@pytest.mark.parametrize(("code", "names", "given", "named"), [
    ("len(x)", {"x": [1]}, None, ["python"]), ("len(x)", {"x": array()}, None, ["fake"]),
    ("np.sum(x)", {"np": np, "x": array()}, None, ["numpy", "fake"]),
    ("np.sum(3)", {"np": np}, None, ["numpy"]),
    ("f(3)", {"f": FAKE.device.compile}, None, ["fake"]),
    ("f()", {"f": uses_held}, None, ["fake"]), ("f(3)", {"f": len}, array(), ["fake"]),
])  # fmt: skip
def test_a_framework_is_in_play(
    code: str, names: dict[str, Any], given: Any, named: list[str]
) -> None:
    outputs = find_placements({"": given}, FRAMEWORKS)
    found = scope(code, **names).find_frameworks(FRAMEWORKS, outputs)
    assert [each.name for each in found] == named


class Trainer:
    def __init__(self) -> None:
        self.inner = SimpleNamespace(step=len)

    def fit(self) -> None: ...


def test_what_is_called_by_a_dotted_name_is_known() -> None:
    found = scope("t.inner.step([1]); t.fit(); t.missing()", t=Trainer())
    assert found.called == {"t.inner.step": len, "t.fit": Trainer.fit}
    found = scope("get_ipython().run_line_magic('time', 't.fit()')", t=Trainer())
    assert found.called == {"t.fit": Trainer.fit}


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A library with a function and a class."""
    module: Any = ModuleType("library_of_a_test")
    module.__version__ = "1.2"
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec("def made(): return 3\nclass Model: pass", vars(module))
    return module


@pytest.mark.parametrize(("code", "named"), [
    ("lib.made()", True), ("made()", True), ("f(model)", True), ("f(own)", True), ("mine()", True),
    ("f(3)", False), ("json.dumps(3)", False), ("f(x)", False), ("np.sum(x)", False),
    ("deep()", False),
])  # fmt: skip
def test_versions_are_of_what_is_named(code: str, named: bool, library: Any) -> None:
    names: dict[str, Any] = {
        "lib": library, "made": library.made, "model": library.Model(), "json": json, "np": np,
        "own": type("Own", (library.Model,), {"__module__": "__main__"})(), "f": len,
        "x": np.ones(3),
    }  # fmt: skip
    exec("def mine(): return lib.made()\ndef deep(): return mine()", names)
    versions = {"library_of_a_test": "1.2"} if named else {}
    assert scope(code, **names).libraries(FRAMEWORKS) == versions
    library.__version__ = 3  # none that can be told
    assert scope(code, **names).libraries(FRAMEWORKS) == {}


class OfLibrary(Compilation):
    """Compiles a function of the library."""

    def compiles(self, value: object) -> bool:
        return getattr(value, "__name__", "") == "made"


class Compiling(FakeFramework):
    capabilities: ClassVar = {"Compilation": f"{__name__}:OfLibrary"}


def test_what_a_framework_compiles_and_its_arrays_name_no_library(library: Any) -> None:
    frameworks = [Python(), Compiling()]
    names = {"made": library.made, "model": library.Model(), "x": array()}
    for code, versions in (("made(x)", {}), ("made(model)", {"library_of_a_test": "1.2"})):
        found = Scope(Snippet(Source.plain(code), names), frameworks)
        assert found.compiled == [library.made]
        assert found.libraries(frameworks) == versions


class Slots:
    """Two slots, one of them empty."""

    __slots__ = ("full", "missing")

    def __init__(self) -> None:
        self.full = 1


RAN: list[object] = []


def _run(*args: Any) -> Any:
    RAN.append(args)
    raise AttributeError


class Model:
    """Attributes, and some whose code would run."""

    computed = property(_run)
    method = __getattr__ = _run

    def __init__(self) -> None:
        self.w = 1


class Shouting(dict[str, int]):
    """A dictionary with code of its own."""

    __getitem__ = _run


VALUES: dict[str, Any] = {
    "f": len,
    "d": {"a": {"b": 1}, 3: 2, "m": Model()},
    "l": [5, [6, 7]],
    "p": namedtuple("Pair", "left right")(1, 2),
    "s": Slots(),
    "n": SimpleNamespace(a=SimpleNamespace(b=1), b=2),
    "m": Model(),
    "q": type("Fields", (), {"_fields": ("w",), "__init__": Model.__init__})(),  # no tuple
    "o": OrderedDict(a=1),
    "e": defaultdict(list, a=1),
    "loud": Shouting(a=1),
    "i": 3,
}


@pytest.mark.parametrize(("code", "parts"), [
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
])  # fmt: skip
def test_parts_are_read_by_constant_items_and_attributes(code: str, parts: set[str]) -> None:
    names = {n.id for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Name)}
    values = {name: VALUES[name] for name in VALUES if name in names}
    assert {*find_accessed(ast.parse(code).body, values, [])} - {"f"} == parts
    assert (RAN, "new" in VALUES["e"]) == ([], False)


def place(**changes: object) -> Placement:
    """One array of 3 by 4 numbers."""
    base = Placement("x", "jax", 1, "float32", (3, 4), ("cpu:0",), 48)
    return dataclasses.replace(base, **changes)


@pytest.mark.parametrize(("changes", "words"), [
    ({}, "x f32[3,4] cpu:0"), ({"name": ""}, "f32[3,4] cpu:0"),
    ({"shape": ()}, "x f32[] cpu:0"), ({"devices": ()}, "x f32[3,4]"),
    ({"devices": ("cuda:0", "cuda:1")}, "x f32[3,4] cuda:0, cuda:1"),
    ({"devices": ("tpu:0", "tpu:1", "tpu:2")}, "x f32[3,4] tpu:0 … tpu:2 (3 devices)"),
    ({"arrays": 12, "shape": None, "nbytes": 3_565_158}, "x 12 arrays 3.40 MiB cpu:0"),
    ({"dtype": "bfloat16"}, "x bf16[3,4] cpu:0"),
])  # fmt: skip
def test_a_placement_is_told_in_a_few_words(changes: dict, words: str) -> None:
    assert place(**changes).words() == words


def test_of_several_arrays_their_number_bytes_and_devices_are_told() -> None:
    assert Placement.together("y", [place()]) == place(name="y")
    parts = [place(devices=("cpu:1", "cpu:0")), place(shape=(5,), nbytes=20)]
    together = Placement.together("params", parts)
    assert together == Placement("params", "jax", 2, "float32", None, ("cpu:0", "cpu:1"), 68)
    mixed = Placement.together("p", [place(), place(dtype="int8")])
    assert (mixed.dtype, mixed.words()) == ("mixed", "p 2 arrays 96 B cpu:0")


@pytest.mark.parametrize("fact", ["view", "recorded"])
def test_what_is_so_of_all_of_them_is_told_apart_from_what_is_so_of_one(fact: str) -> None:
    plain, other = place(), place(**{fact: True})
    together = [Placement.together("p", ps) for ps in ([plain], [other, other], [plain, other])]
    assert [getattr(each, fact) for each in together] == [False, True, fact == "recorded"]


def test_gpus_are_known_by_their_names() -> None:
    devices = ("cuda:0",), ("cpu:0", "gpu:1"), ("cpu:0", "tpu:0"), ()
    assert [place(devices=each).on_gpu for each in devices] == [True, True, False, False]
