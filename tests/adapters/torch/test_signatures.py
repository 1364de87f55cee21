"""What tells calls of compiled functions apart: the frame dynamo is given, its key, its guards."""

import functools
from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.adapters.torch import Torch
from ipyjaxbench.adapters.torch.retracing import cache_key, callee
from ipyjaxbench.adapters.torch.retracing.callee import Entered
from ipyjaxbench.adapters.torch.retracing.guards import Guard, read
from ipyjaxbench.retracing import Change, Leaf
from ipyjaxbench.retracing.protocol import Retracing

SCALE, OTHER = 4, 5


def entered(function: Any, *args: Any) -> Entered:
    found = Entered.from_call(function, args, {})
    assert found is not None
    return found


# Which function dynamo is given in a call, and what it is called with


def scaled(x: Any, by: Any = 2.0) -> Any:
    return x * by


@functools.wraps(scaled)
def around(*args: Any) -> Any:
    return scaled(*args)


class Called:
    def __call__(self, x: Any) -> Any:
        return x

    def method(self, x: Any) -> Any:
        return x


class Net(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x


class Compiled(torch.nn.Module):
    @functools.partial(torch.compile, backend="eager")
    def forward(self, x: Any) -> Any:
        return x


compiled = functools.partial(torch.compile, backend="eager")
CALLED, NET = Called(), Net()


@pytest.mark.parametrize(
    ("function", "args", "arguments", "name"),
    [
        (compiled(scaled), (1, 3), {"x": 1, "by": 3}, "scaled"),
        (functools.partial(compiled(scaled), by=5), (1,), {"x": 1, "by": 5}, "scaled"),
        (around, (1, 3), {"args": (1, 3)}, "scaled"),
        (compiled(CALLED), (1,), {"self": CALLED, "x": 1}, "Called"),
        (compiled(CALLED.method), (1,), {"self": CALLED, "x": 1}, "method"),
        (compiled(NET), (1,), {"self": NET, "x": 1}, "Net"),
        (compiled(NET).forward, (1,), {"self": NET, "x": 1}, "Net"),
        (compiled(NET.__call__), (1,), {"self": NET, "x": 1}, "Net"),
        (compiled(NET.forward), (1,), {"self": NET, "x": 1}, "forward"),
        (scaled, (1,), {"x": 1, "by": 2.0}, "scaled"),
        # What is no call of a Python function.
        (scaled, (), None, "scaled"),
        (scaled, (1, 2, 3), None, "scaled"),
        (len, ([1],), None, "len"),
        (3, (), None, "int"),
    ],
)
def test_arguments_are_those_of_the_function_that_runs(
    function: Any, args: tuple[Any, ...], arguments: dict[str, Any] | None, name: str
) -> None:
    found = Entered.from_call(function, args, {})
    assert (found and dict(found.arguments)) == arguments
    assert callee.display_name(function) == name


@pytest.mark.parametrize(("value", "is_taken", "is_disabled"), [
    (compiled(scaled), True, False),
    (compiled(NET), True, False),
    (Compiled(), True, False),
    (Compiled().forward, True, False),
    (torch.compiler.disable(scaled), True, True),
    (NET, False, False),
    (scaled, False, False),
    (3, False, False),
])  # fmt: skip
def test_what_torch_compile_made_or_left_alone_is_taken(
    value: Any, is_taken: bool, is_disabled: bool
) -> None:
    assert callee.takes(value) is is_taken
    assert callee.is_disabled(value) is is_disabled


@pytest.mark.filterwarnings("ignore")  # `torch.jit` is deprecated
def test_it_is_known_when_pytorch_traces() -> None:
    is_tracing = Torch().capability(Retracing).is_tracing
    seen: list[bool] = []

    def function(x: torch.Tensor) -> torch.Tensor:
        seen.append(is_tracing((x,)))
        return x + 1

    function(torch.ones(2))
    torch.jit.trace(function, torch.ones(2), check_trace=False)
    assert seen == [False, True]


# Its key


def identity(v: Any) -> Any:
    return v


def leaves(value: Any) -> dict[str, Leaf]:
    """What a signature holds of one argument."""
    return dict(cache_key.signature(entered(identity, value)).leaves)


class Config:
    def __init__(self) -> None:
        self.scale, self.names = 2, ["a"]


class Refusing:
    @property
    def shape(self) -> Any:
        raise RuntimeError("not asked")

    __array__ = shape


PLAIN = Leaf("array", "float32", (2, 2), device="cpu", layout="contiguous")


@pytest.mark.parametrize(("value", "leaf"), [
    (torch.ones(2, 2), PLAIN),
    (torch.ones(2, 2).t(), replace(PLAIN, layout="strides (1, 2)")),
    (torch.ones(2, 2, requires_grad=True), replace(PLAIN, layout="contiguous, requires_grad")),
    (torch.eye(2).to_sparse(), replace(PLAIN, layout="sparse_coo")),
    (True, Leaf("bool", value="True")),
    (3, Leaf("int", value="3")),
    (1j, Leaf("complex", value="1j")),
    ("a", Leaf("static", value="'a'")),
    (np.ones(2), Leaf("NumPy", "float64", (2,))),
    (torch.sin, Leaf("static", value="sin")),
    (Refusing(), Leaf("static", value="Refusing")),
])  # fmt: skip
def test_each_kind_of_value_is_told_apart_by_what_pytorch_guards(value: Any, leaf: Leaf) -> None:
    assert leaves(value) == {"v": leaf}


def test_of_objects_plain_attributes_are_looked_at_and_of_modules_mode_and_tensors() -> None:
    assert leaves(Config()) == {
        "v": Leaf("static", value="Config"), "v.scale": Leaf("int", value="2"),
    }  # fmt: skip
    found = leaves([torch.nn.BatchNorm1d(2, affine=False)])
    assert {path: leaf.words() for path, leaf in found.items()} == {
        "v": "list",
        "v[0]": "BatchNorm1d",
        "v[0].training": "True",
        "v[0].running_mean": "f32[2]",
        "v[0].running_var": "f32[2]",
        "v[0].num_batches_tracked": "i64[]",
    }
    assert len(leaves([1.0] * 1001)) == 1000


@pytest.mark.parametrize(
    ("count", "mode"),
    [(0, "True"), (3, "True, but False in 0, 1, 2"), (4, "True, but False in 0, 1, 2, …")],
)
def test_parts_of_a_module_in_another_mode_are_named_three_at_most(count: int, mode: str) -> None:
    net = torch.nn.Sequential(*(torch.nn.Dropout(0.5) for _ in range(5)))
    for part in net[:count]:
        part.eval()
    assert leaves(net)["v.training"].value == mode


def test_settings_that_pytorch_guards_are_part_of_it() -> None:
    def settings() -> dict[str, str]:
        return dict(cache_key.signature(entered(identity, 1)).settings)

    usual = settings()
    assert usual == {
        "grad mode": "on", "inference mode": "off", "autocast": "off", "default dtype": "float32",
        "default device": "cpu",
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


# The condition that failed, read as a change of what the user gave


def function(x: Any, n: Any, mode: Any) -> Any:
    return x * n * SCALE, mode


@pytest.mark.parametrize(("reason", "change"), [
    ("0/0: tensor 'x' size mismatch at index 1. expected 4, actual 8",
     ("shape", "size 1 of x", "4", "8")),
    ("3/1_2: tensor 'x' size mismatch at index 0. expected 4", ("shape", "size 0 of x", "4", "?")),
    ("tensor 'x' stride mismatch at index 0. expected 4, actual 1",
     ("layout", "stride 0 of x", "4", "1")),
    ("tensor 'x' dtype mismatch. expected Float, actual Double", ("dtype", "x", "float", "double")),
    ("tensor 'x' rank mismatch. expected 2", ("rank", "x", "2", "?")),
    ("tensor 'x' requires_grad mismatch. expected requires_grad=1",
     ("layout", "x", "requires_grad", "no requires_grad")),
    ("tensor 'x' requires_grad mismatch. expected requires_grad=0",
     ("layout", "x", "no requires_grad", "requires_grad")),
    ("tensor 'x' dispatch key set mismatch. expected A, actual B",
     ("guard", "x", "", "dispatch key set of x changed")),
    ("tensor 'x' Tensor device index mismatch. Expected device index to be \0, actual \1",
     ("device", "x", "0", "1")),
    ("expected type of 'x' to be a tensor type, but found <class 'float'>",
     ("type", "x", "a tensor", "float")),
    ("___check_obj_id(L['x'].a, 140)", ("guard", "x.a", "", "x.a is a different object")),
    ("___check_type_id(L['x'], 140)", ("guard", "x", "", "x has a different type")),
    ("___check_obj_id(G['f'].a, 140)",
     ("guard", "global f.a", "", "global f.a is a different object")),
    ("L['flag'] == True  # if flag:", ("static value", "flag", "True", "False")),
    ("G['FLAG'] == False", ("static value", "global FLAG", "False", "True")),
    ("L['self']._modules['drop'].training == True",
     ("static value", "self.drop.training", "True", "False")),
    ("L['n'] == 3\nand more", ("guard", "n", "", "guard failed: n == 3")),
    ("Cache line invalidated because G['opt'] got deallocated",
     ("guard", "", "", "opt is a different object (the earlier one is gone)")),
    ("BACKEND_MATCH: other", ("guard", "", "", "different backend for the same code")),
])  # fmt: skip
def test_a_reason_is_read_as_what_changed(reason: str, change: tuple[str, ...]) -> None:
    assert read(reason) == Guard(Change(*change), is_in_signature=False)


@pytest.mark.parametrize(
    ("reason", "change", "is_in_signature"),
    [
        ("L['n'] == 3", Change("number", "n", "3", "7"), True),
        ("L['mode'] == 'a'", Change("static value", "mode", "'a'", "'b'"), True),
        ("tensor 'x' rank mismatch. expected 2, actual 1", Change("rank", "x", "2", "1"), True),
        ("L['table'] == 3", Change("guard", "table", new="guard failed: table == 3"), False),
        ("G['SCALE'] == 3", Change("number", "global SCALE", "3", "4"), True),
        ("G['OTHER'] == 3", Change("number", "global OTHER", "3", "5"), False),
        ("0/0: GLOBAL_STATE changed: grad_mode ", Change("guard", new="grad mode changed"), True),
        ("not L['mode']", Change("guard", "mode", new="guard failed: not mode"), True),
        ("len(L['mode']) == 2",
         Change("guard", "mode", new="guard failed: len(mode) == 2"), True),
    ],
)  # fmt: skip
def test_values_of_now_are_read_from_the_call(
    reason: str, change: Change, is_in_signature: bool
) -> None:
    found = read(reason, entered(function, torch.ones(3), 7, "b"))
    assert found == Guard(change, is_in_signature)


@pytest.mark.parametrize(("value", "old", "new"), [
    ([1, 1, 1], "length 2", "length 3"),
    (deque([1]), "length 2", "length 1"),
    ({"a": 1}, "2 keys", "1 key"),
    ({1}, "2 items", "1 item"),
])  # fmt: skip
def test_what_had_another_size_is_told_by_what_it_is(value: Any, old: str, new: str) -> None:
    found = read("len(L['v']) == 2", entered(identity, value))
    assert found.change == Change("structure", "v", old, new)


def test_a_module_that_pytorch_wraps_has_the_names_of_its_own_arguments() -> None:
    linear = entered(compiled(torch.nn.Linear(4, 4)), torch.ones(4))
    assert linear.labels == ("input",)
    shape = read("tensor 'args[0]' size mismatch at index 0. expected 2, actual 4", linear)
    assert shape == Guard(Change("shape", "size 0 of input", "2", "4"), is_in_signature=True)
    assert read("fn.training == True", linear).change.path == "self.training"
    assert read("args[1] == 2", linear).change.path == "args[1]"
