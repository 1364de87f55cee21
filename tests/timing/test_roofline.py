"""How near a timed call comes to the peaks of its device, where those were measured before."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ipyjaxbench import Measurement
from ipyjaxbench.device import Device, FrameworkDevices, find_datasheet, peaks_store
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.graphs.components import Workload
from ipyjaxbench.graphs.protocol import GraphTracer
from ipyjaxbench.reports import Chart, Note
from ipyjaxbench.testing import FakeArray
from ipyjaxbench.timing import roofline, traced_call
from ipyjaxbench.timing.peak_share import Roofline
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, Bench, recorder
from tests.device.peaks import KEY, PEAKS, RATES, near
from tests.fake_framework import FakeCompilation, FakeFramework, FakeInventory, FakeProbe
from tests.results import measured, rows

PLACE = Placement("", "fake", 1, "float32", (), ("cpu",), 4)
H100 = find_datasheet("NVIDIA H100 80GB HBM3")


def work(nbytes: int | None = None, *, shortcuts: bool = False, **flops: float) -> Workload:
    return Workload(flops, shortcuts=shortcuts, nbytes=nbytes)


PRODUCTS = work(1000, float32=62e6)  # in 1 ms, of 100 GFLOP/s
MIXED = work(float32=20e6, bfloat16=60e6)
RATES_OF_BOTH = {"products": {"float32": 100e9, "bfloat16": 200e9}}
BUSY_HOST = {"device": "gpu:0", "others": 0.5}  # on a CPU its peaks are not believed at all


class Timed:
    """Calls of a millisecond that have to do some work, on devices with peaks."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch, self.framework = patch, FakeFramework()
        x = FakeArray(self.framework.device, 0)
        self.names: dict[str, Any] = {"f": lambda *_: x, "x": x}

    def prepare(self, load: Workload | None, *devices: str, **changed: Any) -> None:
        """Have the framework say how much work a call is, and keep peaks of its devices."""
        kind = devices[0].partition(":")[0]
        for device in devices:
            self.framework.probes[device] = FakeProbe(self.framework.device, RATES)
            self.framework.probes[device].on_host = kind == "cpu"
        home = FrameworkDevices("fake", "1.0", True, tuple(map(Device, devices)))
        self._patch.setattr(FakeInventory, "devices", lambda self: home)
        self._patch.setattr(FakeInventory, "has_devices", True)
        self.trace(lambda self, call: load)
        peaks = dataclasses.replace(PEAKS, device=devices[0], **{"kind": kind, **changed})
        peaks_store.write(KEY._replace(kind=kind), peaks)

    def trace(self, workload: Callable[..., Any]) -> None:
        self._patch.setattr(GraphTracer, "workload", workload)

    def again(self, code: str = "f()", **facts: Any) -> Measurement:
        """Look at a call once more, with these facts of its measurement."""
        found = measured([MS] * 30, **{"inputs": (PLACE,), **facts})
        snippet = Snippet(Source.plain(code), self.names)
        return roofline.add_roofline(snippet, found, [self.framework])

    def __call__(
        self, load: Workload | None, code: str = "f()", device: str = "cpu", **changed: Any
    ) -> Measurement:
        self.prepare(load, device, **changed)
        return self.again(code, inputs=(dataclasses.replace(PLACE, devices=(device,)),))


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Timed:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    return Timed(monkeypatch)


def test_the_share_of_the_peak_is_told(timed: Timed) -> None:
    found = timed(PRODUCTS)
    assert found.roof == Roofline("matmul peak", near(62e9), near(100e9))
    words = "compute-bound, 62 % of this device's peak (62.0 of 100 GFLOP/s)"
    assert rows(found)["roofline"] == words
    assert Measurement.from_dict(found.to_dict()) == found
    found = timed(work(14_200_000), beyond=2**20)
    assert found.roof == Roofline("memory bandwidth", near(14.2e9), near(20e9))
    assert "memory-bound, 71 % of this device's peak (14.2 of 20.0 GB/s)" in str(found)
    found = timed(work(10_000_000, float32=62e6), beyond=2**20)
    assert found.roof is not None
    assert found.roof.intensity == near(6.2)
    assert (found.roof.peak, found.roof.bandwidth) == (near(100e9), near(20e9))
    assert any(isinstance(block, Chart) for block in found.report().blocks)


@pytest.mark.parametrize(
    ("load", "changed", "of", "share"),
    [
        # Products take 0.62 ms here, the bytes 0.5 or 0.71 ms.
        (work(10_000_000, float32=62e6), {"beyond": 2**20}, "matmul peak", 0.62),
        (work(14_200_000, float32=62e6), {"beyond": 2**20}, "memory bandwidth", 0.71),
        (MIXED, RATES_OF_BOTH, "matmul peak", 0.5),  # the time of each dtype
        (work(float32=1.1e6), {"device": "gpu:0"}, "matmul peak", 0.011),
        (work(float32=109e6), {"device": "gpu:0"}, "matmul peak", 1.09),
        (work(float32=95e6), BUSY_HOST, "matmul peak", 0.95),
    ],
)
def test_the_longer_peak_binds(
    timed: Timed, load: Workload, changed: dict[str, Any], of: str, share: float
) -> None:
    roof = timed(load, **changed).roof
    assert roof is not None
    assert (roof.of, roof.share) == (of, near(share))


@pytest.mark.parametrize(
    ("load", "rated"),
    [
        (work(bfloat16=120e6), "H100 bfloat16: 989 TFLOP/s, dense"),
        (work(float32=50e6), "H100 float32: 67.0 TFLOP/s, dense"),
        # 20 of 80 at 67 TFLOP/s, and 60 at 989.
        (MIXED, "H100 float32 and bfloat16: 223 TFLOP/s, dense"),
        (work(2**24), "H100 memory: 3.35 TB/s"),
    ],
)
def test_where_the_chip_is_known_its_datasheet_stands_beside(
    load: Workload, rated: str, timed: Timed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roofline, "find_datasheet", lambda kind: H100 if kind == "cpu" else None)
    found = timed(load, **RATES_OF_BOTH, beyond=2**20)
    assert f"of the datasheet's ({rated})" in " ".join(str(found).split())


def test_what_is_recomputed_counts_for_the_hardware(
    timed: Timed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roofline, "find_datasheet", lambda kind: H100)
    roof = timed(dataclasses.replace(MIXED, recomputed={"bfloat16": 30e6}), **RATES_OF_BOTH).roof
    assert roof is not None
    assert roof.recomputed == near(30e9)  # of calls of a millisecond
    assert roof.mfu == near(20e9 / 67e12 + 30e9 / 989e12)
    assert (roof.speed / (roof.rated or 0)) == near(20e9 / 67e12 + 60e9 / 989e12)


def test_of_several_chips_each_does_its_share(
    timed: Timed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roofline, "find_datasheet", lambda kind: H100)
    timed.prepare(PRODUCTS, "gpu:0", "gpu:1")
    roof = timed.again(inputs=(dataclasses.replace(PLACE, devices=("gpu:0", "gpu:1")),)).roof
    assert roof is not None
    assert (roof.devices, roof.speed, roof.ceiling) == (2, near(31e9), near(100e9))
    assert roof.words() == (
        "compute-bound, 31 % of the peak of 2 devices (31.0 of 100 GFLOP/s, on each); 0 % of the"
        " datasheet's (H100 float32: 67.0 TFLOP/s, dense)"
    )
    # Inputs on one device and on another: nobody knows where the work is.
    apart = tuple(dataclasses.replace(PLACE, devices=(name,)) for name in ("gpu:0", "gpu:1"))
    assert timed.again(inputs=apart).roof is None


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (work(float32=110.5e6), ""),  # samples of the peak differ by 1 %
        (work(float32=112e6), "does 112 MFLOP: 112 GFLOP/s, more than the measured peak of 100"),
        (work(shortcuts=True, float32=299e6), ""),
        (work(shortcuts=True, float32=301e6), "does 301 MFLOP: 301 GFLOP/s, more than"),
        (work(2**26), "moves 64.0 MiB: 67.1 GB/s, more than the measured peak of 20.0 GB/s. Some"),
    ],
)  # fmt: skip
def test_beyond_the_peak_something_was_not_done(timed: Timed, load: Workload, said: str) -> None:
    found = timed(load)
    assert (found.roof, found.verdict) == (None, "INVALID" if said else "QUIET")
    texts = " ".join(note.text for note in found.notes if note.code == "impossible-speed")
    assert texts.startswith(f"As written, each call {said}") if said else not texts


@pytest.mark.parametrize("facts", [
    {"clock": "cpu"},
    {"clock": "calendar"},
    {"batches": ((1, 0),) * 30, "rounds": (30,)},
    {"batches": (), "rounds": ()},
    {"notes": (Note("recompiles", "It compiles."),)},
    {"notes": (Note("lazy", "Nothing was computed."),)},
    {"notes": (Note("half-product", "NumPy computes half of it."),)},
    {"inputs": (PLACE, dataclasses.replace(PLACE, devices=("gpu:0",)))},
    {"inputs": ()},
])  # fmt: skip
def test_other_figures_than_the_time_of_one_device_have_none(
    timed: Timed, facts: dict[str, Any]
) -> None:
    told = timed(PRODUCTS)
    assert told.roof is not None
    assert timed.again(**facts).roof is None
    snippet, found = Snippet(Source.plain("f()"), timed.names), dataclasses.replace(told, roof=None)
    assert roofline.add_roofline(snippet, found, [timed.framework] * 2).roof is None


@pytest.mark.parametrize(
    ("load", "changed"),
    [
        (None, {}),
        (work(), {}),
        (work(float32=0.0), {}),
        (work(float32=0.9e6), {}),  # under one percent
        (work(int8=62e6), {}),  # its peak was not measured
        (work(14_200_000), {}),  # it may stay in a cache
        (PRODUCTS, {"version": "0.9"}),
        (work(float32=200e6), BUSY_HOST),
        (work(float32=105e6), BUSY_HOST),
        (work(float32=115e6), {"spread": 0.2}),
        (work(shortcuts=True, float32=200e6), {}),  # as convolutions may
    ],
)
def test_nothing_rather_than_a_wrong_thing(
    timed: Timed, load: Workload | None, changed: dict[str, Any]
) -> None:
    found = timed(load, **changed)
    assert found.roof is None
    assert "impossible-speed" not in [note.code for note in found.notes]


def test_calls_without_code_in_them_are_looked_at(
    timed: Timed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeArray, "block_until_ready", FakeArray.wait, raising=False)
    for code in ("f()", "y = f()", "f(x)", "f(x.wait)", "f(x).block_until_ready()", "f() or x"):
        assert timed(PRODUCTS, code).roof is not None
    for code in ("f(f())", "f(*[x])", "y = x; f(y)", "for _ in [1]: f()"):
        assert timed(PRODUCTS, code).roof is None


def test_an_array_that_is_given_twice_is_read_once(timed: Timed) -> None:
    load = work(2**26)
    assert timed(load, "f(x)").verdict == "INVALID"
    assert timed(load, "f(x, x)").verdict != "INVALID"


def test_numbered_calls_are_not_run_once_more(
    timed: Timed, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed(PRODUCTS)
    assert timed.again(exact=True).roof is None
    compiled = timed.names["f"]
    monkeypatch.setattr(FakeCompilation, "compiles", lambda self, value: value is compiled)
    assert timed.again(exact=True).roof is not None


def test_tracing_that_fails_prints_or_takes_too_long_is_given_up(
    timed: Timed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = timed.framework.device.clock
    note, turns = recorder()

    def fails(self: GraphTracer, call: object) -> None:
        print("traced")
        raise RuntimeError("it depends on values")

    def endless(self: GraphTracer, call: object) -> None:
        while True:
            note(1)
            clock.advance(round(traced_call._TRACE_SECONDS / 4 * 1e9))

    timed(PRODUCTS)
    timed.trace(fails)
    assert timed.again().roof is None
    assert capsys.readouterr().out == ""
    timed.trace(endless)
    monkeypatch.setattr("ipyjaxbench.usercode.deadline._CLOCK", clock)
    assert timed.again().roof is None
    assert len(turns) == 5


def test_code_is_traced_where_peaks_were_kept_and_only_there(
    timed: Timed, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    timed.framework = bench.framework
    timed.trace(lambda self, call: seen.append(call))
    code = "device.start(dispatch=0, work=1_000_000)"
    bench.time(code)
    assert seen == []
    monkeypatch.setattr(FakeFramework, "placement", lambda *_: PLACE)
    timed.prepare(PRODUCTS, "cpu")
    assert bench.time(code).roof == Roofline("matmul peak", near(62e9), near(100e9))


@pytest.mark.parametrize(("speed", "ceiling"), [(0.0, 1.0), (1.0, 0.0), (float("inf"), 1.0)])
def test_a_roofline_that_makes_no_sense_is_refused(speed: float, ceiling: float) -> None:
    facts = {"of": "matmul peak", "speed": speed, "ceiling": ceiling}
    with pytest.raises(msgspec.ValidationError, match="Expected `float` "):
        msgspec.convert(facts, Roofline)
