"""What calls have to do, and peaks that are measured in a moment."""

import gc
from collections.abc import Callable
from typing import Any

import pytest

import ipyjaxbench
from ipyjaxbench.device import measure_peaks, peak_figures
from ipyjaxbench.device.peaks import Peaks
from ipyjaxbench.frameworks import Framework, find_arrays, loaded
from ipyjaxbench.graphs.components import Workload
from ipyjaxbench.graphs.protocol import GraphTracer
from ipyjaxbench.usercode import call
from ipyjaxbench.usercode.snippet import Source

N = 16
PRODUCT = 2.0 * N**3
BYTES = 4 * N * N


def named(framework: str) -> Framework:
    return next(each for each in loaded()[0] if each.name == framework)


def load(framework: str, code: str, **names: Any) -> Workload | None:
    def is_data(value: object) -> bool:
        return bool(find_arrays(value, loaded()[0]))

    return (
        named(framework)
        .capability(GraphTracer)
        .workload(call.read_call(Source.plain(code), names, is_data))
    )


def in_float32(nbytes: int | None, *, shortcuts: bool = False, flops: float = PRODUCT) -> Workload:
    return Workload({"float32": flops}, shortcuts, nbytes)


def left_as_it_was(state: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> Peaks:
    """Peaks that were measured anew, after which a state is what it was before."""
    monkeypatch.setattr(peak_figures, "_FEW", 1)  # sample of each figure, however long that takes
    for name in ("_SECONDS", "_HOST_SECONDS"):
        monkeypatch.setattr(measure_peaks, name, 600.0)
    gc.collect()
    before = state()
    found = ipyjaxbench.peaks(remeasure=True)
    gc.collect()
    assert state() == before
    return found
