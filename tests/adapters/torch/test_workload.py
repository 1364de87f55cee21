"""What a call in PyTorch has to do: products by dtype, bytes where all are moved; its peaks."""

from pathlib import Path
from typing import Any

import pytest
import torch

from ipyjaxbench.graphs.components import Workload
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source
from tests.loads import BYTES, PRODUCT, N, load


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))


@pytest.fixture
def a() -> Any:
    return torch.ones(N, N)


def test_products_are_counted_and_elementwise_work_moves_all(a: Any) -> None:
    for code in ("a @ a", "f(a)"):
        found = load("torch", code, torch=torch, a=a, f=lambda a: torch.relu(a @ a).sum())
        assert found is not None
        assert found.products == {"float32": PRODUCT}
        assert found.nbytes is not None
    assert load("torch", "torch.relu(a) + 1", torch=torch, a=a) == Workload({}, False, 2 * BYTES)
    assert load("torch", "a.sum()", a=a) == Workload({}, False, BYTES + 4)


@pytest.mark.parametrize(
    "code",
    ["a[:2] + 1", "a.t()", "a.split(4)[0]", "a", "a[0]", "b + 1", "w + 1", "f(a)",
     "torch.gather(a, 0, a.long())", "one(a, a + 1)"],
)  # fmt: skip
def test_where_not_all_of_every_tensor_is_moved_in_torch_bytes_are_not_told(
    a: Any, code: str
) -> None:
    repeated = torch.ones(1).expand(N * N)
    names = {"b": repeated, "w": a.flatten().unfold(0, 8, 1), "f": lambda a: (a + 1).t(),
             "one": lambda a, unused: a + 1}  # fmt: skip
    found = load("torch", code, torch=torch, a=a, **names)
    assert found is not None
    assert found.nbytes is None


def test_without_a_formula_or_with_graph_breaks_the_load_is_unknown(a: Any) -> None:
    def broken(x: Any) -> Any:
        y = x + 1
        print(end="")
        return y

    assert load("torch", "f(a, a)", f=torch.nn.Bilinear(N, N, 2), a=a) is None
    found = trace_program(Source.plain("f(a)"), {"f": broken, "a": a}, GraphOptions(stage="dynamo"))
    assert found.breaks
    assert found.live is not None
    assert found.live.workload(1) is None


def test_convolutions_in_torch_may_be_computed_by_shortcuts() -> None:
    layer, image = torch.nn.Conv2d(3, 4, 3), torch.ones(1, 3, 8, 8)
    found = load("torch", "layer(image)", layer=layer, image=image)
    assert found is not None
    assert found.shortcuts
    assert found.products["float32"] > 0
