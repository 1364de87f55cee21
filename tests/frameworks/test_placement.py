"""Where values live, in words; what adapters hand over cannot be changed on the way."""

import dataclasses
from typing import Any

import pytest

from ipyjaxbench.frameworks import ArrayInfo, ColdCall, Placement, Program, Work


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
    assert not getattr(Placement.together("p", [plain]), fact)
    assert getattr(Placement.together("p", [other, other]), fact)
    assert getattr(Placement.together("p", [plain, other]), fact) is (fact == "recorded")


@pytest.mark.parametrize(
    ("devices", "is_gpu"),
    [(("cuda:0",), True), (("cpu:0", "gpu:1"), True), (("cpu:0", "tpu:0"), False), ((), False)],
)
def test_gpus_are_known_by_their_names(devices: tuple[str, ...], is_gpu: bool) -> None:
    assert place(devices=devices).on_gpu is is_gpu


@pytest.mark.parametrize(
    "value",
    [ArrayInfo("x", "jax", "float32", (3,), 12, ("cpu:0",)), place(), ColdCall(),
     Program("f", 0.5, "compiled", "jax"), Work(1.0, 1.0, 0.0, 0.0, 1.0, 0, lambda: None)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_values_cannot_be_changed(value: Any) -> None:
    field = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, field, "another")
