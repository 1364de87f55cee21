"""The adapter that the reference shows: CuPy's interface, on a fake GPU."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.adapters.python import Python
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


def test_calls_are_timed_until_the_gpu_has_finished(monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr("ipyjaxbench.timing.session.loaded", lambda: (adapters, {}))
    snippet = Snippet(Source.plain("x @ x"), {"x": ndarray()})
    found = measure_snippet(snippet, TimeOptions(number=3, repeat=5), clock=GPU.clock)
    assert found.median == pytest.approx((LAUNCH_NS + PRODUCT_NS) * 1e-9)
    assert found.frameworks == {"cupy": "14.0.1"}
    (output,) = found.outputs
    assert output.words() == "f32[512,512] cuda:0"
