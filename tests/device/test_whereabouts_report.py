"""Many arrays in a few lines."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from ipyjaxbench.device import Shard, Sharding
from ipyjaxbench.device.array_lines import fold_arrays
from ipyjaxbench.device.devices import FrameworkDevices
from ipyjaxbench.device.whereabouts import ArrayPlacement, Process, Whereabouts
from ipyjaxbench.reports import Calls, Details, Facts, Footer, Grid, Headline, Note, Panel, Tiles


def array(name: str, devices: tuple[str, ...] = ("cpu",), **facts: Any) -> ArrayPlacement:
    known = {"dtype": "float32", "shape": (2,), "nbytes": 8}
    return ArrayPlacement(name=name, framework="torch", devices=devices, **{**known, **facts})


LAYERS = [array(f"net.layers.{i}.{part}") for i in range(6) for part in ("q.w", "q.b", "norm")]


def lines(arrays: list[ArrayPlacement], most: int) -> list[tuple[str, int, int]]:
    return [(each.name, each.arrays, each.nbytes) for each in fold_arrays(arrays, most)]


@pytest.mark.parametrize(
    ("most", "first", "count"),
    [
        (17, ("net.layers.0.q", 2, 16), 12),
        (11, ("net.layers.0", 3, 24), 6),
        (5, ("net.layers", 18, 144), 1),
    ],
)
def test_paths_are_cut_as_far_as_needed(most: int, first: tuple[str, int, int], count: int) -> None:
    assert lines(LAYERS, most)[0] == first
    assert len(lines(LAYERS, most)) == count


def test_parts_of_a_list_stay_apart_where_there_are_more_than_wanted() -> None:
    tree = [array(f"tree[{i}]['w.x']") for i in range(9)]
    assert lines(tree, 4) == [(f"tree[{i}]['w.x']", 1, 8) for i in range(9)]
    names = [array(f"x{i}") for i in range(9)]  # without a path
    assert fold_arrays(names, 4) == names
    assert fold_arrays(LAYERS, 18) == LAYERS  # as many as wanted


# The report


def blocks(kind: type, *arrays: ArrayPlacement, asked: tuple[str, ...] = ()) -> list[Any]:
    report = Whereabouts(asked, (), arrays, {}).report()
    return [block for block in report.blocks if isinstance(block, kind)]


def cut(name: str, halves: int = 4, **facts: Any) -> ArrayPlacement:
    """An array of eight bytes on two devices."""
    shards = (Shard("cpu:0", ((0, halves),)), Shard("cpu:1", ((halves, 8),)))
    sharding = Sharding((8,), shards, **facts)
    return ArrayPlacement(name, "jax", "int8", (8,), 8, ("cpu:0", "cpu:1"), sharding=sharding)


#: Three of its elements are in rank 0, which was asked, and one in rank 1.
ACROSS = Sharding((4,), (Shard("cpu", ((0, 3),), 0), Shard("rank:1", ((3, 4),), 1)), rank=0)
NONE = ArrayPlacement("n", "", "int", (), 0, ())


@pytest.mark.parametrize(
    ("arrays", "figure", "detail"),
    [
        ((), "no arrays", ""),
        ((NONE,), "no arrays", ""),
        ((array("x"),), "1 array", "8 B on 1 device"),
        ((array("x", arrays=3), array("y", of="x")), "4 arrays", "8 B on 1 device"),
        ((array("x"), array("y", deleted=True, arrays=2)), "1 array",
         "8 B on 1 device, 2 deleted"),
        ((array("y", deleted=True),), "no arrays", "1 deleted"),
        ((array("x", devices=()),), "1 array", "8 B"),
        ((array("x"), cut("y")), "2 arrays", "16 B on 2 devices"),
        ((array("x"), array("y", ("cpu:0",))), "2 arrays", "16 B on 1 device"),
    ],
)  # fmt: skip
def test_the_headline_counts_arrays(
    arrays: tuple[ArrayPlacement, ...], figure: str, detail: str
) -> None:
    (headline,) = blocks(Headline, *arrays, asked=("x", "y"))
    assert headline == Headline("x, y", figure, detail, "", "")
    assert blocks(Headline)[0].title == "this session"


@pytest.mark.parametrize(
    ("facts", "where"),
    [
        ({}, "cpu"),
        ({"devices": ()}, ""),
        ({"of": "y", "memory": "pinned"}, "cpu, shares memory with y, pinned"),
        ({"committed": True, "weak": True}, "cpu, committed, weak type"),
        ({"committed": False}, "cpu"),
        ({"gradients": True, "layout": "strided"}, "cpu, requires grad, strided"),
        ({"framework": ""}, "no arrays"),
        ({"framework": "", "layout": "a mesh"}, "a mesh"),
        ({"deleted": True}, "deleted (donated or freed by delete())"),
        ({"sharding": Sharding((2,), (Shard("cpu", ((0, 2),)),)), "committed": True},
         "cpu, on one device"),
        ({"sharding": ACROSS, "devices": ("cpu", "rank:1")},
         "rank:0,1, elements in 2 shards, 6 B in this rank"),
        ({"sharding": replace(ACROSS, rank=2), "devices": ("cpu", "rank:1")},
         "rank:0,1, elements in 2 shards, nothing in this rank"),
        ({"devices": ("cpu:1", "rank:1", "rank:0"), "arrays": 2}, "cpu:1, parts on rank:0,1"),
    ],
)  # fmt: skip
def test_where_an_array_is_and_what_is_unusual_of_it(facts: dict[str, Any], where: str) -> None:
    (calls,) = blocks(Calls, replace(array("x"), **facts), asked=("x",))
    assert calls.head == ("name", "framework", "type", "size", "where")
    ((name, framework, _, _, shown),) = calls.rows
    assert (name, framework, shown) == ("x", facts.get("framework", "torch"), where)


def test_one_process_of_several_says_what_it_holds_itself() -> None:
    arrays = array("x", ("cpu", "rank:1"), sharding=ACROSS), array("y"), array("z", of="y")
    found = Whereabouts(("x",), (), arrays, {}, process=Process(0, 2, "node", 7))
    headline, *_, footer = found.report().blocks
    assert headline.detail == "16 B on 2 devices, 14 B in rank 0 of 2"
    assert footer == Footer(("rank 0 of 2 (node)",))
    assert Whereabouts.from_dict(found.to_dict()) == found


def test_type_and_size_are_those_of_the_arrays() -> None:
    lines = array("x"), array("y", arrays=3), array("z", deleted=True), NONE
    (calls,) = blocks(Calls, *lines, asked=("x",))
    assert [row[2:4] for row in calls.rows] == [
        ("f32[2]", "8 B"), ("3 arrays", "8 B"), ("f32[2]", "0 B"), ("int", ""),
    ]  # fmt: skip


def test_of_a_session_the_largest_come_first_and_very_many_are_cut() -> None:
    arrays = [replace(array(f"x{n}"), nbytes=n) for n in range(43)]
    (calls,) = blocks(Calls, *arrays)
    assert [row[0] for row in calls.rows[:2]] == ["x42", "x41"]
    assert len(calls.rows) == 41
    assert calls.rows[-1] == ("...", "", "3 more", "3 B", "")
    assert len(blocks(Calls, *arrays[:40])[0].rows) == 40
    (calls,) = blocks(Calls, *arrays, asked=("x0",))
    assert calls.rows[0][0] == "x0"


def test_one_array_that_is_cut_is_drawn_with_what_its_parts_take() -> None:
    assert blocks(Tiles, cut("x")) == []  # of a session nothing is drawn
    (tiles,) = blocks(Tiles, cut("x"), asked=("x",))
    parts = (("elements 0-3", 4), ("elements 4-7", 4))
    assert tiles.panels == (Panel("x i8[8]", (("", 1),), parts, (("cpu:0", "cpu:1"),)),)
    (table,) = blocks(Details, cut("x"), asked=("x",))
    grid = Grid("", ("x",), (("cpu:0", "elements 0-3"), ("cpu:1", "elements 4-7")))
    assert table == Details("by device", (grid,), printed=False)
    facts, _ = blocks(Facts, cut("x", 6, words="P('a')"), asked=("x",))
    assert facts.rows == (
        ("shards", "the fullest device holds 6 B, 1.50× the mean; every shard is on 1 device"),
        ("", "P('a')"),
    )


def test_several_arrays_are_drawn_together_where_that_is_small() -> None:
    arrays = cut("x"), cut("y", 6), array("z")
    (tiles,) = blocks(Tiles, *arrays, asked=("x",))
    assert [panel.name for panel in tiles.panels] == ["x i8[8]", "y i8[8]"]
    (details,) = blocks(Details, *arrays, asked=("x",))
    (grid,) = details.blocks
    assert (details.printed, grid.caption, grid.tops) == (True, "", ("x", "y"))
    assert grid.rows == (
        ("cpu:0", "elements 0-3", "elements 0-5"), ("cpu:1", "elements 4-7", "elements 6-7"),
    )  # fmt: skip
    facts, _ = blocks(Facts, *arrays, asked=("x",))
    assert facts.rows == (
        ("shards", "x: each device holds 4 B; every shard is on 1 device; evenly split"),
        ("", "y: the fullest device holds 6 B, 1.50× the mean; every shard is on 1 device"),
    )


def sharded(*counts: int) -> ArrayPlacement:
    """An array with an element for each device, so many along each axis."""
    places = itertools.product(*map(range, counts))
    shards = tuple(Shard(f"cpu:{n}", tuple((i, i + 1) for i in p)) for n, p in enumerate(places))
    return replace(cut("x"), shape=counts, sharding=Sharding(counts, shards))


def test_of_very_many_shards_the_first_are_drawn() -> None:
    for devices, tables in ((16, 1), (17, 0)):
        x = sharded(devices)
        assert len(blocks(Details, x, replace(x, name="y"), asked=("x", "y"))) == tables
    (tiles,) = blocks(Tiles, sharded(5, 5, 5), asked=("x",))
    assert [len(panel.cells) * len(panel.cells[0]) for panel in tiles.panels] == [25] * 3
    facts = blocks(Facts, sharded(5, 5, 5), asked=("x",))
    assert facts[0].rows == (("not drawn", "2 of 5 panels"),)
    x = sharded(20, 1)
    (alone,) = blocks(Tiles, x, asked=("x",))
    (both,) = blocks(Tiles, x, replace(x, name="y"), asked=("x", "y"))
    assert [len(panel.rows) for panel in (*alone.panels, *both.panels)] == [16, 8, 8]


def test_of_very_many_arrays_that_are_cut_the_first_are_drawn() -> None:
    def undrawn(count: int) -> list[str]:
        arrays = [replace(cut(f"x{n}"), dtype=f"int{n}") for n in range(count)]
        facts = blocks(Facts, *arrays, asked=("x",))
        return [text for block in facts for label, text in block.rows if label == "not drawn"]

    assert undrawn(4) == []
    assert undrawn(8) == ["x4, x5, x6, x7: give fewer names at once"]
    assert undrawn(9) == ["x4, x5, x6, x7 and 1 more: give fewer names at once"]


def test_where_not_all_can_be_drawn_one_stands_for_those_that_are_sharded_alike() -> None:
    arrays = [cut("x"), cut("y", 6), *(cut(f"x{n}") for n in range(5))]
    (tiles,) = blocks(Tiles, *arrays, asked=("x",))
    assert [panel.name for panel in tiles.panels] == ["x i8[8]", "y i8[8]"]
    facts, *rest = blocks(Facts, *arrays, asked=("x",))
    assert facts.rows[1] == ("", "sharded alike: x0, x1, x2, x3 and 1 more")
    assert not any(label == "not drawn" for block in rest for label, _ in block.rows)


def test_what_is_so_for_all_is_told_of_a_line_for_many() -> None:
    facts: dict[str, Any] = {"memory": "pinned", "weak": True, "committed": True, "layout": "odd",
                             "gradients": True}  # fmt: skip
    arrays = [array(f"m.{part}.w", **facts) for part in "aabb"]
    one, _ = fold_arrays(arrays, 2)
    assert one == array("m.a.w", **facts, arrays=2, nbytes=16, dtype="", shape=())
    other = array(arrays[1].name, deleted=True)
    one, _ = fold_arrays([arrays[0], other, *arrays[2:]], 2)
    unlike = dict.fromkeys(("weak", "committed", "gradients", "deleted"), False)
    assert one == array("m.a.w", **unlike, arrays=2, nbytes=8, dtype="", shape=())
    one, two = fold_arrays([array("m.a.w"), array("m.a.b", of="m.a.w"), *arrays[2:]], 2)
    assert (one.nbytes, one.layout, one.of) == (8, "1 sharing memory with others", "")
    assert (two.nbytes, two.layout) == (16, "odd")


def test_how_arrays_are_cut_is_told_where_all_are_cut_alike() -> None:
    alike, _ = fold_arrays([cut("m.a.w"), cut("m.a.b"), array("m.c.w"), array("m.c.b")], 2)
    assert alike.layout == "elements in 2 shards"
    assert alike.devices == ("cpu:0", "cpu:1")
    apart = replace(array("m.a.b"), framework="jax")
    one, _ = fold_arrays([cut("m.a.w"), apart, array("m.c.w"), array("m.c.b")], 2)
    assert one.layout == ""
    assert one.devices == ("cpu:0", "cpu:1", "cpu")


def test_versions_stand_at_the_end_and_notes_below_their_framework() -> None:
    words = ("a sentence of earlier versions", Note("memory-grows", "a note"))
    jax, torch = (
        FrameworkDevices("jax", "1.0", started=True, words=words),
        FrameworkDevices("torch", "1.0", True),
    )
    found = Whereabouts((), (jax, torch), (), {})
    assert found.report().blocks[-1] == Footer(("jax 1.0", "torch 1.0"))
    assert [line.strip() for line in str(found).splitlines()[-4:-2]] == [words[0], "a note"]
    assert Whereabouts.from_dict(found.to_dict()) == found
    assert blocks(Footer) == []
