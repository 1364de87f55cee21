"""What of PyTorch's settings changes what a figure means: told where it is so, and only there."""

import ast
import warnings
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
        for kind, (backend, setting) in matmuls.items():
            getattr(torch.backends, backend).matmul.fp32_precision = setting
            name = f"torch.backends.{backend}.matmul.fp32_precision"
            assert caveats._precision(kind) == (f'{name} is "{setting}"', f'{name} = "ieee"')
        assert caveats._precision("xpu") == ("", "")
    finally:
        torch.set_float32_matmul_precision("highest")  # of all backends


def test_anomaly_detection_is_told_where_autograd_records() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            notes = caution_notes("step(a)")
            assert caution_notes("a @ a") == []
    (note,) = notes
    assert note.text == (
        "Anomaly detection is on: autograd records where each operation was called"
        " and checks every gradient."
    )
    assert caution_notes("step(a)") == []


def test_deterministic_algorithms_are_told() -> None:
    torch.use_deterministic_algorithms(True)
    try:
        (note,) = caution_notes("a @ a")
    finally:
        torch.use_deterministic_algorithms(False)
    assert note == Note(
        "setting-on",
        "torch.use_deterministic_algorithms is on: some operations use slower algorithms.",
        "torch.use_deterministic_algorithms(False)",
    )


def test_a_compiler_that_is_turned_off_is_told_where_it_would_be_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(NAMES, "f", torch.compile(lambda x: x + 1, backend="eager"))
    assert caution_notes("f(a)") == []
    torch._dynamo.config.disable = True
    try:
        (note,) = caution_notes("f(a)")
        assert caution_notes("a + 1") == []
    finally:
        torch._dynamo.config.disable = False
    assert note.text == "torch._dynamo.config.disable is on: torch.compile compiles nothing new."


def test_a_profiler_is_told_while_it_runs() -> None:
    with torch.profiler.profile():
        (note,) = caution_notes("a @ a")
    assert note.text.startswith("torch.profiler is active")
    assert caution_notes("a @ a") == []


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
