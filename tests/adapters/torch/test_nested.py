"""Nested tensors, of which one kind has no shape and the other no memory of its own."""

from typing import Any

import pytest
import torch

import ipyjaxbench

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch has not settled them yet


def made() -> dict[str, Any]:
    parts = [torch.ones(3), torch.ones(5)]
    nested = torch.nested.nested_tensor
    return {"nt": nested(parts), "jt": nested(parts, layout=torch.jagged)}


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """PyTorch imports its compiler for them, which sets a variable and filters for warnings."""
    made()


@pytest.mark.parametrize("code", ["nt + nt", "jt + jt", "nt.unbind()"])
def test_what_changes_nothing_is_told_of_nothing(code: str) -> None:
    found = ipyjaxbench.measure_code(code, made(), number=2, repeat=3)
    assert {"state-advanced", "put-back", "stopped-by-error"}.isdisjoint(
        n.code for n in found.notes
    )


@pytest.mark.parametrize("name", ["nt", "jt"])
def test_what_is_changed_in_place_is_changed_once(name: str) -> None:
    names = made()
    found = ipyjaxbench.measure_code(f"{name}.add_(1.)", names, number=2, repeat=3)
    assert [part.tolist() for part in names[name].unbind()] == [[2.0] * 3, [2.0] * 5]
    assert {"put-back"} <= {note.code for note in found.notes}
    assert "state-advanced" not in {note.code for note in found.notes}
