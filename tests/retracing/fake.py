"""A framework whose compiled functions do in each call what a test has written down."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from ipyjaxbench.frameworks import Compilation, Program
from ipyjaxbench.graphs import Diagnosis, GraphTracer
from ipyjaxbench.retracing import (
    CacheMiss,
    Change,
    KeptPrograms,
    Leaf,
    Outcome,
    Retracing,
    Signature,
)
from ipyjaxbench.retracing.protocol import CallWatch
from ipyjaxbench.testing import FakeClock
from tests.fake_framework import FakeFramework

MS = 1_000_000
TRACED = Outcome("TRACED", {"trace": 0.5})


class Jitted:
    """A compiled function, keyed on the number that it is given.

    Args:
        name: of the function.
        outcomes: of its calls, in turn: None where the program is there, or what is raised; after
            that all programs are there.
    """

    def __init__(self, name: str, *outcomes: Outcome | Exception | None) -> None:
        self.name, self.outcomes = name, list(outcomes)
        self.outcome: Outcome | None = None
        self.calls: list[Any] = []
        self.body: Callable[[], object] = lambda: None

    def __call__(self, n: int = 0) -> int:
        self.calls.append(n)
        outcome = self.outcomes.pop(0) if self.outcomes else None
        self.body()
        if isinstance(outcome, Exception):
            raise outcome
        self.outcome = outcome
        return n

    def __get__(self, owner: object, kind: type) -> "Jitted":
        return self


def signature(n: int, **facts: Any) -> Signature:
    """What the framework looks at."""
    return Signature({"n": Leaf("array", "float32", (n,))}, ("n",), **facts)


class FakeKeptPrograms(KeptPrograms):
    """It may keep unseen programs of functions but those that a test names."""

    def __init__(self) -> None:
        self.seen: list[Jitted] = []

    def may_be_unseen(self, function: Any) -> bool:
        return function not in self.seen


class Watch(CallWatch):
    """Watches such functions, and writes down what it is asked."""

    def __init__(self, clock: FakeClock | None = None) -> None:
        self.kept = FakeKeptPrograms()
        self.waited: list[object] = []
        self.programs: tuple[Program, ...] = ()
        self.is_open = False
        self._clock = clock or FakeClock()

    def __enter__(self) -> "Watch":
        self.is_open = True
        return self

    def __exit__(self, *_: object) -> None:
        self.is_open = False

    def takes(self, function: Any) -> bool:
        return type(function) is Jitted

    def name(self, function: Any) -> str:
        return str(function.name)

    def begin_call(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> object:
        function.outcome = None
        return len(function.calls)

    def end_call(self, function: Any, mark: Any) -> Outcome | None:
        assert len(function.calls) == mark + 1
        outcome: Outcome | None = function.outcome
        return outcome

    def signature(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Signature:
        return signature(*args, **kwargs)

    def predicts(
        self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> bool | None:
        (n,) = (*args, *kwargs.values())
        return None if n < 0 else n not in function.calls

    def wait(self, value: object) -> None:
        self.waited.append(value)
        self._clock.advance(MS)

    def fixes(self, name: str, why: Sequence[Change], function: Any) -> tuple[str, ...]:
        return tuple(f"fix the {change.kind} of {name}" for change in why)

    def outside(self) -> tuple[Program, ...]:
        return self.programs


class FakeRetracing(Retracing):
    """Gives the watch of its framework, and reports what a test has it report."""

    def call_watch(self) -> CallWatch | None:
        watch: CallWatch | None = self.framework.watch
        return watch

    def is_tracing(self, args: object) -> bool:
        return bool(self.framework.traces)

    def listen(self, on_miss: Callable[[CacheMiss], None]) -> bool:
        self.framework.listeners.append(on_miss)
        return bool(self.framework.reports)


class FakeCompilation(Compilation):
    """It reads the code of what it compiles."""

    reads_code = True

    def compiles(self, value: object) -> bool:
        return type(value) is Jitted

    def donates(self, function: object) -> bool:
        return self.compiles(function) and bool(self.framework.donates)


class FakeTracer(GraphTracer):
    """Explains the errors that a test names."""

    def explain(self, error: BaseException) -> Diagnosis | None:
        found: Diagnosis | Exception | None = self.framework.diagnosis
        if isinstance(found, Exception):
            raise found
        return found


class TracingFramework(FakeFramework):
    """A framework that compiles `Jitted`."""

    capabilities: ClassVar = {
        **FakeFramework.capabilities,
        "Compilation": "tests.retracing.fake:FakeCompilation",
        "GraphTracer": "tests.retracing.fake:FakeTracer",
        "Retracing": "tests.retracing.fake:FakeRetracing",
    }

    def __init__(self) -> None:
        super().__init__()
        self.watch: Watch | None = Watch(self.device.clock)
        self.diagnosis: Diagnosis | Exception | None = None
        self.listeners: list[Callable[[CacheMiss], None]] = []
        self.reports = self.traces = self.donates = False


class Eager(FakeFramework):
    """A framework beside it that compiles nothing."""

    name = "eager"
    module = "tests.eager"
    capabilities: ClassVar = {}
