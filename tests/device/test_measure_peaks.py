"""What devices can do at most is measured: the best of many samples, in a time that is kept."""

import gc
from typing import Any

import pytest

from ipyjaxbench import Peaks
from ipyjaxbench.device import Device, measure_peaks
from tests.device.peaks import LATENCY, RATES, Have, look, near
from tests.fake_framework import FakeFramework, FakeInventory, FakeProbe


def seconds_of_look(fake: FakeFramework) -> tuple[float, Peaks]:
    before = fake.device.clock.now()
    found = look(fake)
    return (fake.device.clock.now() - before) / 1e9, found


def test_samples_that_agree_end_a_look_early(fake: FakeFramework) -> None:
    seconds, peaks = seconds_of_look(fake)
    assert seconds < 2
    assert peaks.seconds == pytest.approx(0.25 + 1.0)  # until threads are idle, and the meter's
    (found,) = peaks.found
    assert found.products == {"float32": near(100e9)}  # float64 fails, and is left out
    assert found.bandwidth == near(100e9)  # of the faster way
    assert found.latency == near(LATENCY)
    assert (found.upload, found.download) == (None, None)
    assert found.spreads == {"float32": 0, "memory": 0, "latency": 0}
    assert (found.spread, found.missing) == (0, ())
    assert (found.framework, found.device, found.kind) == ("fake", "cpu", "cpu")


def test_copies_are_measured_where_the_device_has_memory_of_its_own(fake: FakeFramework) -> None:
    fake.probes["cpu"] = FakeProbe(fake.device, RATES, copies=10e9)
    (found,) = look(fake).found
    assert (found.upload, found.download) == (near(10e9), near(5e9))
    assert "host to device        10.0 GB/s" in str(look(fake))


def test_a_sample_that_was_disturbed_is_taken_again(fake: FakeFramework) -> None:
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


def test_a_look_ends_where_nothing_becomes_steady(fake: FakeFramework) -> None:
    collects: list[bool] = []

    class Restless(FakeProbe):
        def smallest_operation(self) -> Any:
            collects.append(gc.isenabled())
            return self._taking(1e-3 * 0.96 ** len(collects))

    fake.probes["cpu"] = Restless(fake.device, {})
    seconds, peaks = seconds_of_look(fake)
    assert 2.3 < seconds < 2.5
    assert peaks.found[0].products == {}
    assert 0.03 < peaks.found[0].spreads["latency"] < 1
    assert not any(collects)
    assert gc.isenabled()


def test_what_has_not_started_is_not_measured(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeFramework, "started", lambda self: False)
    found = look(fake)
    assert found.found == ()
    assert "no framework is initialized (`start=True`)" in str(found)


GPU: dict[str, Any] = {"copies": 10e9}


@pytest.mark.parametrize(
    ("probe", "cache", "free", "beyond", "sizes"),
    [
        ({}, None, 2**40, 2**26, [2**27]),
        ({}, 2**26, 2**40, 2**27, [2**28]),  # four times as much as the cache is read
        ({}, None, 2**29, 2**26, []),  # an eighth of what is free
        ({}, None, 2**29 + 8, 2**26, [2**26 + 1]),
        (GPU, 2**26, 2**40, 2**28, [2**29]),  # three runs with more would take too long
        (GPU | {"memory": 4e12}, None, 2**40, 2**28, [2**29, 2**31]),  # between is nothing to tell
        (GPU | {"memory": 4e12}, None, 2**33, 2**28, [2**29, 2**30]),
        (GPU | {"memory": 4e12}, None, 2**31 + 8, 2**28, [2**28 + 1]),
    ],
)  # fmt: skip
def test_memory_is_measured_with_arrays_that_no_cache_holds_and_that_fill_a_large_gpu(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch, probe: dict[str, Any],
    cache: int | None, free: int, beyond: int, sizes: list[int],
) -> None:  # fmt: skip
    made: list[int] = []

    class Seeing(FakeProbe):
        def streams(self, nbytes: int) -> Any:
            made.append(nbytes)
            return super().streams(nbytes)

    fake.probes["cpu"] = Seeing(fake.device, {}, **probe)
    monkeypatch.setattr(measure_peaks, "largest_cache", lambda: cache)
    monkeypatch.setattr(FakeFramework, "free_memory", lambda self: free)
    (found,) = look(fake).found
    assert (found.beyond, found.bandwidth is not None) == (beyond, bool(sizes))
    assert made[: len(sizes)] == sizes
    if probe:
        assert set(made) == set(sizes)
        assert len(made) <= len(sizes) + 1  # later samples run what was made


def test_one_of_each_sort_is_measured(
    fake: FakeFramework, have: Have, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeInventory, "threads", lambda self: 3)
    kinds = ("a chip", "a chip", "another", "")
    for number in range(4):
        fake.probes[f"fake:{number}"] = FakeProbe(fake.device, {})
    have(*(Device(f"fake:{number}", kind) for number, kind in enumerate(kinds)))
    fake.probes["fake:2"].on_host = False
    assert [(each.device, each.kind, each.threads) for each in look(fake).found] == [
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
    """A GPU on which each run takes some time; it remembers what was run."""

    dtypes = ("float64", "float32", "int8", "bfloat16")

    def __init__(self, fake: FakeFramework, seconds: float) -> None:
        super().__init__(fake.device, dict.fromkeys(self.dtypes, 1e9), copies=1e9)
        self.seconds, self.runs = seconds, [""]
        self.upload = lambda _: self._noted("upload")  # type: ignore[method-assign]
        self.download = lambda _: self._noted("download")  # type: ignore[method-assign]
        self.smallest_operation = lambda: self._noted("latency")  # type: ignore[method-assign]

    def product(self, dtype: str, n: int) -> Any:
        return self._noted(dtype)

    def streams(self, nbytes: int) -> Any:
        return ((self._noted("memory"), nbytes),)

    def _noted(self, name: str) -> Any:
        def run() -> None:
            self._device.clock.advance(round(self.seconds * 1e9))
            if self.runs[-1] != name:
                self.runs.append(name)

        return run


MOST_USED = ["float32", "bfloat16", "memory", "upload", "download"]


def test_slow_figures_keep_the_time_and_the_next_look_goes_on(fake: FakeFramework) -> None:
    probe = fake.probes["cpu"] = SlowProbe(fake, 1.0)
    seconds, peaks = seconds_of_look(fake)
    assert 12 < seconds < 15
    (first,) = peaks.found
    assert probe.runs[1:6] == MOST_USED
    assert first.spreads == dict.fromkeys([*MOST_USED, "float64", "int8"], 1.0)
    assert first.missing == ("latency",)
    probe.runs[:] = [""]
    seconds, peaks = seconds_of_look(fake)
    assert probe.runs == ["", "latency"]
    assert 0 < seconds < 15
    (found,) = peaks.found
    assert (found.missing, found.products) == ((), first.products)
    assert found.latency == pytest.approx(1.0)
    assert found.spreads == {**first.spreads, "latency": 0}
    seconds, again = seconds_of_look(fake)
    assert (seconds, again.seconds, again.found) == (0, 0, (found,))


def test_what_people_use_most_agrees_before_the_rest_begins(fake: FakeFramework) -> None:
    probe = fake.probes["cpu"] = SlowProbe(fake, 0.2)
    seconds, peaks = seconds_of_look(fake)
    assert seconds < 15
    assert probe.runs[1:] == [*MOST_USED * 3, *["float64", "int8", "latency"] * 3]
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


@pytest.mark.parametrize("seconds", [0.05, 0.3, 2.0, 6.0])
def test_all_devices_share_one_time(fake: FakeFramework, have: Have, seconds: float) -> None:
    fake.probes |= {name: SlowProbe(fake, seconds) for name in ("fake:0", "fake:1")}
    have(Device("fake:0", "a chip"), Device("fake:1", "another"), Device("cpu", ""))
    spent, peaks = seconds_of_look(fake)
    assert spent < 15 + 2 * seconds  # what nobody could know: how long the first run takes
    one, other, host = peaks.found
    assert "float32" in one.products
    assert "float32" in host.products or seconds == 6.0
    assert "float32" in other.products or seconds > 2.0
    assert seconds > 0.05 or not any(each.missing for each in peaks.found)


def test_time_that_is_left_goes_to_what_is_missing(fake: FakeFramework, have: Have) -> None:
    slow = fake.probes["fake:0"] = SlowProbe(fake, 0.6)
    fake.probes["fake:1"] = SlowProbe(fake, 0.01)
    have(Device("fake:0", "a chip"), Device("fake:1", "another"))
    spent, peaks = seconds_of_look(fake)
    assert spent < 15
    assert [each.missing for each in peaks.found] == [(), ()]
    assert slow.runs[-1] == "latency"
