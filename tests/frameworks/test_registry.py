"""Adapters are found by what is imported; others can add theirs."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

import ipyjaxbench
from ipyjaxbench.frameworks import registry

ADAPTER = """
from ipyjaxbench.frameworks import Synchronous
from ipyjaxbench.frameworks.placement import Placement

class Toy(Synchronous):
    name = "toy"
    module = "toylib"
    def version(self): return "0.1"
    def owns(self, kind): return kind.__name__ == "ToyArray"
    def placement(self, array): return Placement("", "toy", 1, "float32", (3,), ("toy:0",), 12)
"""


@pytest.fixture
def third_party(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that names an adapter in its metadata, as pip leaves it."""
    (tmp_path / "toy_adapter.py").write_text(ADAPTER)
    (tmp_path / "toylib.py").write_text("class ToyArray: pass")
    info = tmp_path / "toy_adapter-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-adapter\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[ipyjaxbench.frameworks]\ntoylib = toy_adapter:Toy\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry._entry_points.cache_clear()
    yield
    registry._entry_points.cache_clear()
    registry._made.pop("toylib", None)
    for name in ("toylib", "toy_adapter"):
        sys.modules.pop(name, None)


def test_a_third_party_adds_a_framework_by_an_entry_point(third_party: None) -> None:
    import toylib

    result = ipyjaxbench.measure_code("y = x", {"x": toylib.ToyArray()}, number=2, repeat=2)
    assert result.frameworks == {"toy": "0.1"}
    assert [p.words() for p in result.inputs] == ["x f32[3] toy:0"]


def test_an_adapter_is_not_loaded_before_its_framework(third_party: None) -> None:
    ipyjaxbench.measure_code("1 + 1", {}, number=1, repeat=1)
    assert "toy_adapter" not in sys.modules


def test_a_framework_that_is_broken_is_told_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(registry._made, "torch", raising=False)
    adapter = "ipyjaxbench.adapters.torch"
    for name in [name for name in sys.modules if name.startswith(adapter)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    result = ipyjaxbench.measure_code("sum(range(99_999))", {}, number=2, repeat=2)
    for name in [name for name in sys.modules if name.startswith(adapter)]:
        del sys.modules[name]  # what saw the broken one
    (note,) = result.notes
    assert note.code == "not-usable"
    assert note.text.startswith("torch is imported but cannot be used (")
    assert result.median > 0


@pytest.mark.parametrize(
    ("said", "told"), [("no\nbecause", "RuntimeError: no"), ("x" * 90, f"RuntimeError: {'x' * 86}")]
)
def test_why_a_framework_cannot_be_used_is_said_in_one_short_line(
    third_party: None, monkeypatch: pytest.MonkeyPatch, said: str, told: str
) -> None:
    import toy_adapter
    import toylib  # noqa: F401

    def refuse(_: object) -> None:
        raise RuntimeError(said)

    monkeypatch.setattr(toy_adapter.Toy, "__init__", refuse)
    usable, broken = registry.loaded()
    assert broken["toylib"] == told
    assert "toy" not in {framework.name for framework in usable}


def test_an_adapter_is_made_once(third_party: None) -> None:
    import toylib  # noqa: F401

    first, second = (
        [each for each in registry.loaded()[0] if each.name == "toy"] for _ in range(2)
    )
    assert len(first) == 1
    assert first[0] is second[0]
    assert registry.loaded()[0][0].name == "python"
