"""What devices can do at most: measured once, kept for the machine, told beside a timed call."""

import dataclasses
import gc
import json
import os
import re
import warnings
from pathlib import Path
from typing import Any

import msgspec
import pytest

import ipyjaxbench
from ipyjaxbench import Measurement, Peaks
from ipyjaxbench.device import Device, FrameworkDevices, find_datasheet, measure_peaks, peaks_store
from ipyjaxbench.device.peaks import DevicePeaks
from ipyjaxbench.device.peaks_store import Key
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.graphs.components import Workload
from ipyjaxbench.graphs.protocol import GraphTracer
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.host.conditions import Conditions
from ipyjaxbench.reports import Chart, Facts, Headline, Note, Notes, Table
from ipyjaxbench.testing import FakeArray
from ipyjaxbench.timing import roofline, traced_call
from ipyjaxbench.timing.peak_share import Roofline
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, Bench, recorder
from tests.fake_framework import FakeCompilation, FakeFramework, FakeInventory, FakeProbe
from tests.shell import Shell

RATES = {"float32": 100e9}
PEAKS = DevicePeaks(
    framework="fake", version="1.0", device="cpu", kind="cpu", threads=None, settings="",
    products={"float32": 100e9}, bandwidth=20e9, beyond=2**26, upload=None, download=None,
    latency=1e-6, spread=0.01, others=0.0, seconds=1.5, taken=1000.0,
)  # fmt: skip
KEY = Key("fake", "1.0", "cpu", None, "")


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data" / "ipyjaxbench" / "ceilings"


class Machine:
    """A machine of two CPUs of which other programs take a share, in place of the meter's."""

    def __init__(self) -> None:
        self.others = 0.0

    def __call__(self, clock: Clock) -> "Machine":
        return self

    def read(self) -> Conditions:
        return Conditions(wall=1.0, cpu=1.0, cpus=2, usable=2, busy=1.0 + 2 * self.others)


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(measure_peaks, "Meter", machine)
    return machine


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, bench: Bench) -> FakeFramework:
    framework = bench.framework
    framework.probes["cpu"] = FakeProbe(framework.device, RATES)
    monkeypatch.setattr(FakeFramework, "free_memory", lambda self: 2**40)
    monkeypatch.setattr("ipyjaxbench.device.measure_peaks.loaded", lambda: ([framework], {}))
    return framework


def look(fake: FakeFramework, **options: bool) -> Peaks:
    return measure_peaks.collect_peaks(clock=fake.device.clock, **options)


def near(rate: float) -> Any:
    return pytest.approx(rate, rel=0.01)


# Measuring


def test_what_a_device_does_at_most_is_measured(fake: FakeFramework) -> None:
    (found,) = look(fake).found
    assert found.products == {"float32": near(100e9)}  # float64 fails, and is left out
    assert found.bandwidth == near(100e9)  # of the faster way
    assert found.latency == pytest.approx(1e-6)
    assert (found.upload, found.download) == (None, None)
    assert found.spreads == {"float32": 0, "memory": 0, "latency": 0}
    assert (found.spread, found.missing) == (0, ())
    assert (found.framework, found.device, found.kind) == ("fake", "cpu", "cpu")


def test_copies_are_measured_where_the_device_has_memory_of_its_own(fake: FakeFramework) -> None:
    fake.probes["cpu"] = FakeProbe(fake.device, RATES, copies=10e9)
    (found,) = look(fake).found
    assert (found.upload, found.download) == (near(10e9), near(5e9))
    assert "host to device        10.0 GB/s" in str(look(fake))


def test_a_look_that_was_disturbed_is_taken_again(fake: FakeFramework) -> None:
    class Disturbed(FakeProbe):
        looks = 0

        def product(self, dtype: str, n: int) -> Any:
            run = super().product(dtype, n)
            Disturbed.looks += 1
            late = 8 * (Disturbed.looks <= 1)
            return lambda: [run() for _ in range(1 + late)]

    fake.probes["cpu"] = Disturbed(fake.device, RATES)
    (found,) = look(fake).found
    assert found.products["float32"] == near(100e9)
    assert found.spread < 0.05


def test_looks_end_where_nothing_becomes_steady(fake: FakeFramework) -> None:
    class Restless(FakeProbe):
        turn = 0

        def smallest_operation(self) -> Any:
            Restless.turn += 1
            seconds = 1e-3 * 0.96**Restless.turn
            return lambda: self._device.clock.advance(round(seconds * 1e9))

    fake.probes["cpu"] = Restless(fake.device, {})
    before = fake.device.clock.now()
    (found,) = look(fake).found
    assert 2.3 < (fake.device.clock.now() - before) / 1e9 < 2.5
    assert found.products == {}
    assert 0.03 < found.spreads["latency"] < 1


def test_measuring_leaves_the_garbage_collector_as_it_was(fake: FakeFramework) -> None:
    seen: list[bool] = []

    class Seeing(FakeProbe):
        def smallest_operation(self) -> Any:
            seen.append(gc.isenabled())
            return super().smallest_operation()

    fake.probes["cpu"] = Seeing(fake.device, RATES)
    look(fake)
    assert not any(seen)
    assert gc.isenabled()


def test_a_framework_that_has_not_started_is_not_measured(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeFramework, "started", lambda self: False)
    found = look(fake)
    assert found.found == ()
    assert "no framework is initialized (`start=True`)" in str(found)


@pytest.mark.parametrize(
    ("cache", "on_host", "free", "beyond", "is_measured"),
    [
        (None, True, 2**40, 2**26, True),
        (2**26, True, 2**40, 2**27, True),  # four times as much as the cache is read
        (2**26, False, 2**40, 2**28, True),
        (None, True, 2**29, 2**26, False),  # an eighth of what is free
        (None, True, 2**29 + 8, 2**26, True),
    ],
)
def test_memory_is_measured_with_arrays_that_no_cache_holds(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch, cache: int | None, on_host: bool,
    free: int, beyond: int, is_measured: bool,
) -> None:  # fmt: skip
    probe = FakeProbe(fake.device, RATES, copies=None if on_host else 10e9)
    fake.probes["cpu"] = probe
    monkeypatch.setattr(measure_peaks, "largest_cache", lambda: cache)
    monkeypatch.setattr(FakeFramework, "free_memory", lambda self: free)
    (found,) = look(fake).found
    assert (found.beyond, found.bandwidth is not None) == (beyond, is_measured)


@pytest.mark.parametrize(
    ("memory", "free", "sizes"),
    [
        (4e12, 2**40, [2**29, 2**31]),  # what lies between would take time, and tell no more
        (4e12, 2**33, [2**29, 2**30]),  # an eighth of what is free
        (4e12, 2**31, [2**28]),
        (1e11, 2**40, [2**29]),  # three runs with more would take too long
    ],
)
def test_arrays_grow_until_they_fill_a_large_gpu(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch, memory: float, free: int,
    sizes: list[int],
) -> None:  # fmt: skip
    made: list[int] = []

    class Seeing(FakeProbe):
        def streams(self, nbytes: int) -> Any:
            made.append(nbytes)
            return super().streams(nbytes)

    fake.probes["cpu"] = Seeing(fake.device, RATES, memory, copies=10e9)
    monkeypatch.setattr(FakeFramework, "free_memory", lambda self: free)
    look(fake)
    assert made[: len(sizes)] == sizes
    assert set(made) == set(sizes)
    assert len(made) <= len(sizes) + 1  # later samples run what was made


def test_one_of_each_sort_of_device_is_measured(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = ("a chip", "a chip", "another", "")
    devices = tuple(Device(f"fake:{n}", kind) for n, kind in enumerate(kinds))
    home = FrameworkDevices("fake", "1.0", started=True, devices=devices)
    monkeypatch.setattr(FakeInventory, "has_devices", True)
    monkeypatch.setattr(FakeInventory, "devices", lambda self: home)
    monkeypatch.setattr(FakeInventory, "threads", lambda self: 3)
    for device in devices:
        fake.probes[device.name] = FakeProbe(fake.device, RATES)
        fake.probes[device.name].device = device.name
    fake.probes["fake:2"].on_host = False
    found = look(fake).found
    assert [(each.device, each.kind, each.threads) for each in found] == [
        ("fake:0", "a chip", 3), ("fake:2", "another", None), ("fake:3", "fake", 3),
    ]  # fmt: skip
    fake.probes["fake:1"].on_host = fake.probes["fake:0"].on_host = False
    look(fake)
    known = [["fake:1"], ["fake:0", "fake:1"]]
    unknown = [["fake:9"], ["fake:0", "fake:9"], ["fake:0", "fake:2"]]  # the last are two kinds
    assert all(measure_peaks.find_peaks(fake, each) for each in known)
    assert not any(measure_peaks.find_peaks(fake, each) for each in unknown)
    fake.probes["fake:1"].on_host = fake.probes["fake:0"].on_host = True
    assert measure_peaks.find_peaks(fake, known[0])
    assert not measure_peaks.find_peaks(fake, known[1])  # they share the host's CPUs


class SlowProbe(FakeProbe):
    """A GPU on which each run takes a second; it remembers what was run."""

    dtypes = ("float64", "float32", "int8", "bfloat16")

    def __init__(self, fake: FakeFramework, seconds: float = 1.0) -> None:
        super().__init__(fake.device, dict.fromkeys(self.dtypes, 1e9), copies=1e9)
        self.seconds, self.runs = seconds, [""]

    def product(self, dtype: str, n: int) -> Any:
        return self._noted(dtype)

    def streams(self, nbytes: int) -> Any:
        return ((self._noted("memory"), nbytes),)

    def upload(self, nbytes: int) -> Any:
        return self._noted("upload")

    def download(self, nbytes: int) -> Any:
        return self._noted("download")

    def smallest_operation(self) -> Any:
        return self._noted("latency")

    def _noted(self, name: str) -> Any:
        def run() -> None:
            self._device.clock.advance(round(self.seconds * 1e9))
            if self.runs[-1] != name:
                self.runs.append(name)

        return run


def seconds_of_look(fake: FakeFramework, **options: bool) -> tuple[float, Peaks]:
    before = fake.device.clock.now()
    found = look(fake, **options)
    return (fake.device.clock.now() - before) / 1e9, found


def test_slow_figures_keep_the_time_and_the_most_used_come_first(fake: FakeFramework) -> None:
    probe = fake.probes["cpu"] = SlowProbe(fake)
    seconds, peaks = seconds_of_look(fake)
    assert 12 < seconds < 15
    (found,) = peaks.found
    assert probe.runs[1:6] == ["float32", "bfloat16", "memory", "upload", "download"]
    assert found.spreads.keys() == {*probe.runs[1:6], "float64", "int8"}
    assert found.missing == ("latency",)
    assert set(found.spreads.values()) == {1.0}


def test_what_people_use_most_agrees_before_the_rest_begins(fake: FakeFramework) -> None:
    probe = fake.probes["cpu"] = SlowProbe(fake, 0.2)
    seconds, peaks = seconds_of_look(fake)
    assert seconds < 15
    most = ["float32", "bfloat16", "memory", "upload", "download"]
    assert probe.runs[1:] == [*most * 3, *["float64", "int8", "latency"] * 3]
    assert set(peaks.found[0].spreads.values()) == {0.0}


def test_a_figure_that_fails_later_keeps_what_was_measured(fake: FakeFramework) -> None:
    class Failing(FakeProbe):
        made = 0

        def product(self, dtype: str, n: int) -> Any:
            Failing.made += dtype == "float32" and n == 512
            if Failing.made > 1:
                raise MemoryError("no room")
            return super().product(dtype, n)

    fake.probes["cpu"] = Failing(fake.device, RATES)
    (found,) = look(fake).found
    assert found.products == {"float32": near(100e9)}
    assert found.spreads["float32"] == 1.0
    assert Failing.made == 2


def test_samples_that_agree_end_a_look_early(fake: FakeFramework) -> None:
    seconds, peaks = seconds_of_look(fake)
    assert seconds < 2
    assert peaks.found[0].spreads == {"float32": 0, "memory": 0, "latency": 0}


def test_a_look_goes_on_with_what_there_was_no_time_for(fake: FakeFramework) -> None:
    probe = fake.probes["cpu"] = SlowProbe(fake)
    (first,) = look(fake).found
    probe.runs[:] = [""]
    seconds, peaks = seconds_of_look(fake)
    assert probe.runs == ["", "latency"]
    assert 0 < seconds < 15
    (found,) = peaks.found
    assert found.missing == ()
    assert found.products == first.products
    assert found.latency == pytest.approx(1.0)
    assert found.spreads == {**first.spreads, "latency": 0}
    seconds, again = seconds_of_look(fake)
    assert (seconds, again.seconds, again.found) == (0, 0, (found,))


@pytest.mark.parametrize("seconds", [0.05, 0.3, 2.0, 6.0])
def test_all_devices_share_one_time(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    devices = (Device("fake:0", "a chip"), Device("fake:1", "another"), Device("cpu", ""))
    home = FrameworkDevices("fake", "1.0", started=True, devices=devices)
    monkeypatch.setattr(FakeInventory, "has_devices", True)
    monkeypatch.setattr(FakeInventory, "devices", lambda self: home)
    for name in ("fake:0", "fake:1"):
        fake.probes[name] = SlowProbe(fake, seconds)
        fake.probes[name].device = name
    spent, peaks = seconds_of_look(fake)
    assert spent < 15 + 2 * seconds  # what nobody could know: how long the first run takes
    one, other, host = peaks.found
    assert "float32" in one.products
    assert "float32" in host.products or seconds == 6.0
    if seconds <= 2.0:
        assert "float32" in other.products
    if seconds == 0.05:
        assert [each.missing for each in peaks.found] == [()] * 3


def test_time_that_is_left_goes_to_what_is_missing(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = (Device("fake:0", "a chip"), Device("fake:1", "another"))
    home = FrameworkDevices("fake", "1.0", started=True, devices=devices)
    monkeypatch.setattr(FakeInventory, "has_devices", True)
    monkeypatch.setattr(FakeInventory, "devices", lambda self: home)
    for name, slow in (("fake:0", 0.6), ("fake:1", 0.01)):
        fake.probes[name] = SlowProbe(fake, slow)
        fake.probes[name].device = name
    spent, peaks = seconds_of_look(fake)
    assert spent < 15
    assert [each.missing for each in peaks.found] == [(), ()]
    one = fake.probes["fake:0"]
    assert isinstance(one, SlowProbe)
    assert one.runs[-1] == "latency"


def test_what_was_disturbed_at_first_stays_so_where_the_rest_was_not() -> None:
    busy = dataclasses.replace(PEAKS, others=0.4, missing=("int8",))
    rest = dataclasses.replace(PEAKS, products={"int8": 1e9})
    assert rest.combine(busy).is_disturbed
    assert not PEAKS.combine(busy).is_disturbed  # everything was measured again


def test_the_time_of_measuring_is_that_of_all_devices(
    fake: FakeFramework, machine: Machine
) -> None:
    """A quarter of a second until threads are idle, and what the meter shows."""
    assert look(fake).seconds == pytest.approx(0.25 + 1.0)


def test_the_best_of_two_peaks_is_taken_figure_by_figure() -> None:
    one = dataclasses.replace(PEAKS, upload=1e9, products={"float32": 1e9, "float64": 3e9})
    other = dataclasses.replace(
        PEAKS, bandwidth=30e9, upload=2e9, download=None, latency=2e-6,
        products={"float32": 2e9, "int8": 1e9},
    )  # fmt: skip
    for best in (one.combine(other), other.combine(one)):
        assert (best.bandwidth, best.upload, best.download, best.latency) == (30e9, 2e9, None, 1e-6)
        assert best.products == {"float32": 2e9, "float64": 3e9, "int8": 1e9}
    unknown = dataclasses.replace(PEAKS, latency=None)
    assert unknown.combine(PEAKS).latency == PEAKS.latency


def test_the_spread_of_the_better_figure_is_kept_and_what_either_has_is_not_missing() -> None:
    one = dataclasses.replace(
        PEAKS, spreads={"float32": 0.01, "memory": 0.2}, missing=("int8", "float16"), bandwidth=1e9
    )
    other = dataclasses.replace(
        PEAKS, products={"int8": 1e9}, spreads={"int8": 0.04, "memory": 0.02}, missing=("float16",)
    )
    for best in (one.combine(other), other.combine(one)):
        assert best.spreads == {"float32": 0.01, "int8": 0.04, "memory": 0.02}
        assert (best.spread, best.missing) == (0.04, ("float16",))


@pytest.mark.parametrize(
    ("device", "others", "disturbed"),
    [("cpu", 0.1, False), ("cpu:0", 0.11, True), ("gpu:0", 0.5, False)],
)
def test_other_programs_disturb_the_host_from_a_tenth_of_its_cpus_on(
    device: str, others: float, disturbed: bool
) -> None:
    peaks = dataclasses.replace(PEAKS, device=device, others=others)
    assert peaks.is_disturbed is disturbed
    shown = str(Peaks((peaks,), 0.0))
    assert ("CPU peaks are" in shown) is disturbed
    assert ("Other programs used" in shown) is (others > 0.1)


# Keeping


def test_what_was_measured_is_kept_until_it_is_measured_again(
    fake: FakeFramework, data_dir: Path
) -> None:
    assert measure_peaks.find_peaks(fake, ["cpu"]) is None
    assert not peaks_store.has_peaks("fake")
    assert not data_dir.exists()  # to look makes no folder
    first = look(fake)
    fake.probes["cpu"] = FakeProbe(fake.device, {"float32": 200e9})
    again = look(fake)
    assert (again.found, first.seconds > 0, again.seconds) == (first.found, True, 0)
    for found in (look(fake, remeasure=True), look(fake)):
        assert found.found[0].products["float32"] == near(200e9)


def test_what_was_measured_while_others_had_the_cpus_is_shown_and_not_kept(
    fake: FakeFramework, machine: Machine
) -> None:
    machine.others = 0.4
    found = look(fake)
    assert found.found[0].others == pytest.approx(0.4)
    assert "CPU peaks are too low, and were not stored" in " ".join(str(found).split())
    assert peaks_store.read(KEY) == (None, [])
    machine.others = 0.0
    assert look(fake).seconds > 0
    assert peaks_store.read(KEY)[0] is not None


@pytest.mark.parametrize("others", [0.0, 0.4])
def test_a_peak_is_never_below_what_was_measured_before(
    fake: FakeFramework, machine: Machine, others: float
) -> None:
    look(fake)
    fake.probes["cpu"] = FakeProbe(fake.device, {"float32": 50e9})
    machine.others = others
    assert look(fake, remeasure=True).found[0].products == {"float32": near(100e9)}


@pytest.mark.parametrize(
    ("key", "stored"),
    [({"version": "2"}, {}), ({"threads": 4}, {}), ({"settings": "TF32"}, {}),
     ({}, {"bandwidth": -1.0}), ({}, {"version": "2.0"}), ({}, {"spread": -0.1}),
     ({}, {"others": 0.4})],  # earlier versions kept what others disturbed
)  # fmt: skip
def test_peaks_are_read_under_their_own_key_and_where_they_make_sense(
    key: dict[str, Any], stored: dict[str, Any]
) -> None:
    peaks_store.write(KEY, PEAKS)
    assert peaks_store.read(KEY) == (PEAKS, [])
    peaks_store.write(KEY, dataclasses.replace(PEAKS, **stored))
    assert peaks_store.read(KEY._replace(**key))[0] is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"schema": 1, "kind": "ceilings", "facts": {"found": [], "now": 1}}',
     '{"schema": 9, "kind": "ceilings"}', "[" * 100_000, "x" * 200_000],
)  # fmt: skip
def test_a_broken_file_is_left_out_and_said(text: str, data_dir: Path, fake: FakeFramework) -> None:
    look(fake)
    (file,) = data_dir.iterdir()
    file.write_text(text)
    found = look(fake)
    assert found.found[0].products["float32"] == near(100e9)
    (note,) = found.words
    assert isinstance(note, Note)
    assert note.code == "peaks-unread"
    assert note.text.startswith(f"ignored {file.name}: ")
    assert look(fake).words == ()  # it was written anew


def test_peaks_of_earlier_versions_are_read(data_dir: Path) -> None:
    peaks_store.write(KEY, PEAKS)
    (file,) = data_dir.iterdir()
    record = json.loads(file.read_text())
    for name in ("spreads", "missing"):
        del record["facts"]["found"][0][name]
    file.write_text(json.dumps(record))
    assert peaks_store.read(KEY) == (PEAKS, [])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="it has no pipes among its files")
def test_what_is_no_file_is_not_read(data_dir: Path) -> None:
    peaks_store.write(KEY, PEAKS)
    (file,) = data_dir.iterdir()
    file.unlink()
    os.mkfifo(file)  # nobody writes to it: to read it would take forever
    assert peaks_store.read(KEY) == (None, [])


def test_a_folder_that_cannot_be_made_fails_nothing(fake: FakeFramework, data_dir: Path) -> None:
    data_dir.parents[1].write_text("a file stands where the directory would")
    found = look(fake)
    assert found.found[0].products["float32"] == near(100e9)
    assert found.words == (
        Note(
            "peaks-not-kept",
            "peaks were not stored for other sessions: Jupyter's data directory is not writable",
        ),
    )
    assert look(fake).seconds == 0.0  # this session has them
    assert peaks_store.has_peaks("fake")


def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    peaks_store.write(KEY, PEAKS)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        (note,) = peaks_store.write(KEY, dataclasses.replace(PEAKS, bandwidth=1.0))
    assert note.text == "peaks were not stored for other sessions: No space left on device"
    assert peaks_store.read(KEY)[0] == dataclasses.replace(PEAKS, bandwidth=1.0)
    (file,) = data_dir.iterdir()
    assert Peaks.from_dict(json.loads(file.read_text())).found == (PEAKS,)


def test_a_kept_file_names_no_machine(data_dir: Path) -> None:
    peaks_store.write(KEY, PEAKS)
    (file,) = data_dir.iterdir()
    assert os.uname().nodename not in file.name + file.read_text()
    assert json.loads(file.read_text())["kind"] == "ceilings"


# The report


def test_products_are_named_by_what_the_chip_computed_with() -> None:
    """As measured on an H100: JAX multiplies float32 on tensor cores, PyTorch does not."""
    h100 = dataclasses.replace(PEAKS, kind="NVIDIA H100 80GB HBM3, compute capability 9.0",
                               bandwidth=2.86e12)  # fmt: skip
    of_jax = dataclasses.replace(h100, framework="jax", device="gpu:0",
                                 products={"float32": 421e12, "bfloat16": 707e12})  # fmt: skip
    of_torch = dataclasses.replace(h100, framework="torch", device="cuda:0",
                                   products={"float32": 51.7e12})  # fmt: skip
    text = str(Peaks((of_jax, of_torch), 1000.0))
    assert re.search(r"TF32 matmul +421 TFLOP/s +-", text)
    assert re.search(r"bfloat16 matmul +707 TFLOP/s +-", text)
    assert re.search(r"float32 matmul +- +51\.7 TFLOP/s", text)
    facts = " ".join(text.split())
    assert "jax gpu:0: TF32 85 %, bfloat16 71 %, memory 85 % of what is stated of an H100" in facts
    assert "torch cuda:0: float32 77 %, memory 85 % of what is stated of an H100" in facts


def test_the_report_in_text() -> None:
    other = dataclasses.replace(
        PEAKS, framework="jax", device="gpu:0", kind="NVIDIA H100", products={"bfloat16": 8e14},
        upload=50e9, download=25e9, others=0.4, threads=2, settings="a setting",
    )  # fmt: skip
    words = ("one more thing",)
    found = Peaks((PEAKS, other), 1000.0 + 7200, 0.0, words)
    assert str(found) == REPORT.rstrip()


def test_notes_are_saved_beside_the_sentences_of_earlier_versions() -> None:
    found = Peaks((PEAKS,), 0.0, words=("a sentence", Note("peaks-unread", "a note")))
    assert Peaks.from_dict(found.to_dict()) == found
    assert str(found).splitlines()[-3:-1] == ["·  a sentence", "·  a note"]


REPORT = """\
peak          2 devices   stored earlier; `remeasure=True` measures again
  highest measured       fake cpu    jax gpu:0
  float32 matmul      100 GFLOP/s            -
  bfloat16 matmul               -  800 TFLOP/s
  memory bandwidth      20.0 GB/s    20.0 GB/s
  host to device                -    50.0 GB/s
  device to host                -    25.0 GB/s
  smallest operation      1.00 µs      1.00 µs
fake cpu      measured 2 hours ago, repeated measurements differ by up to 1.0 %
jax gpu:0     NVIDIA H100, 2 threads, a setting, measured 2 hours ago, repeated
              measurements differ by up to 1.0 %
no transfers  fake cpu: arrays are in host memory
·  Other programs used 40 % of the CPUs during the measurement.
→  run `peaks(remeasure=True)` when the machine is quiet
·  one more thing
fake 1.0 · jax 1.0
"""


@pytest.mark.parametrize(
    ("spread", "words"),
    [
        (0.2, "repeated measurements differ by up to 20 %"),
        (0.21, "repeated measurements differ by up to 21 % (unreliable)"),
        (1.0, "some figures measured only once (unreliable)"),
    ],
)
def test_peaks_of_earlier_versions_have_one_number_for_all_figures(
    spread: float, words: str
) -> None:
    found = Peaks((dataclasses.replace(PEAKS, spread=spread),), 1000.0)
    (facts,) = (block for block in found.report().blocks if isinstance(block, Facts))
    assert facts.rows[0] == ("fake cpu", f"measured just now, {words}")


def test_each_figure_has_its_spread_beside_it_and_what_is_uncertain_is_named() -> None:
    gpu = dataclasses.replace(
        PEAKS, framework="torch", device="cuda:0", kind="NVIDIA H100 80GB HBM3",
        products={"float32": 51.7e12, "bfloat16": 782e12, "float64": 55e12}, bandwidth=2.94e12,
        upload=50e9, download=None,
        spreads={"float32": 0.034, "bfloat16": 0.0, "float64": 1.0, "memory": 0.005,
                 "upload": 0.121, "latency": 0.02},
        missing=("download", "float16", "int8"),
    )  # fmt: skip
    peaks = Peaks((dataclasses.replace(gpu, framework="jax", device="gpu:0"), gpu, gpu), 1000.0)
    assert str(peaks) == SPREADS.rstrip()
    html = peaks._repr_mimebundle_()["text/html"]
    for words in ("51.7 TFLOP/s ± 4 %", "50.0 GB/s ± 13 %", "measured only once (unreliable)"):
        assert words in html


SPREADS = """\
peak          3 devices   stored earlier; `remeasure=True` measures again
  highest measured             jax gpu:0        torch cuda:0        torch cuda:0
  float32 matmul      51.7 TFLOP/s ± 4 %  51.7 TFLOP/s ± 4 %  51.7 TFLOP/s ± 4 %
  bfloat16 matmul      782 TFLOP/s ± 0 %   782 TFLOP/s ± 0 %   782 TFLOP/s ± 0 %
  float64 matmul            55.0 TFLOP/s        55.0 TFLOP/s        55.0 TFLOP/s
  memory bandwidth       2.94 TB/s ± 1 %     2.94 TB/s ± 1 %     2.94 TB/s ± 1 %
  host to device        50.0 GB/s ± 13 %    50.0 GB/s ± 13 %    50.0 GB/s ± 13 %
  smallest operation       1.00 µs ± 2 %       1.00 µs ± 2 %       1.00 µs ± 2 %
jax gpu:0     NVIDIA H100 80GB HBM3, measured just now, measured only once
              (unreliable): float64 matmul
datasheet     jax gpu:0: float32 77 %, bfloat16 79 %, float64 82 %, memory 88 %
              of what is stated of an H100 (dense)
torch cuda:0  NVIDIA H100 80GB HBM3, measured just now, measured only once
              (unreliable): float64 matmul
datasheet     torch cuda:0: float32 77 %, bfloat16 79 %, float64 82 %, memory
              88 % of what is stated of an H100 (dense)
torch cuda:0  NVIDIA H100 80GB HBM3, measured just now, measured only once
              (unreliable): float64 matmul
datasheet     torch cuda:0: float32 77 %, bfloat16 79 %, float64 82 %, memory
              88 % of what is stated of an H100 (dense)
±             how far the best samples of a figure are apart
not measured  jax gpu:0: float16, int8 matmul, device to host; torch cuda:0:
              float16, int8 matmul, device to host; torch cuda:0: float16, int8
              matmul, device to host: no time was left, `peaks()` goes on with
              it
jax 1.0 · torch 1.0
"""


def test_a_figure_without_a_second_sample_alone_is_said_to_be_measured_once() -> None:
    steady = dataclasses.replace(PEAKS, spreads={"float32": 0.01, "memory": 0.4})
    assert "once" not in str(Peaks((steady,), 1000.0))
    once = dataclasses.replace(PEAKS, spreads={"float32": 0.01, "memory": 1.0})
    words = " ".join(str(Peaks((once,), 1000.0)).split())
    assert "measured only once (unreliable): memory bandwidth no transfers" in words


def test_other_programs_are_said_once_for_all_devices() -> None:
    found = Peaks(
        tuple(dataclasses.replace(PEAKS, others=share) for share in (0.53, 0.05, 0.56)), 0.0
    )
    (notes,) = (block for block in found.report().blocks if isinstance(block, Notes))
    assert notes.notes == (
        Note(
            "peaks-disturbed",
            "Other programs used 53–56 % of the CPUs during the measurement: CPU peaks are too"
            " low, and were not stored.",
            "run `peaks(remeasure=True)` when the machine is quiet",
        ),
    )


def test_the_headline_says_whether_they_were_measured_now() -> None:
    def headline(*found: DevicePeaks, seconds: float = 0.0) -> tuple[str, str]:
        head = Peaks(found, 0.0, seconds).report().blocks[0]
        assert isinstance(head, Headline)
        assert (head.title, head.verdict) == ("peak", "")
        return head.figure, head.detail

    assert headline(PEAKS, seconds=1.5) == ("1 device", "measured in 1.5 s")
    again = "stored earlier; `remeasure=True` measures again"
    assert headline(PEAKS, PEAKS) == ("2 devices", again)
    nothing = "no framework is initialized (`start=True`)"
    assert headline() == ("no device", nothing)
    assert repr(Peaks((PEAKS,), 0.0)) == "<Peaks 1 devices>"


def test_three_peaks_stand_side_by_side_and_what_none_has_is_left_out() -> None:
    def tables(count: int) -> list[Table]:
        blocks = Peaks((bare,) * count, 0.0).report().blocks
        return [block for block in blocks if isinstance(block, Table)]

    bare = dataclasses.replace(PEAKS, bandwidth=None)
    assert [len(table.head) for table in tables(3)] == [1 + 3]
    assert [len(table.head) for table in tables(4)] == [1 + 2, 1 + 2]
    assert [len(table.head) for table in tables(5)] == [1 + 3, 1 + 2]
    assert tables(0) == []
    assert [row[0] for row in tables(1)[0].rows] == ["float32 matmul", "smallest operation"]


# The magic, and the Python function


@pytest.mark.parametrize(
    ("old", "told"),
    [({}, "ceilings() is now peaks()"),
     ({"fresh": True}, "ceilings(fresh=…) is now peaks(remeasure=…)")],
)  # fmt: skip
def test_the_old_name_of_the_function_works_and_says_so(
    fake: FakeFramework, old: dict[str, bool], told: str
) -> None:
    with pytest.warns(FutureWarning) as caught:
        found = ipyjaxbench.ceilings(**old).found
    assert [(str(each.message), each.filename) for each in caught] == [
        (f"{told}. The old name still works, until version 0.3.", __file__)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ipyjaxbench.peaks().found == found


def test_the_magic_shows_peaks(shell: Shell, fake: FakeFramework) -> None:
    peaks_store.write(KEY, PEAKS)
    shell.run("%fwdevices --peak -v found")
    assert shell.names["found"].found == (PEAKS,)
    assert "100 GFLOP/s" in str(shell.shown[0].data["text/plain"])
    assert len(shell.shown) == 1


# Beside a timed call

PLACE = Placement("", "fake", 1, "float32", (), ("cpu",), 4)
H100 = find_datasheet("NVIDIA H100 80GB HBM3")


def work(nbytes: int | None = None, *, shortcuts: bool = False, **flops: float) -> Workload:
    return Workload(flops, shortcuts=shortcuts, nbytes=nbytes)


PRODUCTS = work(1000, float32=62e6)  # in 1 ms, of 100 GFLOP/s
MIXED = work(float32=20e6, bfloat16=60e6)
RATES_OF_BOTH = {"products": {"float32": 100e9, "bfloat16": 200e9}}
BUSY_HOST = {"device": "gpu:0", "others": 0.5}  # on a CPU its peaks are not believed at all


class Timed:
    """Calls of a millisecond that have to do some work."""

    def __init__(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        self._bench, self._patch = bench, monkeypatch
        bench.names["f"] = lambda *_: bench.device.start(dispatch=0, work=MS)
        bench.names["x"] = FakeArray(bench.device, 0)

    def __call__(
        self, load: Workload | None, code: str = "f()", device: str = "cpu", **changed: Any
    ) -> Measurement:
        place = dataclasses.replace(PLACE, devices=(device,))
        self._patch.setattr(FakeFramework, "placement", lambda *_: place)
        self._bench.framework.probes[device] = FakeProbe(self._bench.device, RATES)
        of_devices = FrameworkDevices("fake", "1.0", True, (Device(device),))
        self._patch.setattr(FakeInventory, "devices", lambda self: of_devices)
        self._patch.setattr(FakeInventory, "has_devices", device != "cpu")
        kind = device.partition(":")[0]
        peaks = dataclasses.replace(PEAKS, device=device, kind=kind, **changed)
        peaks_store.write(KEY._replace(kind=kind), peaks)
        self._patch.setattr(GraphTracer, "workload", lambda self, call: load)
        return self._bench.time(code)


@pytest.fixture
def timed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Timed:
    return Timed(bench, monkeypatch)


def test_the_share_of_the_peak_is_told(timed: Timed) -> None:
    found = timed(PRODUCTS)
    assert found.roof == Roofline("matmul peak", near(62e9), near(100e9))
    words = "compute-bound, 62 % of this device's peak (62.0 of 100 GFLOP/s)"
    assert f"roofline  {words}" in str(found)
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
        (work(float32=105e6), {"device": "gpu:0"}, "matmul peak", 1.05),
        (work(float32=109e6), {"device": "gpu:0"}, "matmul peak", 1.09),
        (work(float32=95e6), BUSY_HOST, "matmul peak", 0.95),
    ],
)
def test_the_peak_that_takes_longer_binds(
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
    ],
)
def test_where_the_chip_is_known_its_datasheet_stands_beside(
    load: Workload, rated: str, timed: Timed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roofline, "find_datasheet", lambda kind: H100 if kind == "cpu" else None)
    found = timed(load, **RATES_OF_BOTH)
    assert f"of the datasheet's ({rated})" in " ".join(str(found).split())


def test_what_is_recomputed_counts_for_the_hardware_and_not_for_the_model(
    timed: Timed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roofline, "find_datasheet", lambda kind: H100)
    roof = timed(dataclasses.replace(MIXED, recomputed={"bfloat16": 30e6}), **RATES_OF_BOTH).roof
    assert roof is not None
    assert roof.recomputed == near(30e9)  # of calls of a millisecond
    assert roof.mfu == near(20e9 / 67e12 + 30e9 / 989e12)
    assert (roof.speed / (roof.rated or 0)) == near(20e9 / 67e12 + 60e9 / 989e12)


def test_of_several_equal_chips_each_does_its_share(
    timed: Timed, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roofline, "find_datasheet", lambda kind: H100)
    found = dataclasses.replace(timed(PRODUCTS, device="gpu:0"), roof=None)
    pair = FrameworkDevices("fake", "1.0", True, (Device("gpu:0"), Device("gpu:1")))
    bench.framework.probes["gpu:1"] = FakeProbe(bench.device, RATES)
    for name in ("gpu:0", "gpu:1"):
        bench.framework.probes[name].on_host = False
    monkeypatch.setattr(FakeInventory, "devices", lambda self: pair)
    peaks_store.write(
        KEY._replace(kind="gpu", threads=None), dataclasses.replace(PEAKS, kind="gpu")
    )
    spread = dataclasses.replace(PLACE, devices=("gpu:0", "gpu:1"))
    snippet = Snippet(Source.plain("f()"), bench.names)

    def measured(*inputs: Placement) -> Measurement:
        places = dataclasses.replace(found, inputs=inputs, outputs=())
        return roofline.add_roofline(snippet, places, [bench.framework])

    roof = measured(spread).roof
    assert roof is not None
    assert (roof.devices, roof.speed, roof.ceiling) == (2, near(31e9), near(100e9))
    assert roof.words() == (
        "compute-bound, 31 % of the peak of 2 devices (31.0 of 100 GFLOP/s, on each); 0 % of the"
        " datasheet's (H100 float32: 67.0 TFLOP/s, dense)"
    )
    # Inputs on one device and on another: nobody knows where the work is.
    apart = [dataclasses.replace(PLACE, devices=(name,)) for name in ("gpu:0", "gpu:1")]
    assert measured(*apart).roof is None


@pytest.mark.parametrize(
    ("flops", "shortcuts", "verdict"),
    [(110.5e6, False, "QUIET"), (112e6, False, "INVALID"),  # samples of the peak differ by 1 %
     (299e6, True, "QUIET"), (301e6, True, "INVALID")],
)  # fmt: skip
def test_beyond_the_peak_something_was_not_done(
    timed: Timed, flops: float, shortcuts: bool, verdict: str
) -> None:
    found = timed(work(shortcuts=shortcuts, float32=flops))
    assert (found.roof, found.verdict) == (None, verdict)


OTHER = dataclasses.replace(PLACE, devices=("gpu:0",))
HALF = Note("half-product", "NumPy computes half of it.")


@pytest.mark.parametrize(
    "facts",
    [
        {"clock": "cpu"},
        {"clock": "calendar"},
        {"batches": ((1, 0),) * 30, "rounds": (30,)},
        {"batches": (), "rounds": ()},
        {"notes": (Note("recompiles", "It compiles."),)},
        {"notes": (Note("lazy", "Nothing was computed."),)},
        {"notes": (HALF,)},
        {"inputs": (PLACE, OTHER)},
        {"inputs": (), "outputs": ()},
    ],
)
def test_a_figure_that_is_not_the_time_of_one_device_has_no_roofline(
    timed: Timed, bench: Bench, facts: dict[str, Any]
) -> None:
    found = dataclasses.replace(timed(PRODUCTS), roof=None)
    snippet = Snippet(Source.plain("f()"), bench.names)
    told = roofline.add_roofline(snippet, found, [bench.framework])
    assert told.roof is not None
    odd = dataclasses.replace(found, **facts)
    assert roofline.add_roofline(snippet, odd, [bench.framework]).roof is None
    assert roofline.add_roofline(snippet, found, [bench.framework] * 2).roof is None


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
def test_nothing_is_told_rather_than_a_wrong_thing(
    timed: Timed, load: Workload | None, changed: dict[str, Any]
) -> None:
    found = timed(load, **changed)
    assert found.roof is None
    assert "impossible-speed" not in [note.code for note in found.notes]


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (work(float32=200e6),
         "does 200 MFLOP: 200 GFLOP/s, more than the measured peak of 100 GFLOP/s"),
        (work(2**26), "moves 64.0 MiB: 67.1 GB/s, more than the measured peak of 20.0 GB/s"),
    ],
)  # fmt: skip
def test_a_speed_above_the_peak_is_invalid(timed: Timed, load: Workload, said: str) -> None:
    found = timed(load)
    assert (found.verdict, found.roof) == ("INVALID", None)
    assert [note.text for note in found.notes if note.code == "impossible-speed"] == [
        f"As written, each call {said}. Some of the work was skipped."
    ]


@pytest.mark.parametrize(
    "code", ["f()", "y = f()", "f(x)", "f(x.wait)", "f(x).block_until_ready()", "f() or x"]
)
def test_calls_whose_parts_can_be_had_without_running_code_are_looked_at(
    timed: Timed, code: str
) -> None:
    FakeArray.block_until_ready = FakeArray.wait  # type: ignore[attr-defined]
    try:
        assert timed(PRODUCTS, code).roof is not None
    finally:
        del FakeArray.block_until_ready  # type: ignore[attr-defined]


def test_an_array_that_is_given_twice_is_read_once(timed: Timed) -> None:
    load = work(2**26)
    assert timed(load, "f(x)").verdict == "INVALID"
    assert timed(load, "f(x, x)").verdict != "INVALID"


@pytest.mark.parametrize("code", ["f(f())", "f(*[x])", "y = x; f(y)", "for _ in [1]: f()"])
def test_other_code_is_not(timed: Timed, code: str) -> None:
    assert timed(PRODUCTS, code).roof is None


def test_a_call_that_cannot_be_traced_is_timed_all_the_same(
    timed: Timed, monkeypatch: pytest.MonkeyPatch, bench: Bench
) -> None:
    timed(PRODUCTS)

    def fails(self: FakeFramework, call: object) -> None:
        raise RuntimeError("it depends on values")

    monkeypatch.setattr(GraphTracer, "workload", fails)
    assert bench.time("f()").roof is None


def test_where_calls_are_numbered_the_users_python_is_not_run_once_more(
    timed: Timed, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert timed(PRODUCTS).roof is not None
    assert bench.time("f()", number=1, repeat=9).roof is None
    monkeypatch.setattr(FakeCompilation, "compiles", lambda self, value: value is bench.names["f"])
    assert bench.time("f()", number=1, repeat=9).roof is not None


def test_tracing_ends_when_the_time_is_over(
    timed: Timed, monkeypatch: pytest.MonkeyPatch, bench: Bench
) -> None:
    timed(PRODUCTS)
    note, turns = recorder()

    def endless(self: FakeFramework, call: object) -> None:
        while True:
            note(1)
            bench.clock.advance(round(traced_call._TRACE_SECONDS / 4 * 1e9))

    monkeypatch.setattr(GraphTracer, "workload", endless)
    monkeypatch.setattr("ipyjaxbench.usercode.deadline._CLOCK", bench.clock)
    assert bench.time("f()").roof is None
    assert len(turns) == 5


def test_what_tracing_prints_is_not_shown(
    timed: Timed,
    monkeypatch: pytest.MonkeyPatch,
    bench: Bench,
    capsys: pytest.CaptureFixture[str],
) -> None:
    timed(PRODUCTS)
    monkeypatch.setattr(GraphTracer, "workload", lambda self, call: print("traced"))
    bench.time("f()")
    assert capsys.readouterr().out == ""


def test_without_kept_peaks_nothing_is_traced(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(GraphTracer, "workload", lambda self, call: seen.append(call))
    bench.time("device.start(dispatch=0, work=1_000_000)")
    assert seen == []


@pytest.mark.parametrize(("speed", "ceiling"), [(0.0, 1.0), (1.0, 0.0), (float("inf"), 1.0)])
def test_a_roofline_that_makes_no_sense_is_refused(speed: float, ceiling: float) -> None:
    facts = {"of": "matmul peak", "speed": speed, "ceiling": ceiling}
    with pytest.raises(msgspec.ValidationError, match="Expected `float` "):
        msgspec.convert(facts, Roofline)
