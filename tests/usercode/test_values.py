"""What is read of the user's code is a value: nobody can change it on the way."""

import ast
import dataclasses
from typing import Any

import pytest

from ipyjaxbench.usercode import Call, Shape, Site, Source

VALUES = (Call("f()", len), Shape("float32", (3,)), Site(1, "f()"),
          Source(ast.parse("f()"), "f()", "<f>"))  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_it_cannot_be_changed(value: Any) -> None:
    field = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, field, "another")
