"""PyTorch's reasons for a recompilation, read as changes of what the user gave."""

from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.adapters.torch.retracing.callee import Entered
from ipyjaxbench.adapters.torch.retracing.guards import Guard, read
from ipyjaxbench.retracing import Change

SCALE = 4
OTHER = 5


def function(x: Any, n: Any, mode: Any) -> Any:
    return x * n * SCALE, mode


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("0/0: tensor 'x' size mismatch at index 1. expected 4, actual 8",
         Change("shape", "size 1 of x", "4", "8")),
        ("3/1_2: tensor 'x' size mismatch at index 0. expected 4",
         Change("shape", "size 0 of x", "4", "?")),
        ("tensor 'x' stride mismatch at index 0. expected 4, actual 1",
         Change("layout", "stride 0 of x", "4", "1")),
        ("tensor 'x' dtype mismatch. expected Float, actual Double",
         Change("dtype", "x", "float", "double")),
        ("tensor 'x' rank mismatch. expected 2, actual 1", Change("rank", "x", "2", "1")),
        ("tensor 'x' rank mismatch. expected 2", Change("rank", "x", "2", "?")),
        ("tensor 'x' requires_grad mismatch. expected requires_grad=1",
         Change("layout", "x", "requires_grad", "no requires_grad")),
        ("tensor 'x' requires_grad mismatch. expected requires_grad=0",
         Change("layout", "x", "no requires_grad", "requires_grad")),
        ("tensor 'x' dispatch key set mismatch. expected A, actual B",
         Change("guard", "x", new="dispatch key set of x changed")),
        ("tensor 'x' Tensor device index mismatch. Expected device index to be \0, actual \1",
         Change("device", "x", "0", "1")),
        ("expected type of 'x' to be a tensor type, but found <class 'float'>",
         Change("type", "x", "a tensor", "float")),
        ("___check_obj_id(L['x'].config, 140)",
         Change("guard", "x.config", new="x.config is a different object")),
        ("___check_type_id(L['x'], 140)", Change("guard", "x", new="x has a different type")),
        ("___check_obj_id(G['helper'].__code__, 140)",
         Change("guard", "global helper.__code__",
                new="global helper.__code__ is a different object")),
        ("L['flag'] == True  # if flag:", Change("static value", "flag", "True", "False")),
        ("G['FLAG'] == False", Change("static value", "global FLAG", "False", "True")),
        ("L['self']._modules['drop'].training == True",
         Change("static value", "self.drop.training", "True", "False")),
        ("L['n'] == 3\nand more", Change("guard", "n == 3", new="guard failed: n == 3")),
        ("Cache line invalidated because G['opt'] got deallocated",
         Change("guard", new="opt is a different object (the earlier one is gone)")),
        ("BACKEND_MATCH: other", Change("guard", new="different backend for the same code")),
    ],
)  # fmt: skip
def test_a_reason_is_read_as_what_changed(reason: str, change: Change) -> None:
    assert read(reason) == Guard(change, is_in_signature=False)


def test_a_global_state_of_pytorchs_is_in_signatures_too() -> None:
    expected = Guard(Change("guard", new="grad mode changed"), is_in_signature=True)
    assert read("0/0: GLOBAL_STATE changed: grad_mode ") == expected


@pytest.mark.parametrize(
    ("reason", "change", "is_in_signature"),
    [
        ("L['n'] == 3", Change("number", "n", "3", "7"), True),
        ("L['mode'] == 'a'", Change("static value", "mode", "'a'", "'b'"), True),
        ("tensor 'x' rank mismatch. expected 2, actual 1", Change("rank", "x", "2", "1"), True),
        ("L['table'] == 3", Change("guard", "table == 3", new="guard failed: table == 3"), False),
        ("G['SCALE'] == 3", Change("number", "global SCALE", "3", "4"), True),
        ("G['OTHER'] == 3", Change("number", "global OTHER", "3", "5"), False),
        ("not L['mode']", Change("guard", "mode", new="guard failed: not mode"), True),
    ],
)  # fmt: skip
def test_values_of_now_are_read_from_the_call(
    reason: str, change: Change, is_in_signature: bool
) -> None:
    entered = Entered.from_call(function, (torch.ones(3), 7, "b"), {})
    assert read(reason, entered) == Guard(change, is_in_signature)


def test_the_length_of_an_argument_is_in_signatures() -> None:
    entered = Entered.from_call(function, (torch.ones(3), 7, "b"), {})
    found = read("len(L['mode']) == 2", entered)
    assert found.change.words() == "guard failed: len(mode) == 2"
    assert found.is_in_signature


def test_a_module_that_pytorch_wraps_has_the_names_of_its_own_arguments() -> None:
    linear = torch.compile(torch.nn.Linear(4, 4), backend="eager")
    entered = Entered.from_call(linear, (torch.ones(4),), {})
    assert entered is not None
    assert entered.labels == ("input",)
    shape = read("tensor 'args[0]' size mismatch at index 0. expected 2, actual 4", entered)
    assert shape == Guard(Change("shape", "size 0 of input", "2", "4"), is_in_signature=True)
    assert read("fn.training == True", entered).change.path == "self.training"
    assert read("args[1] == 2", entered).change.path == "args[1] == 2"
