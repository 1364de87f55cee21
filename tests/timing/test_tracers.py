"""What is around the code: seen where it is active, and only there."""

import cProfile
import sys
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


class Debugger:
    def look(self, frame: types.FrameType, event: str, argument: object) -> None:
        return None


def test_nothing_is_said_where_nothing_watches() -> None:
    assert caution_texts() == []


def test_a_tracer_is_told_by_its_name() -> None:
    with traced(tracer):
        assert f"A tracer or debugger ({__name__}.tracer) is active: {COST}" in caution_texts()


def test_a_debugger_is_told_by_its_name() -> None:
    with traced(Debugger().look):
        expected = f"A tracer or debugger ({__name__}.Debugger.look) is active: {COST}"
        assert expected in caution_texts()


def test_a_tracer_of_another_thread_is_not_ours() -> None:
    import threading

    before = threading.gettrace()
    threading.settrace(tracer)
    try:
        assert caution_texts() == []
    finally:
        threading.settrace(before)


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
    assert note.text == ("CUDA_LAUNCH_BLOCKING is on: Python waits for every kernel to finish.")


def test_they_are_not_told_on_a_cpu_nor_where_they_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    assert list(tracers.environment_settings([on("cpu")])) == []
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "0")
    assert list(tracers.environment_settings([on("cuda:0")])) == []
