"""How right figures are on a GPU: ``python -m tests.hardware.accuracy FILE``.

Prints ours over the truth for each case, and writes all as JSON. Truth is taken in turns with ours:
loops with a wait written by hand, CUDA events, CUPTI by PyTorch's profiler, loops of cuBLAS.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import ipyjaxbench
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.usercode.snippet import Source

_ROUNDS = 3
_TRUTH_SECONDS = 0.4
_HEATING = 0.2  # seconds
_FILLS_GPU = 4096  # rows of a product that takes longer than its launch
_CALLS = 13  # in a row: more of them heat the GPU, whose clock then falls
_COPIED = 4096 * 4096 * 4  # bytes


class Ratio(NamedTuple):
    """Our figure of a case beside the truth, in seconds or in units per second."""

    case: str
    ours: float
    truth: float

    @property
    def ratio(self) -> float:
        """Ours over the truth."""
        return self.ours / self.truth


def in_turns(
    names: Sequence[str],
    ours: Callable[[], Sequence[float]],
    truths: Sequence[Callable[[], float]],
) -> Iterator[Ratio]:
    """Figures of one measurement beside the truth of each, several times in turns; the medians."""
    rounds = [([f() for f in truths], ours(), [f() for f in truths]) for _ in range(_ROUNDS)]
    for index, name in enumerate(names):
        own = statistics.median(found[index] for _, found, _ in rounds)
        true = statistics.median((a[index] + b[index]) / 2 for a, _, b in rounds)
        if not math.isnan(own):  # calls that keep the host busy have no throughput of their own
            yield Ratio(name, own, true)


def waited_loop(call: Callable[[], Any], wait: Callable[[Any], Any]) -> float:
    """Seconds per call of a loop that waits for each call."""
    wait(call())
    figures, end = [], time.perf_counter() + _TRUTH_SECONDS
    while (start := time.perf_counter()) < end:
        wait(call())
        figures.append(time.perf_counter() - start)
    return statistics.median(figures)


def event_loop(torch: Any, call: Callable[[], Any], calls: int) -> float:
    """Seconds per call of calls in a row, between two CUDA events, on a GPU as hot as in a loop."""
    _heat(call, torch.cuda.synchronize)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / calls * 1e-3


def cupti_loop(torch: Any, call: Callable[[], Any], calls: int) -> float:
    """Seconds of kernels per call, as PyTorch's profiler has them from CUPTI."""
    activities = [torch.profiler.ProfilerActivity.CUDA]
    _heat(call, torch.cuda.synchronize)
    with torch.profiler.profile(activities=activities) as seen:
        for _ in range(calls):
            call()
            torch.cuda.synchronize()
    times = [e.device_time_total for e in seen.events() if e.device_type.name == "CUDA"]
    return float(sum(times)) / calls * 1e-6


def torch_cases() -> Iterator[Ratio]:
    """Products from microseconds to milliseconds: waited for, in a row, and on the device."""
    import torch

    for size in (256, 1024, 2048, 4096, 8192):
        a = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
        yield from _torch_product(torch, a)


def _torch_product(torch: Any, a: Any) -> Iterator[Ratio]:
    def call() -> Any:
        return a @ a

    def ours() -> Sequence[float]:
        found = ipyjaxbench.measure_code("a @ a", {"a": a}, profile=True, budget=1.0)
        return found.median, _median(found.throughputs), _busy(found)

    name = f"torch bf16 {len(a)}"
    names = [f"{name}: waited for, against a loop", f"{name}: in a row, against CUDA events",
             f"{name}: busy, against CUPTI"]  # fmt: skip
    truths = [
        lambda: waited_loop(call, lambda _: torch.cuda.synchronize()),
        lambda: event_loop(torch, call, _CALLS),
        lambda: cupti_loop(torch, call, _CALLS),
    ]
    yield from in_turns(names, ours, truths)


def jax_cases() -> Iterator[Ratio]:
    """The same in JAX, whose waits are for results."""
    import jax

    for size in (256, 1024, 4096, 8192):
        x = jax.random.normal(jax.random.key(0), (size, size), dtype="bfloat16")
        yield from _jax_product(jax, jax.jit(lambda x: x @ x), x)


def _jax_product(jax: Any, step: Callable[[Any], Any], x: Any) -> Iterator[Ratio]:
    def ours() -> Sequence[float]:
        names = {"step": step, "x": x}
        found = ipyjaxbench.measure_code("step(x)", names, profile=True, budget=1.0)
        return found.median, _median(found.throughputs), _busy(found)

    def queued() -> float:
        return _queued_jax(step, x, _CALLS)

    name = f"jax bf16 {len(x)}"
    names = [f"{name}: waited for, against a loop", f"{name}: in a row, against a loop",
             f"{name}: busy, against a loop in a row"]  # fmt: skip
    truths = [lambda: waited_loop(lambda: step(x), jax.block_until_ready), queued, queued]
    known = 3 if len(x) >= _FILLS_GPU else 1  # else the host bounds a loop
    yield from in_turns(names[:known], ours, truths[:known])


def _median(figures: Sequence[float]) -> float:
    return statistics.median(figures) if figures else math.nan


def _busy(found: ipyjaxbench.Measurement) -> float:
    if found.device is None or found.device.busy is None:
        print("not known:", found.device and found.device.reasons)
        return math.nan
    return found.device.busy


def _heat(call: Callable[[], Any], wait: Callable[[], Any]) -> None:
    """Make calls until power limits the clocks, where it will."""
    end = time.perf_counter() + _HEATING
    while time.perf_counter() < end:
        call()
        wait()


def _queued_jax(step: Any, x: Any, calls: int) -> float:
    _heat(lambda: step(x).block_until_ready(), lambda: None)
    start = time.perf_counter()
    for _ in range(calls):
        y = step(x)
    y.block_until_ready()
    return (time.perf_counter() - start) / calls


def copy_cases() -> Iterator[Ratio]:
    """Copies that a cell makes, against CUDA events around the same copy."""
    import numpy as np
    import torch

    t = torch.ones(_COPIED // 4)
    g = t.to("cuda")
    names = {"t": t, "g": g, "np": np}
    for code, call in (("t.to('cuda')", lambda: t.to("cuda")), ("g.cpu()", g.cpu)):
        yield from in_turns(
            [f"torch copy {code}, against CUPTI"],
            lambda code=code: [_copy_seconds(code, names)],  # type: ignore[misc]
            [lambda call=call: cupti_loop(torch, call, 5)],  # type: ignore[misc]
        )


def _copy_seconds(code: str, names: dict[str, Any]) -> float:
    found, error = transfer_code(Source.plain(code), names)
    assert error is None
    assert [each.copied for each in found.transfers] == [_COPIED]
    return found.transfers[0].seconds or math.nan


_COUNTER = """
import pynvml, time
pynvml.nvmlInit()
gpu, last, end = pynvml.nvmlDeviceGetHandleByIndex(0), 0, time.perf_counter() + 2.5
print("ready", flush=True)
while time.perf_counter() < end:
    now = pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu)
    if now != last:
        print(time.perf_counter(), now * 1e-3)
    last = now
    time.sleep(0.002)
"""


def energy_loop(call: Callable[[], Any], wait: Callable[[Any], Any]) -> float:
    """Joules per call of a loop, by the slope of the counter, which another process reads."""
    command = [sys.executable, "-c", _COUNTER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        reader.stdout.readline()
        calls, start = 0, time.perf_counter()
        while time.perf_counter() < start + 2.5:
            wait(call())
            calls += 1
        end = time.perf_counter()
        seen = [tuple(map(float, line.split())) for line in reader.stdout]
    within = [(at, joules) for at, joules in seen if start + 0.3 < at < end]
    watts = statistics.linear_regression(*zip(*within, strict=True)).slope
    return watts * (end - start) / calls


def energy_cases() -> Iterator[Ratio]:
    """Joules per call."""
    import torch

    for size in (2048, 8192):
        a = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)

        def ours(a: Any = a) -> Sequence[float]:
            found = ipyjaxbench.measure_code("a @ a", {"a": a}, energy=True, budget=0.5).energy
            assert found is not None
            print(found)
            return [found.per_call or math.nan]

        yield from in_turns(
            [f"torch bf16 {size}: joules per call, against a loop"],
            ours,
            [lambda a=a: energy_loop(lambda: a @ a, lambda _: torch.cuda.synchronize())],  # type: ignore[misc]
        )


def peak_cases() -> Iterator[Ratio]:
    """``%fwdevices --peak`` against loops written by hand, per second."""
    import torch

    found = {each.framework: each for each in ipyjaxbench.peaks(remeasure=True).found
             if each.device.startswith(("cuda", "gpu"))}  # fmt: skip
    for name, dtype in (("bfloat16", torch.bfloat16), ("float16", torch.float16),
                        ("float32", torch.float32)):  # fmt: skip
        best = 0.0
        for size in (4096, 8192, 16384):
            a, b = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(2))
            for _ in range(3):
                each = event_loop(torch, lambda a=a, b=b: a @ b, 5)  # type: ignore[misc]
                best = max(best, 2 * size**3 / each)
        for framework, peaks in found.items():
            if name in peaks.products:
                yield Ratio(f"{framework} peak {name}, against cuBLAS", peaks.products[name], best)
    source = torch.ones(2**28, device="cuda")
    target = torch.empty_like(source)
    each = min(event_loop(torch, lambda: target.copy_(source), 10) for _ in range(5))
    for framework, peaks in found.items():
        yield Ratio(f"{framework} peak bandwidth, against a copy", peaks.bandwidth or 0.0,
                    2 * source.nbytes / each)  # fmt: skip
    print({f: (p.products, p.bandwidth, p.upload, p.download, p.latency, p.seconds)
           for f, p in found.items()})  # fmt: skip


def main(path: str) -> None:
    """Run all cases; one that fails prints its traceback. JAX's profiler has to be the first."""
    found: list[Ratio] = []
    for cases in (jax_cases, torch_cases, copy_cases, peak_cases, energy_cases):
        begun = time.perf_counter()
        try:
            for each in cases():
                found.append(each)
                print(f"{each.case:50} {each.ours:12.4g} {each.truth:12.4g} {each.ratio:7.3f}",
                      flush=True)  # fmt: skip
        except Exception:
            traceback.print_exc()
        print(f"{cases.__name__}: {time.perf_counter() - begun:.0f} s", flush=True)
    with open(path, "w") as file:
        json.dump([{**each._asdict(), "ratio": each.ratio} for each in found], file, indent=1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as data:
        os.environ["JUPYTER_DATA_DIR"] = data
        main(sys.argv[1])
