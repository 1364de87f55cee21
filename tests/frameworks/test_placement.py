"""Where values live, in words."""

import dataclasses

import pytest

from ipyjaxbench.frameworks.placement import Placement


def place(**changes: object) -> Placement:
    """One array of 3 by 4 numbers."""
    base = Placement("x", "jax", 1, "float32", (3, 4), ("cpu:0",), 48)
    return dataclasses.replace(base, **changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "x f32[3,4] cpu:0"),
        ({"name": ""}, "f32[3,4] cpu:0"),
        ({"shape": ()}, "x f32[] cpu:0"),
        ({"devices": ()}, "x f32[3,4]"),
        ({"devices": ("cuda:0", "cuda:1")}, "x f32[3,4] cuda:0, cuda:1"),
        ({"devices": ("tpu:0", "tpu:1", "tpu:2")}, "x f32[3,4] tpu:0 … tpu:2 (3 devices)"),
        ({"arrays": 12, "shape": None, "nbytes": 3_565_158}, "x 12 arrays 3.40 MiB cpu:0"),
        ({"dtype": "bfloat16"}, "x bf16[3,4] cpu:0"),
    ],
)
def test_a_placement_is_told_in_a_few_words(changes: dict, words: str) -> None:
    assert place(**changes).words() == words


def test_one_array_keeps_its_shape() -> None:
    assert Placement.together("y", [place()]) == place(name="y")


def test_several_arrays_are_counted_and_their_bytes_added() -> None:
    parts = [place(), place(shape=(5,), nbytes=20)]
    together = Placement.together("params", parts)
    assert together == Placement("params", "jax", 2, "float32", None, ("cpu:0",), 68)


def test_types_that_differ_are_mixed() -> None:
    together = Placement.together("p", [place(), place(dtype="int8")])
    assert together.dtype == "mixed"
    assert together.words() == "p 2 arrays 96 B cpu:0"


def test_devices_are_told_once_and_in_order() -> None:
    parts = [place(devices=("cpu:1", "cpu:0")), place(devices=("cpu:0",))]
    assert Placement.together("p", parts).devices == ("cpu:0", "cpu:1")


def test_several_arrays_are_a_view_where_all_of_them_are() -> None:
    owned, shared = place(), place(view=True)
    assert Placement.together("p", [shared, shared]).view
    assert not Placement.together("p", [shared, owned]).view
