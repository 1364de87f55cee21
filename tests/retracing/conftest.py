"""A framework of our own, alone in a process that has traced nothing."""

import pytest

from ipyjaxbench.host import Clock
from ipyjaxbench.retracing import call_recorder, max_traces, observe, predict, second_run, uncached
from ipyjaxbench.retracing.trace_log import TraceLog
from tests.retracing.fake import Eager, TracingFramework


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> TraceLog:
    """What was traced in this process: nothing yet."""
    log = TraceLog()
    for module in (call_recorder, max_traces, observe, predict, uncached):
        monkeypatch.setattr(module, "TRACE_LOG", log)
    monkeypatch.setattr(observe, "_listening", {})
    return log


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, log: TraceLog) -> TracingFramework:
    """The framework, beside one that compiles nothing; its clock is that of the recorder."""
    framework = TracingFramework()
    for module in (max_traces, observe, predict, second_run):
        monkeypatch.setattr(module, "loaded", lambda: ([Eager(), framework], {}))
    monkeypatch.setattr(Clock, "elapsed", lambda: framework.device.clock)
    return framework
