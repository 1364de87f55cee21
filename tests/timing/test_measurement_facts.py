"""The labelled lines in the report of a measurement: a row here for each thing that they tell."""

import dataclasses
from typing import Any

import pytest

from ipyjaxbench.frameworks import CacheUse, DiskMiss, Placement, Program
from ipyjaxbench.host.conditions import Conditions
from ipyjaxbench.timing.compile_cost import ColdCallResult, Counterpart
from ipyjaxbench.timing.device_time import DeviceTime, Operation, ProfiledPass
from ipyjaxbench.timing.figure_change import Against, Figure
from ipyjaxbench.timing.peak_share import Roofline
from ipyjaxbench.timing.validity import notes as validity_notes
from tests.results import STEADY, footer, measured, rows

TENS = [10_000_000] * 30
SCATTERED = [1000 + 700 * (i % 2) + i * 7919 % 31 for i in range(60)]
MOVED = [1000 + 30 * (i // 10 % 2) for i in range(100)]
SEEN = ProfiledPass("jax", 2, 0.02, 0.01, {"cpu:0": 0.01}, 6, 0.01, (Operation("dot", 4, 0.009),))
KEPT = Figure(2e-6, 0.02, 100, "QUIET")
PARTS = {"trace": 0.004, "lower": 0.009, "compile": 0.081}
SPLIT = "96.0 ms = trace 4.0 ms + lower 9.0 ms + compile 81 ms + run 2.0 ms"
BUSY = Conditions(wall=2.0, cpu=1.0, cpus=2, usable=2, busy=4.0, waited=0.9)
SPEEDS = "two speeds, 1.02 µs and 1.71 µs"
OTHERS = "other programs kept 1.5 of 2 CPUs busy (the code waited for a CPU 47 % of the time)"


def in_batches(*batches: tuple[int, int], **changes: Any) -> dict[str, Any]:
    """Samples of several calls each."""
    return {"batches": batches, "rounds": (1,) * len(batches), **changes}


def exact(loops: int, *calls: int) -> dict[str, Any]:
    return in_batches(*((n, 1000 * n) for n in calls), loops=loops, exact=True)


def profiled(**changes: Any) -> dict[str, Any]:
    return {"device": DeviceTime((dataclasses.replace(SEEN, **changes),))}


def kept(name: str = "last", age: float | None = None, **changes: Any) -> dict[str, Any]:
    return {"against": Against(name, dataclasses.replace(KEPT, **changes), age)}


def made(*named: tuple[str, float | None], origin: Any = "compiled") -> dict[str, Any]:
    """Programs of the first call."""
    programs = tuple(Program(name, seconds, origin, "jax") for name, seconds in named)
    return {"programs": programs, "compilations": 1}


MISS = DiskMiss("step", 5e8, "gone", entry=4e8, not_kept="below 1 s")
KEEPS = CacheUse("jax", "kept", 1.92)
LINES: list[tuple[str, list[int], dict[str, Any], str | None]] = [
    # The first call, where it differs: by a tenth of a millisecond and by half.
    ("first call", STEADY, {"first_call": 0.0}, None),
    ("first call", STEADY, {"first_call": 90e-6}, None),
    ("first call", STEADY, {"first_call": 102e-6}, "102 µs"),
    ("first call", TENS, {"first_call": 0.0149}, None),
    ("first call", TENS, {"first_call": 0.0151}, "15.1 ms"),
    ("first call", STEADY, {"first_call": 1e-6, "compilations": 0},
     "1.00 µs, already compiled (in memory)"),
    ("first call", STEADY, {"first_call": 0.1, "phases": {"compile": None}, "compilations": 1},
     "100 ms, including compile (time unknown)"),
    ("first call", STEADY, {"first_call": 0.2, "phases": {
        "link": 0.01, "cache load": None, "compile": 0.04, "lower": 0.03, "trace": 0.02}},
     ("200 ms = trace 20 ms + lower 30 ms + compile 40 ms + link 10 ms + run 100 ms,"
      " including cache load (time unknown)")),
    # What was compiled, loaded or traced in it.
    ("compiled", STEADY, {"first_call": 0.2}, None),
    ("compiled", STEADY, made(("step", 0.081)), "step 81 ms"),
    ("compiled", STEADY, made(("add", 0.008), ("step", 0.061), ("iota", 0.012)),
     "3 programs: step 61 ms, iota 12 ms, add 8.0 ms"),
    ("compiled", STEADY, made(*((name, 0.01) for name in "abcd")),
     "4 programs: a 10 ms, b 10 ms, c 10 ms, d 10 ms"),
    ("compiled", STEADY, made(*((name, 0.01) for name in "abcdef")),
     "6 programs: a 10 ms, b 10 ms, c 10 ms, d 10 ms, and 2 more"),
    ("compiled", STEADY, made(("add", 0.01), ("<lambda>", 0.015), ("add", 0.01)),
     "3 programs: 2 × add 20 ms, <lambda> 15 ms"),
    ("compiled", STEADY, made(("?", 0.02), ("?", 0.01)), "2 programs 30 ms, names unknown"),
    ("compiled", STEADY, made(("f", 0.01), ("g", 0.02), ("g", None)), "3 programs: 2 × g, f 10 ms"),
    ("traced", STEADY, made(("f", None), ("g", None), origin="traced"), "2 programs: f, g"),
    ("loaded", STEADY, made(("step", 0.012), origin="disk cache"),
     "step 12 ms from the disk cache"),
    ("loaded", STEADY, made(("step", 0.012), ("g", 0.009), origin="disk cache"),
     "2 programs from the disk cache: step 12 ms, g 9.0 ms"),
    # How many calls, and how long they took.
    ("samples", STEADY, {}, "100, 1.00 µs (5–95 %)"),
    ("samples", [],
     in_batches((10, 400), (10, 300), (10, 500), rounds=(3,), loops=10, elapsed=1.06),
     "3 of 10 calls each in 1.1 s, 30.0–50.0 ns (min–max)"),
    ("samples", [], {}, None),
    ("samples", [5000], {}, "1"),
    ("samples", [1, 1000], {"rounds": (1, 1)}, "2, 1.00 ns to 1.00 µs (min–max), median 500 ns"),
    ("samples", SCATTERED, {}, "60, 1.00–1.73 µs (5–95 %), median 1.37 µs"),
    ("samples", [], in_batches((4, 4000), (5, 5000), (6, 6000), loops=4),
     "3 of 15 calls in all, 1.00 µs (min–max)"),
    ("samples", [], exact(20, 19), "1 of 19 calls + first call"),
    ("samples", [], exact(2, 1, 2), "1 of 1 call + 1 of 2 calls + first call, 1.00 µs (min–max)"),
    ("samples", [], exact(1, 1, 1), "2 + first call, 1.00 µs (min–max)"),
    # Why they scatter; what the machine did is a cause of noise only.
    ("noise", SCATTERED, {}, SPEEDS),
    ("noise", SCATTERED, {"conditions": BUSY}, f"{SPEEDS}; {OTHERS}"),
    ("noise", STEADY, {"conditions": BUSY}, None),
    ("noise", MOVED, {"conditions": BUSY}, None),
    # Throughput and dispatch, where they are below nine tenths of a call.
    ("throughput", STEADY, {"throughputs": (0.8e-6,) * 3},
     "800 ns per call when many are queued before one wait"),
    ("throughput", STEADY, {"throughputs": (0.95e-6,) * 3}, None),
    ("dispatch", STEADY, {"dispatches": (0.1e-6,) * 3}, "returns after 100 ns, work still running"),
    ("dispatch", STEADY, {"dispatches": (0.95e-6,) * 3}, None),
    # A run that was kept.
    ("compared", STEADY, kept(), ("2.0× faster than the last run (95 % CI 1.9–2.1×);"
     " that took 2.00 µs ± 2.0 %, in this session")),
    ("compared", STEADY, kept("best", 7200.0, median=0.5e-6),
     "2.0× slower than the best run (95 % CI 1.9–2.1×); that took 500 ns ± 2.0 %, 2 hours ago"),
    ("compared", STEADY, kept("before", half_width=None),
     "no clear difference from 'before'; that took 2.00 µs, in this session"),
    ("compared", STEADY, kept() | {"notes": (validity_notes.lazy("map", ""),)},
     ("not with the last run, since this run is INVALID;"
     " that took 2.00 µs ± 2.0 %, in this session")),
    ("compared", STEADY, {"against": Against("last")},
     "last: no earlier measurement of this code with such data"),
    ("changed", STEADY, kept(), None),
    ("changed", STEADY, {"against": Against("last", KEPT, differs=("jax 1 → 2", "2 CPUs, not 4"))},
     "jax 1 → 2 · 2 CPUs, not 4"),
    # How busy devices were.
    ("device", STEADY, profiled(), ("busy 5.00 ms on cpu:0 per call (50 % of the time),"
     " 3 operations; 2 more calls of 10.0 ms under jax's profiler")),
    ("device", STEADY, profiled(launches=7, elapsed=0.04), ("busy 5.00 ms on cpu:0 per call"
     " (25 % of the time), 3.50 operations; 2 more calls of 20.0 ms under jax's profiler")),
    ("device", STEADY, profiled(devices={"a:0": 0.008, "a:1": 0.009}, launches=1, calls=1),
     ("busy 8.00 ms on a:0, 9.00 ms on a:1 per call (50 % of the time), 1 operation;"
     " 1 more call of 20.0 ms under jax's profiler")),
    ("device", [8_100_000] * 3, profiled(), ("busy 5.00 ms on cpu:0 per call (50 % of the time),"
     " 3 operations; 2 more calls under jax's profiler")),  # not a quarter slower
    ("device", [7_900_000] * 3, profiled(), ("busy 5.00 ms on cpu:0 per call (50 % of the time),"
     " 3 operations; 2 more calls of 10.0 ms under jax's profiler")),
    ("device", STEADY, {"device": DeviceTime(reasons={"numpy": "none", "torch": "interrupted"})},
     "unknown for numpy: none; unknown for torch: interrupted"),
    ("device", STEADY, {}, None),
    # What compiling cost.
    ("cold call", STEADY, {"fresh": ColdCallResult(0.096, PARTS)},
     f"{SPLIT} (your caches are untouched)"),
    ("cold call", STEADY, {"fresh": ColdCallResult(0.096, {"compile": 0.09}, (), ("g too", "h"))},
     "96.0 ms = compile 90 ms + run 6.0 ms (g too; h)"),
    ("cold call", STEADY, {"fresh": ColdCallResult(None, {}, (), ("interrupted",))},
     "none: interrupted"),
    ("break-even", STEADY, {"counterpart": Counterpart(False, 1.0, 0.0, 0.0)},
     "after 1 call (eager 1.0 s, compiled 1.0 µs per call; compilation 0 ns)"),
    ("break-even", [], {"counterpart": Counterpart(False, 1.0, 0.0, 0.5)}, None),
    ("break-even", STEADY, {}, None),
    ("disk cache", STEADY, {"caches": (KEEPS,)}, "kept; a new session compiles up to 1.9 s less"),
    ("disk cache", STEADY, {"caches": (CacheUse("torch", "not kept", 2.0, "too large"),)},
     "not kept: too large"),
    # The share of a peak, in its unit.
    ("roofline", STEADY, {"roof": Roofline("matmul peak", 900e6, 100e9)},
     "compute-bound, 1 % of this device's peak (900 MFLOP/s of 100 GFLOP/s)"),
    ("roofline", STEADY, {"roof": Roofline("memory bandwidth", 3e12, 3e12, rated=3.35e12,
                                           chip="H100 memory")},
     ("memory-bound, 100 % of this device's peak (3.00 of 3.00 TB/s);"
     " 90 % of the datasheet's (H100 memory: 3.35 TB/s)")),
    ("roofline", STEADY, {"roof": Roofline("matmul peak", 405e12, 700e12, rated=989e12,
                                           chip="H100 bfloat16")},
     ("compute-bound, 58 % of this device's peak (405 of 700 TFLOP/s);"
     " 41 % of the datasheet's (H100 bfloat16: 989 TFLOP/s, dense)")),
    ("roofline", STEADY, {"roof": Roofline("matmul peak", 400e12, 700e12, rated=1e15, chip="H100",
                                           recomputed=1e14, mfu=0.3)},
     ("compute-bound, 57 % of this device's peak (400 of 700 TFLOP/s, 100 TFLOP/s of it"
     " recomputed); HFU 40 %, MFU 30 % of the datasheet's (H100: 1.00 PFLOP/s, dense)")),
]  # fmt: skip


@pytest.mark.parametrize(("label", "nanoseconds", "changes", "words"), LINES)
def test_a_line(
    label: str, nanoseconds: list[int], changes: dict[str, Any], words: str | None
) -> None:
    assert rows(measured(nanoseconds, **changes)).get(label) == words


def test_why_the_disk_cache_had_nothing_stands_in_place_of_what_it_keeps() -> None:
    programs = (Program("step", 1.2, "compiled", "jax", MISS),)
    words = rows(measured(STEADY, caches=(KEEPS,), programs=programs))["disk cache"]
    assert words.endswith("; not cached: below 1 s")


WHERE = "a i8[2] cpu:0"


@pytest.mark.parametrize(
    ("read", "bound", "told"),
    [(6, 1, f"{WHERE}, {WHERE}, {WHERE}, {WHERE}, and 2 more → {WHERE}"),
     (4, 0, f"{WHERE}, {WHERE}, {WHERE}, {WHERE}"), (0, 1, f"→ {WHERE}"), (0, 0, "")],
)  # fmt: skip
def test_four_arrays_are_named_and_the_rest_counted(read: int, bound: int, told: str) -> None:
    place = Placement("a", "jax", 1, "int8", (2,), ("cpu:0",), 2)
    m = measured(STEADY, inputs=(place,) * read, outputs=(place,) * bound)
    assert footer(m) == (told, "python 3.12")
