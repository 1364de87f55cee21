"""``--cold``: calls before each of which other data fills the caches."""

import pytest

from ipyjaxbench.device import Run
from ipyjaxbench.testing import FakeDevice
from ipyjaxbench.timing import cold_cache
from ipyjaxbench.timing.cold_cache import ColdCache
from ipyjaxbench.timing.measurement import Measurement
from tests.bench import MS, START, Bench, failing
from tests.fake_framework import FakeProbe
from tests.results import STEADY, measured

CACHE = 2**20


class Cache:
    """A device's cache: a call that finds it filled with other data takes thrice as long."""

    def __init__(self, device: FakeDevice) -> None:
        self.device, self.is_cold = device, False

    def write(self, nbytes: int) -> Run:
        """Fill it, where these are more bytes than it has."""

        def run() -> None:
            self.device.clock.advance(MS)
            self.is_cold = nbytes > CACHE

        return run

    def call(self) -> object:
        """Compute a millisecond, or three."""
        work, self.is_cold = 3 * MS if self.is_cold else MS, False
        return self.device.start(dispatch=10_000, work=work)


@pytest.fixture
def cache(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """The cache of the bench's device, and code that uses it."""
    found = Cache(bench.device)
    probe = FakeProbe(bench.device, {})
    monkeypatch.setattr(probe, "streams", lambda nbytes: [(found.write(nbytes), nbytes)])
    bench.framework.probes["fake:0"] = probe
    monkeypatch.setattr(cold_cache, "largest_cache", lambda: CACHE)
    bench.names["call"] = found.call
    return found


def row(m: Measurement) -> str:
    """The row of the report."""
    assert m.cold is not None
    return m.cold.words(m.median)


def test_calls_with_cold_caches_are_timed_beside_warm_ones(bench: Bench, cache: Cache) -> None:
    m = bench.time("n.append(1); call()", "n = []", cold=True, budget=0.5)
    assert m.median == pytest.approx(1.01e-3)
    assert m.cold is not None
    assert m.cold.median == pytest.approx(3.01e-3)
    assert bench.names["n"] == [1]  # the set-up still runs before each call
    calls = len(m.cold.seconds)
    assert row(m) == (
        f"3.01 ms per call, 3.0× the time with warm ones; {calls} more calls, after writes"
        " of 2.00 MiB"
    )
    alike = ColdCache((1.05e-3,) * 5, CACHE).words(1e-3)
    assert alike.startswith("1.05 ms per call, as with warm ones; 5 more calls, ")
    plain = bench.time("call()", number=2, repeat=5)
    assert bench.time("call()", number=2, repeat=5, cold=True).batches == plain.batches
    bench.framework.probes.clear()
    assert bench.time("call()", cold=True).cold == ColdCache(reason="no device can be filled")


@pytest.mark.parametrize(
    ("code", "options", "reason"),
    [
        ("1 + 1", {"number": 2, "repeat": 2}, "the code uses no arrays"),
        ("call()", {"number": 1, "repeat": 20}, "a call raised ValueError: gone"),
        ("call()", {"budget": 1e-4}, "another call would exceed the time budget of 100 µs"),
    ],
)
def test_why_there_are_none_is_told(
    bench: Bench, cache: Cache, code: str, options: dict, reason: str
) -> None:
    if "gone" in reason:
        bench.counted(failing(23, ValueError("gone")))
        code = f"call(); {START}"
    m = bench.time(code, cold=True, **options)
    assert m.cold == ColdCache(reason=reason)
    assert row(m) == f"unknown: {reason}"


def test_it_is_kept_in_records() -> None:
    cold = ColdCache((2e-3, 3e-3), CACHE)
    m = measured(STEADY, cold=cold)
    assert Measurement.from_dict(m.to_dict()).cold == cold
    wrong = ColdCache((2e-3,), CACHE, "and why not")
    assert measured(STEADY, cold=wrong).check() == "cold calls without a time"
