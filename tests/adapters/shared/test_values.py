"""What rules are told and give are values: nobody can change them on the way."""

import ast
import dataclasses
from typing import Any

import pytest

from ipyjaxbench.adapters.shared.diagnosis.choice import Choice, Logic
from ipyjaxbench.adapters.shared.diagnosis.rewrite import Rewrite
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit
from ipyjaxbench.adapters.shared.undo_log import SideEffects
from tests.adapters.shared.code import site_of

SITE = site_of("return x")
VALUES = (
    Logic("m", operators=True), Choice("where", lambda test: test), Edit([ast.Pass()]), SITE,
    Rewrite(SITE.definition, "return x", Edit([ast.Pass()])), SideEffects(),
)  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_they_cannot_be_changed(value: Any) -> None:
    field = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, field, "another")
