"""What of PyTorch's settings changes what a figure means: told where it is so, and only there."""

import ast
import warnings
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

import ipyjaxbench
from ipyjaxbench.adapters.torch import caveats
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.reports.note import Note
from ipyjaxbench.timing.validity.code_facts import CodeFacts
from tests.adapters.pair import run_pair
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


@pytest.mark.parametrize("code", ["net(a)", "y = net(a)", "[net(a).sum()]"])
def test_calls_that_autograd_recorded_are_told(code: str) -> None:
    (note,) = caution_notes(code)
    assert note.text == (
        "Autograd records every call for a backward pass, which the time does not include."
    )


@pytest.mark.parametrize(
    "code",
    [
        "a @ a",
        "net(a).sum().backward()",
        "loss = net(a).sum(); loss.backward()",
        "step(a)",
        "torch.autograd.grad(net(a).sum(), net.weight, create_graph=True)",
        "with torch.no_grad(): y = net(a)",
        "with torch.inference_mode(): y = net(a)",
    ],
)
def test_nothing_is_told_where_nothing_is_recorded_or_a_backward_pass_is_made(code: str) -> None:
    assert caution_notes(code) == []


def test_nothing_is_recorded_without_gradients() -> None:
    with torch.no_grad():
        assert caution_notes("net(a)") == []


@pytest.mark.parametrize("code", ["a @ a", "torch.matmul(a, a)", "net(a)"])
def test_products_that_lose_bits_are_told_with_the_error_that_was_measured(code: str) -> None:
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        (note,) = caution_notes(code)
    assert note.text == (
        "bfloat16: float32 matrix products on cpu are computed in it"
        " (relative error 3e-03, not 1e-07): torch.autocast computes them in bfloat16."
    )


@pytest.mark.parametrize("code", ["a + a", "b @ b", "with torch.autocast('cpu'): y = b @ b"])
def test_lost_bits_are_not_told_of_code_that_they_do_not_concern(code: str) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert caution_notes(code) == []


@pytest.mark.parametrize("setting", ["highest", "high", "medium"])
def test_a_setting_is_told_where_it_loses_bits_on_this_device(setting: str) -> None:
    exact = torch.sin(torch.arange(4096, dtype=torch.float64) ** 2).reshape(64, 64)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(setting)
    try:
        single = exact.float()
        error = ((single @ single).double() - single.double() @ single.double()).norm()
        found = [note.code for note in caution_notes("a @ a")]
    finally:
        torch.set_float32_matmul_precision(before)
    loses = bool(error / (exact @ exact).norm() > 1e-5)  # some CPUs multiply in bfloat16
    assert found == ["reduced-precision"] * loses


def test_of_several_devices_that_round_the_first_is_told() -> None:
    placed = Placement("a", "torch", 1, "float32", (2, 2), ("cpu", "cpu:0"), 16)
    code = CodeFacts(inputs=(placed,), statements=tuple(ast.parse("a @ a").body))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        (note,) = caveats._note_rounding(code)
    assert note.text.startswith("bfloat16: float32 matrix products on cpu are")


def test_the_setting_that_may_round_is_named_with_how_to_turn_it_off() -> None:
    highest = 'torch.set_float32_matmul_precision("highest")'
    assert caveats._precision("cpu") == ("", "")
    torch.set_float32_matmul_precision("medium")
    try:
        setting = 'torch.get_float32_matmul_precision() is "medium"'
        assert caveats._precision("cpu") == (setting, highest)
        assert caveats._precision("cuda") == (setting, highest)
    finally:
        torch.set_float32_matmul_precision("highest")


def test_a_backends_own_setting_is_named() -> None:
    torch.backends.mkldnn.matmul.fp32_precision = "bf16"
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    try:
        name = "torch.backends.mkldnn.matmul.fp32_precision"
        assert caveats._precision("cpu") == (f'{name} is "bf16"', f'{name} = "ieee"')
        name = "torch.backends.cuda.matmul.fp32_precision"
        assert caveats._precision("cuda") == (f'{name} is "tf32"', f'{name} = "ieee"')
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
    printed = run_pair(
        "import sys, torch, torch.distributed as dist, ipyjaxbench\n"
        "address = f'tcp://localhost:{sys.argv[2]}'\n"
        "dist.init_process_group('gloo', address, rank=int(sys.argv[1]), world_size=2)\n"
        "names = dict(dist=dist, x=torch.ones(3))\n"
        "r = ipyjaxbench.measure_code('dist.all_reduce(x)', names, number=3, repeat=2)\n"
        "print([n.text for n in r.notes if n.code == 'processes'])\n"
        "dist.destroy_process_group()"
    )
    assert printed == [
        f"['This is the time of process {i} of 2; the others may differ.']" for i in (0, 1)
    ]


def test_a_tensor_without_data_is_timed() -> None:
    """No autocast exists for its device."""
    names = {"m": torch.ones(3, device="meta")}
    result = ipyjaxbench.measure_code("m + 1", names, number=2, repeat=2)
    assert result.outputs[0].devices == ("meta",)
    assert cautions("m + 1", names) == []
