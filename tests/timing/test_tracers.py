"""What is around the code: seen where it is active, and only there."""

import cProfile
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.timing.validity import tracers
from tests.cautions import cautions

COST = "the time includes its overhead."


def caution_texts() -> list[str]:
    return [note.text for note in cautions("1 + 1", {})]


@contextmanager
def traced(hook: Any) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(hook)
    try:
        yield
    finally:
        sys.settrace(before)


def tracer(frame: types.FrameType, event: str, argument: object) -> None:
    return None


def test_a_tracer_is_told_by_its_name() -> None:
    before = threading.gettrace()
    threading.settrace(tracer)
    try:
        assert caution_texts() == []  # that of another thread is not ours
    finally:
        threading.settrace(before)
    with traced(tracer):
        assert f"A tracer or debugger ({__name__}.tracer) is active: {COST}" in caution_texts()


def test_a_profiler_is_told_by_its_name() -> None:
    who = "A tool (cProfile)" if sys.version_info >= (3, 12) else "A profiler (cProfile.Profile)"
    profile = cProfile.Profile()
    profile.enable()
    try:
        found = caution_texts()
    finally:
        profile.disable()
    assert found == [f"{who} is active: {COST}"]
    assert caution_texts() == []


def on(device: str) -> Placement:
    return Placement("x", "torch", 1, "float32", (2,), (device,), 8)


@pytest.mark.parametrize("device", ["cuda:0", "gpu:1"])
def test_kernels_that_are_waited_for_are_told_on_a_gpu(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    (note,) = tracers.environment_settings([on("cpu"), on(device)])
    assert note.text == "CUDA_LAUNCH_BLOCKING is on: Python waits for every kernel to finish."
    assert list(tracers.environment_settings([on("cpu")])) == []
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "0")
    assert list(tracers.environment_settings([on(device)])) == []
