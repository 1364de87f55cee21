"""Many arrays in a few lines."""

from typing import Any

import pytest

from ipyjaxbench.device.devices import FrameworkDevices
from ipyjaxbench.device.whereabouts import ArrayPlacement, Whereabouts
from ipyjaxbench.device.whereabouts_report import fold_arrays
from ipyjaxbench.reports import Note


def array(name: str, **facts: Any) -> ArrayPlacement:
    return ArrayPlacement(name, "torch", "float32", (2,), 8, ("cpu",), **facts)


LAYERS = [array(f"net.layers.{i}.{part}") for i in range(6) for part in ("q.w", "q.b", "norm")]


def lines(arrays: list[ArrayPlacement], most: int) -> list[tuple[str, int, int]]:
    return [(each.name, each.arrays, each.nbytes) for each in fold_arrays(arrays, most)]


def test_as_many_as_wanted_stay_as_they_are() -> None:
    assert fold_arrays(LAYERS, 18) == LAYERS


@pytest.mark.parametrize(
    ("most", "first", "count"),
    [
        (17, ("net.layers.0.q", 2, 16), 12),
        (11, ("net.layers.0", 3, 24), 6),
        (5, ("net.layers", 18, 144), 1),
    ],
)
def test_paths_are_cut_no_shorter_than_it_takes(
    most: int, first: tuple[str, int, int], count: int
) -> None:
    assert lines(LAYERS, most)[0] == first
    assert len(lines(LAYERS, most)) == count


def test_parts_of_a_list_stay_apart_where_there_are_more_than_wanted() -> None:
    tree = [array(f"tree[{i}]['w.x']") for i in range(9)]
    assert lines(tree, 4) == [(f"tree[{i}]['w.x']", 1, 8) for i in range(9)]


def test_names_without_a_path_are_never_joined() -> None:
    names = [array(f"x{i}") for i in range(9)]
    assert fold_arrays(names, 4) == names


def test_memory_that_is_shared_is_counted_once_and_that_is_said() -> None:
    arrays = [array("m.a.w"), array("m.a.b", of="m.a.w"), array("m.c.w"), array("m.c.b")]
    one, two = fold_arrays(arrays, 2)
    assert (one.nbytes, one.layout) == (8, "1 of them share memory with others")
    assert (two.nbytes, two.layout) == (16, "")


def test_what_is_so_for_some_alone_is_not_told_of_all() -> None:
    arrays = [array("m.a.w", gradients=True), array("m.a.b"), array("m.c.w", gradients=True)]
    assert [each.gradients for each in fold_arrays(arrays, 2)] == [False, True]


def test_notes_are_saved_beside_the_sentences_of_earlier_versions() -> None:
    words = ("a sentence", Note("memory-grows", "a note"))
    found = Whereabouts((), (FrameworkDevices("jax", "1", started=True, words=words),), (), {})
    assert Whereabouts.from_dict(found.to_dict()) == found
    assert [line.strip() for line in str(found).splitlines()[-2:]] == ["a sentence", "a note"]
