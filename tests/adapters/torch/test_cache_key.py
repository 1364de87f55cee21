"""What tells calls of compiled functions apart for PyTorch, read from their arguments."""

from typing import Any

import numpy as np
import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.adapters.torch.retracing import cache_key
from ipyjaxbench.adapters.torch.retracing.callee import Entered
from ipyjaxbench.retracing import Leaf


def leaves(value: Any) -> dict[str, Leaf]:
    """What a signature holds of one argument."""

    def function(v: Any) -> Any:
        return v

    entered = Entered.from_call(function, (value,), {})
    assert entered is not None
    return dict(cache_key.signature(entered).leaves)


class Config:
    def __init__(self) -> None:
        self.scale, self.names = 2, ["a"]


class Refusing:
    @property
    def shape(self) -> Any:
        raise RuntimeError("not asked")

    __array__ = shape


@pytest.mark.parametrize(
    ("value", "leaf"),
    [
        (torch.ones(2, 3), Leaf("array", "float32", (2, 3), device="cpu", layout="contiguous")),
        (torch.ones(2, 3).t(),
         Leaf("array", "float32", (3, 2), device="cpu", layout="strides (1, 3)")),
        (torch.ones(2, requires_grad=True),
         Leaf("array", "float32", (2,), device="cpu", layout="contiguous, requires_grad")),
        (torch.eye(2).to_sparse(),
         Leaf("array", "float32", (2, 2), device="cpu", layout="sparse_coo")),
        (True, Leaf("bool", value="True")),
        (3, Leaf("int", value="3")),
        (1j, Leaf("complex", value="1j")),
        ("a", Leaf("static", value="'a'")),
        (np.ones(2), Leaf("NumPy", "float64", (2,))),
        (torch.sin, Leaf("static", value="sin")),
        (Refusing(), Leaf("static", value="Refusing")),
    ],
)  # fmt: skip
def test_each_kind_of_value_is_told_apart_by_what_pytorch_guards(value: Any, leaf: Leaf) -> None:
    assert leaves(value) == {"v": leaf}


def test_of_an_object_its_plain_attributes_are_looked_at() -> None:
    assert leaves(Config()) == {
        "v": Leaf("static", value="Config"),
        "v.scale": Leaf("int", value="2"),
    }


def test_of_a_module_its_mode_and_its_tensors_are_looked_at() -> None:
    found = leaves([torch.nn.BatchNorm1d(2, affine=False)])
    assert {path: leaf.words() for path, leaf in found.items()} == {
        "v[0]": "BatchNorm1d",
        "v[0].training": "True",
        "v[0].running_mean": "f32[2]",
        "v[0].running_var": "f32[2]",
        "v[0].num_batches_tracked": "i64[]",
    }


@pytest.mark.parametrize(
    ("count", "mode"),
    [(0, "True"), (3, "True, but False in 0, 1, 2"), (4, "True, but False in 0, 1, 2, …")],
)
def test_parts_of_a_module_in_another_mode_are_named_three_at_most(count: int, mode: str) -> None:
    net = torch.nn.Sequential(*(torch.nn.Dropout(0.5) for _ in range(5)))
    for part in net[:count]:
        part.eval()
    assert leaves(net)["v.training"].value == mode


def test_of_a_large_argument_a_thousand_values_are_looked_at() -> None:
    assert len(leaves([1.0] * 1001)) == 1000


def test_settings_that_pytorch_guards_are_part_of_it() -> None:
    def function() -> None:
        """It is given nothing."""

    def settings() -> dict[str, str]:
        entered = Entered.from_call(function, (), {})
        assert entered is not None
        return dict(cache_key.signature(entered).settings)

    usual = settings()
    assert usual == {
        "grad mode": "on", "inference mode": "off", "autocast": "off", "default dtype": "float32",
        "threads": str(torch.get_num_threads()), "deterministic algorithms": "False",
        "float32 matmul precision": "highest",
    }  # fmt: skip
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        assert settings() == {**usual, "grad mode": "off", "autocast": "cpu torch.bfloat16"}
    torch.backends.mkldnn.matmul.fp32_precision = "bf16"
    try:
        assert settings() == {**usual, "float32 matmul precision": "mixed"}
    finally:
        torch.set_float32_matmul_precision("highest")  # of all backends
