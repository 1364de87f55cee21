"""How arrays are cut over devices, in words and drawn; worked out by hand."""

import itertools

import pytest

from ipyjaxbench.device.device_names import name_holders, shorten_devices
from ipyjaxbench.device.sharding import Shard, Sharding
from ipyjaxbench.device.whereabouts import ArrayPlacement, Whereabouts
from ipyjaxbench.reports import Panel

MESH = (("data", 4), ("model", 2))
HALVES = (Shard("cpu:0", ((0, 2),)), Shard("cpu:1", ((2, 4),)))


def cut(
    shape: tuple[int, ...], parts: dict[int, str], mesh: tuple[tuple[str, int], ...] = MESH
) -> Sharding:
    """An array cut along some axes, each by one axis of the mesh, in rows of devices."""
    sizes = dict(mesh)
    shards = []
    for device, place in enumerate(itertools.product(*map(range, sizes.values()))):
        region = [(0, size) for size in shape]
        for axis, by in parts.items():
            part = shape[axis] // sizes[by]
            at = place[[*sizes].index(by)] * part
            region[axis] = at, at + part
        shards.append(Shard(f"cpu:{device}", tuple(region)))
    spec = tuple((parts[axis],) if axis in parts else () for axis in range(len(shape)))
    return Sharding(shape, tuple(shards), mesh, spec)


@pytest.mark.parametrize(
    ("sharding", "words", "copies", "bytes_each"),
    [
        (cut((16, 8), {0: "data"}), "rows sharded over 'data' (4), replicated over 'model' (2)",
         2, 128),
        (cut((16, 8), {0: "data", 1: "model"}),
         "rows sharded over 'data' (4), columns over 'model' (2)", 1, 64),
        (cut((8,), {}), "replicated over 'data' (4), 'model' (2)", 8, 32),
        (cut((4, 6, 8), {0: "data", 2: "model"}),
         "axis 0 sharded over 'data' (4), axis 2 over 'model' (2)", 1, 96),
        (cut((8, 8), {1: "model"}, (("model", 2), ("one", 1))), "columns sharded over 'model' (2)",
         1, 128),
        (Sharding((4,), (Shard("cpu:0", ((0, 4),)),)), "on one device", 1, 16),
        (Sharding((), (Shard("cpu:0", ()), Shard("cpu:1", ()))), "replicated on 2 devices", 2, 4),
        (Sharding((4,), HALVES), "elements in 2 shards", 1, 8),
        (Sharding((4,), HALVES, (("a", 2), ("b", 3)), (("a", "b"),)),
         "elements sharded over 'a' and 'b' (6)", 1, 8),
        (Sharding((4,), tuple(Shard(f"cpu:{i}", ((0, 4),)) for i in range(4)),
                  (("data", 2), ("model", 2)), partial=(("data", "sum"),)),  # no copies
         "partial sum over 'data' (2), replicated over 'model' (2)", 2, 16),
    ],
)  # fmt: skip
def test_it_is_told_in_words(
    sharding: Sharding, words: str, copies: float, bytes_each: int
) -> None:
    assert sharding.describe() == words
    assert sharding.copies == copies
    assert sharding.largest(4) == bytes_each
    assert sharding.balance == 1


def test_a_device_without_a_part_is_told_so_and_counted_among_the_parts() -> None:
    shards = (Shard("cpu:0", ((0, 1),)), Shard("cpu:1", ((1, 1),)), Shard("cpu:2", ((1, 1),)))
    sharding = Sharding((1,), shards, (("data", 3),), (("data",),))
    assert sharding.describe() == "elements sharded over 'data' (3)"
    (panel,) = sharding.panels("x")
    assert panel.columns == (("element 0", 1), ("no elements", 0))
    assert panel.cells == (("cpu:0", "cpu:1,2"),)


def test_a_picture_has_a_cell_for_each_part_with_the_devices_that_hold_it() -> None:
    (panel,) = cut((16, 8), {0: "data", 1: "model"}).panels("x")
    rows = (("rows 0-3", 4), ("rows 4-7", 4), ("rows 8-11", 4), ("rows 12-15", 4))
    cells = (("cpu:0", "cpu:1"), ("cpu:2", "cpu:3"), ("cpu:4", "cpu:5"), ("cpu:6", "cpu:7"))
    assert panel == Panel("x", rows, (("columns 0-3", 4), ("columns 4-7", 4)), cells)
    (panel,) = cut((2, 8), {1: "data"}).panels("x")
    assert panel.rows == (("", 2),)  # they are not cut, and have their length alone
    assert panel.cells == (("cpu:0,1", "cpu:2,3", "cpu:4,5", "cpu:6,7"),)


def test_more_than_two_cut_axes_take_several_pictures() -> None:
    mesh = (("a", 2), ("b", 2), ("c", 2))
    panels = list(cut((2, 4, 6), {0: "a", 1: "b", 2: "c"}, mesh).panels("x"))
    assert [panel.name for panel in panels] == ["x, axis 0: 0", "x, axis 0: 1"]
    assert panels[0].cells == (("cpu:0", "cpu:1"), ("cpu:2", "cpu:3"))
    assert panels[1].cells == (("cpu:4", "cpu:5"), ("cpu:6", "cpu:7"))


def test_a_picture_has_the_axes_that_are_cut_and_else_the_last_ones() -> None:
    (batch,) = cut((8, 3, 5), {0: "data"}).panels("x")
    assert (batch.rows[0], batch.columns) == (("axis 0: 0-1", 2), (("", 5),))
    (apart,) = cut((8, 3, 6), {0: "data", 2: "model"}).panels("x")
    assert [words for words, _ in apart.columns] == ["axis 2: 0-2", "axis 2: 3-5"]
    (whole,) = cut((8, 3, 5), {}).panels("x")
    assert (whole.rows, whole.columns, whole.cells) == ((("", 3),), (("", 5),), (("cpu:0-7",),))


def test_of_very_many_parts_the_first_are_drawn() -> None:
    mesh = (("a", 20), ("b", 20), ("c", 20))
    panels = list(cut((20, 20, 20), {0: "a", 1: "b", 2: "c"}, mesh).panels("x"))
    assert [panel.name for panel in panels][-1] == "x, axis 0: 19, 64 of 400 shards"
    assert [len(panels[0].rows), len(panels[0].columns)] == [8, 8]
    (rows,) = cut((20, 2), {0: "a"}, (("a", 20),)).panels("x")
    assert (rows.name, len(rows.rows)) == ("x, 16 of 20 shards", 16)
    (strip,) = cut((20,), {0: "a"}, (("a", 20),)).panels("x")
    assert len(strip.columns) == 16


@pytest.mark.parametrize(("devices", "words"), [
    (["cpu:0"], "cpu:0"),
    (["cpu:0", "cpu:1", "cpu:2", "cpu:5"], "cpu:0-2,5"),
    (["cpu:10", "cpu:9"], "cpu:9,10"),
    (["gpu:0", "cpu:1"], "gpu:0 cpu:1"),
    (["cpu"], "cpu"),
    (["cpu:0", "cpu:1", "cpu:3", "cpu:4", "cpu:5"], "cpu:0,1,3-5"),
    (["gpu:b", "gpu:a"], "gpu:b,a"),
])  # fmt: skip
def test_devices_of_one_platform_stand_together(devices: list[str], words: str) -> None:
    assert shorten_devices(devices) == words


def test_what_each_device_holds_is_told_in_words() -> None:
    ones = cut((2, 4, 2), {0: "a", 2: "b"}, (("a", 2), ("b", 2)))
    assert list(ones.parts_by_device().values()) == [
        "axis 0: 0, axis 2: 0", "axis 0: 0, axis 2: 1",
        "axis 0: 1, axis 2: 0", "axis 0: 1, axis 2: 1",
    ]  # fmt: skip
    whole = (Shard("cpu:0", ((0, 4),)), Shard("cpu:1", ((0, 4),)))
    sums = Sharding((4,), whole, (("a", 2),), partial=(("a", "sum"),))
    assert sums.parts_by_device() == dict.fromkeys(("cpu:0", "cpu:1"), "partial result")
    assert Sharding((4,), whole).parts_by_device()["cpu:1"] == "all of it"


def test_bytes_are_shared_as_the_numbers_are() -> None:
    uneven = Sharding((4,), (Shard("cpu:0", ((0, 3),)), Shard("cpu:1", ((3, 4),))))
    assert (uneven.bytes_on(16), uneven.balance) == ({"cpu:0": 12, "cpu:1": 4}, 1.5)
    assert uneven.largest(4) == 12
    assert Sharding((4,), ()).largest(4) == 0
    empty = Sharding((0,), (Shard("cpu:0", ((0, 0),)), Shard("cpu:1", ((0, 0),))))
    assert (empty.copies, empty.balance, empty.bytes_on(0)) == (0, 0, {"cpu:0": 0, "cpu:1": 0})
    number = Sharding((), (Shard("cpu:0", ()), Shard("cpu:1", ())))
    assert (number.copies, number.balance, number.largest(8)) == (2, 1, 8)
    assert [*number.panels("n")] == [Panel("n", (("", 1),), (("", 1),), (("cpu:0,1",),))]


def test_shards_are_named_by_rank_and_where_it_takes_that_by_device() -> None:
    ranks = {f"gpu:{device}": device // 2 for device in range(8)}
    assert name_holders(["gpu:0", "gpu:1", "gpu:6", "gpu:7"], ranks) == "rank:0,3"
    assert name_holders(["gpu:3"], ranks) == "rank:1 gpu:3"
    assert name_holders(["gpu:0", "gpu:2", "gpu:4", "gpu:6"], ranks) == "rank:0-3 gpu:0,2,4,6"
    assert name_holders(["gpu:0", "gpu:1", "gpu:2"], ranks) == "rank:0 rank:1 gpu:2"
    assert name_holders(["gpu:0", "gpu:1"], {}) == "gpu:0,1"


def test_what_one_process_holds_alone_needs_no_ranks() -> None:
    both = Shard("cpu:2", ((0, 2),), 1), Shard("cpu:3", ((2, 4),), 1)
    assert Sharding((4,), both, rank=1).ranks == {}
    elsewhere = Sharding((4,), both, rank=0)
    assert elsewhere.ranks == {"cpu:2": 1, "cpu:3": 1}
    (panel,) = elsewhere.panels("x")
    assert panel.cells == (("rank:1 cpu:2", "rank:1 cpu:3"),)


@pytest.mark.parametrize(
    ("sharding", "why"),
    [
        (Sharding((4,), HALVES, spec=(("d",),)), "the mesh has no axis 'd'"),
        (Sharding((4,), HALVES, partial=(("d", "sum"),)), "the mesh has no axis 'd'"),
        (Sharding((4,), ()), "an array has no shards"),
        (Sharding((4,), (Shard("cpu:0", ()),)), "the part on cpu:0 is outside of the array"),
        (Sharding((4,), (Shard("cpu:0", ((0, 5),)),)),
         "the part on cpu:0 is outside of the array"),
        (cut((16, 8), {0: "data"}), None),
    ],
)  # fmt: skip
def test_a_record_that_cannot_be_is_refused(sharding: Sharding, why: str | None) -> None:
    assert sharding.check() == why
    array = ArrayPlacement("x", "jax", "int8", sharding.shape, 4, (), sharding=sharding)
    assert Whereabouts((), (), (array,), {}).check() == why
