"""Where values live: array by array, and name by name of a session."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ipyjaxbench.device import ArrayPlacement, Shard, Sharding, Whereabouts, locate, survey
from ipyjaxbench.frameworks import walker
from tests.device.conftest import Frameworks
from tests.device.fake import Array, Mesh, OtherArray

BOTH = ("fake:0", "fake:1")
HALVES = Sharding((8,), (Shard("fake:0", ((0, 4),)), Shard("fake:1", ((4, 8),))))


def shown(found: Whereabouts) -> list[tuple[str, int, int, str]]:
    return [(each.name, each.arrays, each.nbytes, each.of) for each in found.arrays]


def test_each_array_of_a_value_has_its_path(frameworks: Frameworks) -> None:
    a, b = Array(4), Array(8)
    found = locate({"x": a, "y": {"w": [b, a]}, "z": OtherArray(), "s": {Array(4), Array(8)}})
    assert found.asked == ("x", "y", "z", "s")
    assert shown(found) == [
        ("x", 1, 4, ""), ("y['w'][0]", 1, 8, ""), ("y['w'][1]", 1, 4, "x"), ("z", 1, 8, ""),
        ("s", 2, 12, ""),  # without a path
    ]  # fmt: skip
    assert [home.framework for home in found.homes] == ["fake"]  # the other has no devices
    assert [each.framework for each in found.arrays] == ["fake", "fake", "fake", "other", "fake"]
    assert locate({"z": OtherArray()}).homes == ()


def test_of_shared_memory_the_largest_array_is_the_owner(frameworks: Frameworks) -> None:
    base = Array(8)
    half, other = Array(4, base=base), Array(4, base=base)
    assert shown(locate({"half": half, "base": base, "other": other})) == [
        ("half", 1, 4, "base"), ("base", 1, 8, ""), ("other", 1, 4, "base"),
    ]  # fmt: skip
    assert shown(locate({"half": half, "other": other})) == [
        ("half", 1, 4, ""), ("other", 1, 4, "half"),
    ]  # fmt: skip


def test_what_is_no_array_is_what_frameworks_say_of_it(frameworks: Frameworks) -> None:
    found = locate({"n": 3, "mesh": Mesh(), "objects": Array(dtype="object")})
    assert [(each.name, each.framework, each.dtype, each.layout) for each in found.arrays] == [
        ("n", "", "int", ""), ("mesh", "", "Mesh", "a mesh"), ("objects", "", "Array", ""),
    ]  # fmt: skip
    assert (found.homes, found.unnamed, found.largest) == ((), {}, ())


def test_very_many_arrays_are_one_line(
    frameworks: Frameworks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def limit(most: int) -> None:
        monkeypatch.setattr(sys.modules["ipyjaxbench.device.locate"], "_MAX_LEAVES", most)

    limit(2)
    base = Array(8)
    rest = [base, Array(4, base=base), Array(2, devices=("fake:1",)), Array(dtype="object")]
    found = locate({"x": [Array(1), Array(1), *rest]})
    assert shown(found)[:2] == [("x[0]", 1, 1, ""), ("x[1]", 1, 1, "")]
    assert [(each.name, each.arrays, each.nbytes, each.devices) for each in found.arrays[2:]] == [
        ("...", 2, 8, ("fake:0",)), ("...", 1, 2, ("fake:1",)),
    ]  # fmt: skip
    assert [each.name for each in locate({"x": rest[:2]}).arrays] == ["x[0]", "x[1]"]
    limit(1)
    frameworks.fake.live += [base]
    named = survey({"x": [base, Array(4, base=base), Array(2)]})
    assert (shown(named), named.unnamed) == ([("x", 3, 10, "")], {})  # counted once
    limit(0)
    cut = [Array(8, devices=BOTH, sharding=HALVES) for _ in range(3)]
    (line,) = locate({"x": [*cut, Array(8, devices=BOTH)]}).arrays
    assert (line.name, line.arrays, line.nbytes, line.devices) == ("...", 4, 32, BOTH)
    assert line.on_devices() == {"fake:0": 12 + 8, "fake:1": 12 + 8}


@pytest.mark.parametrize(("arrays", "words"), [(0, "no arrays"), (1, "no more arrays")])
def test_a_value_that_is_too_large_says_so(
    frameworks: Frameworks, monkeypatch: pytest.MonkeyPatch, arrays: int, words: str
) -> None:
    monkeypatch.setattr(walker, "_MAX_PLAIN", 4)
    *found, rest = locate({"x": [*[Array()] * arrays, *([object()] for _ in range(9))]}).arrays
    assert len(found) == arrays
    assert (rest.name, rest.framework, rest.dtype) == ("x", "", "list")
    assert rest.layout == f"{words} in the part searched; too large to search completely"


@pytest.mark.parametrize("look", [locate, survey])
def test_frameworks_start_where_that_is_asked_for_alone(frameworks: Frameworks, look: Any) -> None:
    frameworks.fake.has_started = False
    look({"x": Array()})
    assert not frameworks.fake.has_started
    (home,) = look({"x": Array()}, start=True).homes
    assert (home.started, len(home.devices)) == (True, 2)


# A session


def test_each_name_of_a_session_is_one_line(frameworks: Frameworks) -> None:
    x, tree = Array(16), {"a": Array(4), "b": [Array(8)]}
    names = {"x": x, "tree": tree, "n": 3, "_hidden": Array(), "again": x, "both": [x, Array(1)],
             "f": shown, "sys": sys, "Array": Array}  # fmt: skip
    found = survey(names)
    assert found.asked == ()
    assert shown(found) == [
        ("x", 1, 16, ""), ("tree", 2, 12, ""), ("again", 1, 16, "x"), ("both", 2, 1, ""),
    ]  # fmt: skip
    assert found.arrays[3].layout == "1 sharing memory with others"
    assert [home.framework for home in survey({}).homes] == ["fake"]


def test_a_name_with_arrays_on_several_devices_has_several_lines(frameworks: Frameworks) -> None:
    dead = Array(4, deleted=True)
    tree = [Array(4), Array(2, devices=("fake:1",)), OtherArray(), Array(1), dead]
    found = survey({"tree": tree})
    assert [(each.framework, each.devices, each.arrays, each.nbytes) for each in found.arrays] == [
        ("fake", ("fake:0",), 3, 5), ("fake", ("fake:1",), 1, 2), ("other", (), 1, 8),
    ]  # fmt: skip
    assert (found.arrays[0].layout, found.arrays[0].parts) == ("1 deleted", ())
    alone = locate({"x": dead, "y": Array(2)})
    assert [each.deleted for each in alone.arrays] == [True, False]
    assert alone.by_device() == {"fake:0": (1, 2)}  # it takes nothing
    # Of an array that is cut each device has its part.
    cut = [Array(8, devices=BOTH, sharding=HALVES), Array(4, devices=BOTH)]
    (line,) = survey({"tree": cut}).arrays
    assert (line.parts, line.nbytes) == ((4 + 4, 4 + 4), 12)


@pytest.mark.parametrize(("calls", "layout"), [
    ([(pytest.__file__, "raises", 1), ("mine.py", "step", 7)], "line 7 of mine.py, in step"),
    ([("<cell 3>", "f", 2), ("<cell 4>", "g", 9)], "line 2, in f"),
    ([("<cell 3>", "<module>", 2)], "line 2"),
    ([(pytest.__file__, "raises", 1)], ""),
    ([], ""),
])  # fmt: skip
def test_arrays_without_a_name_are_counted_and_the_largest_is_shown_with_where_it_was_made(
    frameworks: Frameworks, tmp_path: Path, calls: list[tuple[str, str, int]], layout: str
) -> None:
    (tmp_path / "mine.py").touch()
    made = [(file.replace("mine", str(tmp_path / "mine")), *where) for file, *where in calls]
    named, base = Array(64), Array(32)
    nameless = (Array(4), Array(8, made=made), Array(99, dtype="object"))
    frameworks.fake.live += [named, base, *nameless]
    found = survey({"x": named, "view": Array(16, base=base)})
    assert found.unnamed == {"fake": (3, 12)}
    (largest,) = found.largest
    assert (largest.name, largest.nbytes, largest.of) == ("", 8, "")
    assert largest.layout == (layout and f"created in {layout}")


def test_what_a_device_holds_counts_for_its_framework() -> None:
    x = ArrayPlacement("x", "jax", "int8", (4,), 4, ("cpu:0",))
    lines = (x, replace(x, framework="torch"), replace(x, of="x"), replace(x, deleted=True),
             replace(x, framework="", nbytes=9), replace(x, arrays=2))  # fmt: skip
    found = Whereabouts((), (), lines, {})
    assert found.by_device() == {"cpu:0": (4, 12)}
    assert found.by_device("torch") == {"cpu:0": (1, 4)}
    assert found.by_device("jax") == {"cpu:0": (3, 8)}
    assert repr(found) == "<Whereabouts 6 values>"


@pytest.mark.parametrize(("expression", "names"), [
    ("{'a': x, 'b': [y]}", ["a", "b[0]"]),
    ("dict(a=x, b=y)", ["a", "b"]),
    ("[x, {'of a layer': y}]", ["[0]", "[1]['of a layer']"]),
    ("{'of a layer': x}", ["['of a layer']"]),
    ("{3: x}", ["[3]"]),
])  # fmt: skip
def test_parts_of_a_literal_are_named_alone(
    frameworks: Frameworks, expression: str, names: list[str]
) -> None:
    x, y = Array(3), Array(4)
    value = eval(expression, {"x": x, "y": y})
    assert [each.name for each in locate({expression: value}).arrays] == names
    beside = [each.name for each in locate({expression: value, "other": y}).arrays]
    assert beside[0].startswith(expression)
