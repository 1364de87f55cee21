"""What adapters hand over are values: nobody can change them on the way."""

import dataclasses
from typing import Any

import pytest

from ipyjaxbench.frameworks import ArrayInfo, ColdCall, Placement, Program, Work

VALUES = (
    ArrayInfo("x", "jax", "float32", (3,), 12, ("cpu:0",)),
    Placement("x", "jax", 1, "float32", (3,), ("cpu:0",), 12),
    Program("f", 0.5, "compiled", "jax"),
    ColdCall(),
    Work(1.0, 1.0, 0.0, 0.0, 1.0, 0, lambda: None),
)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_they_cannot_be_changed(value: Any) -> None:
    field = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, field, "another")


def test_of_an_array_neither_shared_memory_nor_a_record_is_assumed() -> None:
    assert (VALUES[1].view, VALUES[1].recorded) == (False, False)  # type: ignore[union-attr]
    recorded = dataclasses.replace(VALUES[1], recorded=True)
    assert Placement.together("p", [VALUES[1], recorded]).recorded  # type: ignore[list-item]
    assert not Placement.together("p", [VALUES[1]]).recorded  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("devices", "is_gpu"),
    [(("cuda:0",), True), (("cpu:0", "gpu:1"), True), (("cpu:0", "tpu:0"), False), ((), False)],
)
def test_gpus_are_known_by_their_names(devices: tuple[str, ...], is_gpu: bool) -> None:
    placement = dataclasses.replace(VALUES[1], devices=devices)
    assert placement.on_gpu is is_gpu  # type: ignore[union-attr]
