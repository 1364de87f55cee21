"""Data that caches keep from one call to the next, on GPUs and CPUs that are only named."""

import pytest

from ipyjaxbench.device import Device, FrameworkDevices
from ipyjaxbench.errors import called_from
from ipyjaxbench.frameworks import Placement
from ipyjaxbench.testing import FakeArray
from ipyjaxbench.timing.cold_cache import ColdCache
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.peak_share import Roofline
from ipyjaxbench.timing.validity import notes, warm_cache
from tests.bench import Bench, notes_by_code
from tests.fake_framework import FakeFramework, FakeInventory
from tests.results import measured

MIB = 2**20
H100 = "NVIDIA H100 80GB HBM3, compute capability 9.0"


@pytest.mark.parametrize(
    ("kind", "device", "nbytes", "microseconds", "shown"),
    [(H100, "cuda:0", 20 * MIB, 20, True),  # x and the result, 12.5 µs from memory
     (H100, "cuda:0", 20 * MIB, 124, True),
     (H100, "cuda:0", 20 * MIB, 126, False),  # less than a tenth
     (H100, "cuda:0", 26 * MIB, 20, False),  # more than 50 MiB
     (H100, "cuda:1", 20 * MIB, 20, False),  # of which nothing is known
     (H100, "cpu", 20 * MIB, 20, False), ("Another GPU", "cuda:0", 20 * MIB, 20, False),
     ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "cuda:0", 20 * MIB, 20, False),
     ("TPU v5 lite", "tpu:0", 20 * MIB, 20, False)],
)  # fmt: skip
def test_what_fits_into_the_cache_and_is_soon_read_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, kind: str, device: str, nbytes: int,
    microseconds: int, shown: bool,
) -> None:  # fmt: skip
    place = Placement("", "fake", 1, "float32", (), (device,), nbytes)
    known = "cuda:0" if device == "cuda:1" else device
    devices = FrameworkDevices("fake", "1.0", True, (Device(known, kind),))
    monkeypatch.setattr(bench.framework, "placement", lambda array: place)
    monkeypatch.setattr(FakeInventory, "devices", lambda self: devices)
    monkeypatch.setattr(FakeFramework, "free_memory", lambda self: 2**40)
    bench.names["f"] = lambda _: bench.device.start(dispatch=0, work=microseconds * 1000)
    bench.names["x"] = FakeArray(bench.device, 0)
    found = notes_by_code(bench.time("f(x)", number=1, repeat=4))
    assert ("warm-cache" in found) is shown


@pytest.mark.parametrize(("magic", "advice"), [("%fwtime", "--cold also"), ("%%fwcompare", "")])
def test_what_is_advised_can_be_typed(magic: str, advice: str) -> None:
    with called_from(magic):
        assert notes.warm_cpu_cache(MIB, MIB).advice.startswith(advice)
        assert bool(notes.warm_cache(MIB, MIB, "H100", 1e-6).advice) is bool(advice)


# CPUs

CPUS, OWN, LAST = 2, MIB // 2, 32 * MIB


@pytest.fixture
def cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two CPUs with a cache of their own each, and one for both."""
    monkeypatch.setattr(warm_cache, "usable_cpus", lambda: CPUS)
    monkeypatch.setattr(warm_cache, "core_cache", lambda: OWN)
    monkeypatch.setattr(warm_cache, "largest_cache", lambda: LAST)


def call(nbytes: int, seconds: float, device: str = "cpu:0", **facts: object) -> Measurement:
    """A measurement of code that reads one array and gives another one, so many bytes in all."""
    place = Placement("x", "numpy", 1, "float32", (), (device,), nbytes // 2)
    return measured([round(seconds * 1e9)] * 20, inputs=(place,), outputs=(place,), **facts)


def codes(m: Measurement) -> list[str]:
    return [note.code for note in warm_cache.check_warm_cpu_cache(m)]


@pytest.mark.usefixtures("cpu")
@pytest.mark.parametrize(
    ("nbytes", "seconds", "shown"),
    [(8 * MIB, 1e-3, True), (CPUS * OWN, 1e-5, False),  # what the cores' own caches hold
     (CPUS * OWN + 2, 1e-5, True), (LAST, 1e-3, True), (LAST + 2, 1e-3, False),
     (8_000_000, 7.9e-3, True),  # 0.8 ms at 10 GB/s
     (8_000_000, 8.1e-3, False),  # less than a tenth
     (0, 1e-3, False)],
)  # fmt: skip
def test_what_only_the_last_cache_holds_is_told(nbytes: int, seconds: float, shown: bool) -> None:
    assert codes(call(nbytes, seconds)) == ["warm-cpu-cache"] * shown


@pytest.mark.usefixtures("cpu")
def test_code_that_caches_do_not_change_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, products = (Roofline(of, 1e9, 2e9) for of in ("memory bandwidth", "matmul peak"))
    assert codes(call(8 * MIB, 1e-3, roof=memory)) == ["warm-cpu-cache"]
    assert codes(call(8 * MIB, 1e-3, roof=products)) == []
    assert codes(call(8 * MIB, 1e-3, device="cuda:0")) == []
    invalid = call(8 * MIB, 1e-3, notes=(notes.lazy("generator", "list(g)"),))
    assert (invalid.verdict, codes(invalid)) == ("INVALID", [])
    assert codes(call(8 * MIB, 1e-3, cold=ColdCache((2e-3,) * 5, LAST))) == []  # they say it
    assert codes(call(8 * MIB, 1e-3, cold=ColdCache(reason="interrupted"))) == ["warm-cpu-cache"]
    for name in ("core_cache", "largest_cache"):  # a cache that is not known
        with monkeypatch.context() as patch:
            patch.setattr(warm_cache, name, lambda: None)
            assert codes(call(8 * MIB, 1e-3)) == []


@pytest.mark.usefixtures("cpu")
def test_it_is_a_note_of_the_measurement(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Placement("", "fake", 1, "float32", (), ("cpu:0",), 8 * MIB)
    monkeypatch.setattr(bench.framework, "placement", lambda array: place)
    monkeypatch.setattr(FakeFramework, "free_memory", lambda self: 2**40)
    bench.names["f"] = lambda _: bench.device.start(dispatch=0, work=1_000_000)
    bench.names["x"] = FakeArray(bench.device, 0)
    assert "warm-cpu-cache" in notes_by_code(bench.time("f(x)", budget=0.1))
