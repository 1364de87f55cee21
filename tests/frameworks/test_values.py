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
