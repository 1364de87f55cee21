"""What is in play when code runs: values, functions, frameworks and libraries."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from ipyjaxbench.adapters.numpy.framework import NumPy
from ipyjaxbench.adapters.python import Python
from ipyjaxbench.frameworks import Compilation, Framework, Scope, find_placements
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.fake_framework import FakeFramework

FAKE = FakeFramework()
FRAMEWORKS: list[Framework] = [Python(), NumPy(), FAKE]


def array() -> Any:
    return FAKE.device.start(dispatch=0, work=0)


def scope(code: str, **names: Any) -> Scope:
    return Scope(Snippet(Source.plain(code), names), FRAMEWORKS)


def in_play(code: str, **names: Any) -> list[str]:
    return [each.name for each in scope(code, **names).find_frameworks(FRAMEWORKS, ())]


def test_values_are_those_of_names_that_are_read_and_exist() -> None:
    found = scope("y = f(x); z = get_ipython", f=len, x=[1], y=3, get_ipython=len, other=4)
    assert found.read_values == {"f": len, "x": [1]}


def test_arrays_that_are_read_are_inputs_by_their_names() -> None:
    held = {"a": array(), "b": array()}
    found = scope("f(x['a'])", f=len, x=held).inputs
    assert [(each.name, each.arrays, each.framework) for each in found] == [("x['a']", 1, "fake")]
    found = scope("f(x)", f=len, x=held).inputs
    assert [(each.name, each.arrays, each.framework) for each in found] == [("x", 2, "fake")]


def test_arrays_of_two_frameworks_under_one_name_are_two_placements() -> None:
    values = {"x": [array(), np.ones(3), array()], "n": 3}
    found = find_placements(values, FRAMEWORKS)
    assert [(each.name, each.framework, each.arrays) for each in found] == [
        ("x", "fake", 2), ("x", "numpy", 1),
    ]  # fmt: skip


def test_a_framework_is_in_play_by_its_arrays_its_functions_and_what_it_compiles() -> None:
    assert in_play("len(x)", x=[1]) == ["python"]
    assert in_play("len(x)", x=array()) == ["fake"]
    assert in_play("np.sum(x)", np=np, x=array()) == ["numpy", "fake"]
    assert in_play("np.sum(3)", np=np) == ["numpy"]
    assert in_play("f(3)", f=FAKE.device.compile) == ["fake"]


def test_a_framework_is_in_play_by_what_functions_use_and_what_the_code_gives() -> None:
    held = [array()]

    def step() -> int:
        return len(held)

    assert in_play("step()", step=step) == ["fake"]
    found = scope("f(3)", f=len)
    outputs = find_placements({"": array()}, FRAMEWORKS)
    assert [each.name for each in found.find_frameworks(FRAMEWORKS, outputs)] == ["fake"]


class Trainer:
    def __init__(self) -> None:
        self.inner = SimpleNamespace(step=len)

    def fit(self) -> None: ...


def test_what_is_called_by_a_dotted_name_is_known() -> None:
    trainer = Trainer()
    found = scope("t.inner.step([1]); t.fit(); t.missing()", t=trainer)
    assert found.called == {"t.inner.step": len, "t.fit": Trainer.fit}
    found = scope("get_ipython().run_line_magic('time', 't.fit()')", t=trainer)
    assert found.called == {"t.fit": Trainer.fit}


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A library with a function and a class."""
    module: Any = ModuleType("library_of_a_test")
    module.__version__ = "1.2"
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec("def made(): return 3\nclass Model: pass", vars(module))
    return module


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("lib.made()", True), ("made()", True), ("f(model)", True), ("f(own)", True),
        ("mine()", True), ("f(3)", False), ("json.dumps(3)", False), ("f(x)", False),
        ("np.sum(x)", False), ("deep()", False),
    ],
)  # fmt: skip
def test_versions_are_those_of_libraries_that_the_code_names(
    code: str, named: bool, library: Any
) -> None:
    import json

    names: dict[str, Any] = {
        "lib": library, "made": library.made, "model": library.Model(), "json": json, "np": np,
        "own": type("Own", (library.Model,), {"__module__": "__main__"})(), "f": len,
        "x": np.ones(3),
    }  # fmt: skip
    exec("def mine(): return lib.made()\ndef deep(): return mine()", names)
    versions = scope(code, **names).libraries(FRAMEWORKS)
    assert versions == ({"library_of_a_test": "1.2"} if named else {})


def test_a_library_without_a_version_is_left_out(library: Any) -> None:
    library.__version__ = 3
    assert scope("lib.made()", lib=library).libraries(FRAMEWORKS) == {}
    assert scope("x", x=Python()).libraries(FRAMEWORKS) == {}


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
