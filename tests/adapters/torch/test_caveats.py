"""What of PyTorch's settings changes what a figure means: told where it is so, and only there."""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded
from torch.testing._internal.distributed.fake_pg import FakeStore

import ipyjaxbench
from ipyjaxbench.adapters.torch import caveats
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.reports.note import Note
from ipyjaxbench.timing.validity.code_facts import CodeFacts
from tests.cautions import cautions

NET = torch.nn.Linear(64, 4)
NAMES: dict[str, Any] = {
    "torch": torch,
    "net": NET,
    "step": lambda x: NET(x).sum().backward(),
    "f": torch.compile(lambda x: x + 1, backend="eager"),
    "a": torch.ones(64, 64),
    "b": torch.ones(64, 64, dtype=torch.bfloat16),
}


def caution_notes(code: str) -> list[Note]:
    return cautions(code, NAMES)


@pytest.mark.parametrize("code", ["net(a)", "y = net(a)"])
def test_calls_that_autograd_recorded_are_told(code: str) -> None:
    (note,) = caution_notes(code)
    assert note.text == (
        "Autograd records every call for a backward pass, which the time does not include."
    )


@pytest.mark.parametrize(
    "code",
    [
        "net(a).sum().backward()",
        "step(a)",
        "torch.autograd.grad(net(a).sum(), net.weight, create_graph=True)",
        "with torch.no_grad(): y = net(a)",
    ],
)
def test_nothing_is_told_where_nothing_is_recorded_or_a_backward_pass_is_made(code: str) -> None:
    assert caution_notes(code) == []


@pytest.mark.parametrize("code", ["a @ a", "net(a)"])
def test_products_that_lose_bits_are_told_with_the_error_that_was_measured(code: str) -> None:
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        (note,) = caution_notes(code)
    assert note.text == (
        "bfloat16: float32 matrix products on cpu are computed in it"
        " (relative error 3e-03, not 1e-07): torch.autocast computes them in bfloat16."
    )


@pytest.mark.parametrize("code", ["a + a", "b @ b"])
def test_lost_bits_are_not_told_of_code_that_they_do_not_concern(code: str) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert caution_notes(code) == []


def test_a_setting_is_told_where_it_loses_bits_on_this_device() -> None:
    exact = torch.sin(torch.arange(4096, dtype=torch.float64) ** 2).reshape(64, 64)
    torch.set_float32_matmul_precision("medium")
    try:
        single = exact.float()
        error = ((single @ single).double() - single.double() @ single.double()).norm()
        found = [note.code for note in caution_notes("a @ a")]
    finally:
        torch.set_float32_matmul_precision("highest")
    loses = bool(error / (exact @ exact).norm() > 1e-5)  # some CPUs multiply in bfloat16
    assert found == ["reduced-precision"] * loses


def test_of_several_devices_that_round_the_first_is_told() -> None:
    placed = Placement("a", "torch", 1, "float32", (2, 2), ("cpu", "cpu:0"), 16)
    code = CodeFacts(inputs=(placed,), statements=tuple(ast.parse("a @ a").body))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        (note,) = caveats._note_rounding(code)
    assert note.text.startswith("bfloat16: float32 matrix products on cpu are")


def test_the_setting_that_may_round_is_named_with_how_to_turn_it_off() -> None:
    matmuls = {"cpu": ("mkldnn", "bf16"), "cuda": ("cuda", "tf32")}
    assert caveats._precision("cpu") == ("", "")
    torch.set_float32_matmul_precision("medium")
    try:
        for kind in matmuls:
            assert caveats._precision(kind) == (
                'torch.get_float32_matmul_precision() is "medium"',
                'torch.set_float32_matmul_precision("highest")',
            )
        torch.set_float32_matmul_precision("highest")
        for kind, (backend, setting) in matmuls.items():
            getattr(torch.backends, backend).matmul.fp32_precision = setting
            name = f"torch.backends.{backend}.matmul.fp32_precision"
            assert caveats._precision(kind) == (f'{name} is "{setting}"', f'{name} = "ieee"')
        assert caveats._precision("xpu") == ("", "")
    finally:
        torch.set_float32_matmul_precision("highest")  # of all backends


@contextmanager
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize(
    ("is_on", "code", "unconcerned", "text"),
    [
        (torch.autograd.detect_anomaly, "step(a)", "a @ a",
         "Anomaly detection is on: autograd records where each operation was called and checks "),
        (deterministic, "a @ a", "",
         "torch.use_deterministic_algorithms is on: some operations use slower algorithms."),
        (partial(torch._dynamo.config.patch, disable=True), "f(a)", "a + 1",
         "torch._dynamo.config.disable is on: torch.compile compiles nothing new."),
        (torch.profiler.profile, "a @ a", "", "torch.profiler is active"),
    ],
)  # fmt: skip
def test_what_is_switched_on_is_told_where_it_matters(
    is_on: Any, code: str, unconcerned: str, text: str
) -> None:
    with is_on():
        (note,) = caution_notes(code)
        assert not unconcerned or caution_notes(unconcerned) == []
    assert note.text.startswith(text)
    assert caution_notes(code) == []


def test_several_processes_are_told() -> None:
    assert [*caveats._processes()] == []
    torch.distributed.init_process_group("fake", rank=1, world_size=2, store=FakeStore())
    try:
        (note,) = caveats._processes()
    finally:
        torch.distributed.destroy_process_group()
    assert note.text == "This is the time of process 1 of 2; the others may differ."


def test_a_tensor_without_data_is_timed() -> None:
    """No autocast exists for its device."""
    names = {"m": torch.ones(3, device="meta")}
    result = ipyjaxbench.measure_code("m + 1", names, number=2, repeat=2)
    assert result.outputs[0].devices == ("meta",)
    assert cautions("m + 1", names) == []
