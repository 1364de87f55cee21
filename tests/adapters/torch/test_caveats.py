"""What of PyTorch's settings changes what a figure means: told where it is so, and only there."""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing._internal.distributed.fake_pg import FakeStore

import ipyjaxbench
from ipyjaxbench.adapters.torch import caveats
from ipyjaxbench.frameworks.placement import Placement
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
AUTOCAST = partial(torch.autocast, "cpu", dtype=torch.bfloat16)
RECORDED = "Autograd records every call for a backward pass, which the time does not include."
ROUNDED = (
    "bfloat16: float32 matrix products on cpu are computed in it"
    " (relative error 3e-03, not 1e-07): torch.autocast computes them in bfloat16."
)


@contextmanager
def setting(write: Any, value: Any, usual: Any) -> Iterator[None]:
    write(value)
    try:
        yield
    finally:
        write(usual)


PRECISION = partial(setting, torch.set_float32_matmul_precision, usual="highest")
DETERMINISTIC = partial(setting, torch.use_deterministic_algorithms, value=True, usual=False)


@pytest.mark.parametrize(
    ("is_on", "code", "text"),
    [
        (torch.enable_grad, "y = net(a)", RECORDED),
        (torch.enable_grad, "net(a).sum().backward()", ""),
        (torch.enable_grad, "step(a)", ""),
        (torch.enable_grad,
         "torch.autograd.grad(net(a).sum(), net.weight, create_graph=True)", ""),
        (torch.enable_grad, "with torch.no_grad(): y = net(a)", ""),
        (AUTOCAST, "a @ a", ROUNDED),
        (AUTOCAST, "with torch.no_grad(): net(a)", ROUNDED),
        (AUTOCAST, "a + a", ""),
        (AUTOCAST, "b @ b", ""),
    ],
)  # fmt: skip
def test_what_is_recorded_or_loses_bits_is_told_and_of_other_code_nothing(
    is_on: Any, code: str, text: str
) -> None:
    with is_on():
        assert [note.text for note in cautions(code, NAMES)] == [text] * bool(text)


def test_a_setting_is_told_where_it_loses_bits_on_this_device() -> None:
    exact = torch.sin(torch.arange(4096, dtype=torch.float64) ** 2).reshape(64, 64)
    with PRECISION("medium"):
        single = exact.float()
        error = ((single @ single).double() - single.double() @ single.double()).norm()
        found = [note.code for note in cautions("a @ a", NAMES)]
    loses = bool(error / (exact @ exact).norm() > 1e-5)  # some CPUs multiply in bfloat16
    assert found == ["reduced-precision"] * loses


def test_of_several_devices_that_round_the_first_is_told() -> None:
    placed = Placement("a", "torch", 1, "float32", (2, 2), ("cpu", "cpu:0"), 16)
    code = CodeFacts(inputs=(placed,), statements=tuple(ast.parse("a @ a").body))
    with AUTOCAST():
        (note,) = caveats._note_rounding(code)
    assert note.text.startswith("bfloat16: float32 matrix products on cpu are")


def test_the_setting_that_may_round_is_named_with_how_to_turn_it_off() -> None:
    assert caveats._precision("cpu") == ("", "")
    with PRECISION("medium"):  # puts back the precision of all backends
        for kind in ("cpu", "cuda"):
            assert caveats._precision(kind) == (
                'torch.get_float32_matmul_precision() is "medium"',
                'torch.set_float32_matmul_precision("highest")',
            )
        torch.set_float32_matmul_precision("highest")
        for kind, backend, value in (("cpu", "mkldnn", "bf16"), ("cuda", "cuda", "tf32")):
            getattr(torch.backends, backend).matmul.fp32_precision = value
            name = f"torch.backends.{backend}.matmul.fp32_precision"
            assert caveats._precision(kind) == (f'{name} is "{value}"', f'{name} = "ieee"')
        assert caveats._precision("xpu") == ("", "")


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize(
    ("is_on", "code", "unconcerned", "text"),
    [
        (torch.autograd.detect_anomaly, "step(a)", "a @ a",
         "Anomaly detection is on: autograd records where each operation was called and checks "),
        (DETERMINISTIC, "a @ a", "",
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
        (note,) = cautions(code, NAMES)
        assert not unconcerned or cautions(unconcerned, NAMES) == []
    assert note.text.startswith(text)
    assert cautions(code, NAMES) == []


def test_several_processes_are_told() -> None:
    assert [*caveats._processes()] == []
    torch.distributed.init_process_group("fake", rank=1, world_size=2, store=FakeStore())
    try:
        (note,) = caveats._processes()
    finally:
        torch.distributed.destroy_process_group()
    assert note.text == "This is the time of process 1 of 2; the others may differ."


@pytest.mark.parametrize("context", [partial(torch.device, "meta"), FakeTensorMode])
def test_a_tensor_without_numbers_is_timed_and_told(context: Any) -> None:
    """No autocast exists for its device."""
    with context():
        names = {"m": torch.ones(3)}
    result = ipyjaxbench.measure_code("m + 1", names, number=2, repeat=2)
    assert result.outputs[0].devices == ("meta",)
    (note,) = cautions("m + 1", names)
    assert note.text.endswith("as on the meta device: nothing was computed.")
    assert cautions("tuple(m.shape)", names) == []
