"""The adapter that the reference shows: CuPy's interface, on a fake GPU."""

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.adapters.python import Python
from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.interleave import compare_snippets
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.testing import FakeClock, FakeDevice
from ipyjaxbench.timing.measure import measure_snippet
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.test_reference import blocks

GPU = FakeDevice(FakeClock())
PRODUCT_NS, LAUNCH_NS = 1_000_000, 10_000


class Device:
    """`cupy.cuda.Device`."""

    def __init__(self, id: int = 0) -> None:
        self.id = id

    def synchronize(self) -> None:
        GPU.wait_until(GPU.busy_until)


class ndarray:
    """`cupy.ndarray`: an operation comes back when it is launched."""

    shape, dtype, nbytes = (512, 512), "float32", 4 * 512 * 512
    device = Device()

    def __matmul__(self, other: "ndarray") -> "ndarray":
        GPU.start(dispatch=LAUNCH_NS, work=PRODUCT_NS)
        return ndarray()


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """CuPy, and its adapter as the only one beside Python's."""
    module: Any = ModuleType("cupy")
    module.__version__, module.ndarray = "14.0.1", ndarray
    runtime = SimpleNamespace(memGetInfo=lambda: (2**30, 2**34))
    module.cuda = SimpleNamespace(Device=Device, runtime=runtime)
    pool = SimpleNamespace(total_bytes=lambda: ndarray.nbytes)
    module.get_default_memory_pool = lambda: pool
    monkeypatch.setitem(sys.modules, "cupy", module)
    names: dict[str, Any] = {}
    (shown,) = (code for code in blocks("python") if "class CuPy" in code)
    exec(shown, names)
    adapters = [Python(), names["CuPy"]()]
    for room in ("timing.session", "comparison.interleave"):
        monkeypatch.setattr(f"ipyjaxbench.{room}.loaded", lambda: (adapters, {}))
    yield adapters[1]
    Device().synchronize()


def test_calls_are_timed_until_the_gpu_has_finished(cupy: Any) -> None:
    snippet = Snippet(Source.plain("x @ x"), {"x": ndarray()})
    found = measure_snippet(snippet, TimeOptions(number=3, repeat=5), clock=GPU.clock)
    assert found.median == pytest.approx((LAUNCH_NS + PRODUCT_NS) * 1e-9)
    assert found.frameworks == {"cupy": "14.0.1"}
    (output,) = found.outputs
    assert output.words() == "f32[512,512] cuda:0"


def test_arms_are_compared_with_work_that_is_waited_for(cupy: Any) -> None:
    names = {"x": ndarray()}
    arms = [ArmSpec(label, Snippet(Source.plain(code), names))
            for label, code in (("one", "x @ x"), ("two", "x @ x @ x"))]  # fmt: skip
    options = CompareOptions(budget=0.5)
    found = compare_snippets(arms, options, clock=GPU.clock)
    assert found["two"].median == pytest.approx(2 * found["one"].median, rel=0.01)
