"""Frameworks that trace calls as a test says, and write down what they are asked."""

from collections.abc import Callable
from typing import Any, ClassVar

from ipyjaxbench.frameworks import Compilation
from ipyjaxbench.graphs import Diagnosis, Graph, GraphOptions, GraphTracer
from ipyjaxbench.testing import FakeArray
from ipyjaxbench.usercode import Call
from tests.fake_framework import FakeFramework, FakeState


class Tracer(GraphTracer):
    """Asks the test."""

    def graph(self, call: Call, options: GraphOptions) -> Graph | None:
        self.framework.asked.append(self.framework.name)
        found: Graph | None = self.framework.traces(call)
        return found

    def explain(self, error: BaseException) -> Diagnosis | None:
        self.framework.asked.append(self.framework.name)
        found: Diagnosis | None = self.framework.explains(error)
        return found


class Builders(Compilation):
    """Makes a function of a function, as `jax.jit` does."""

    builders = ((sorted, "jax.jit"),)


class RandomState(FakeState):
    """Writes down for what it is kept."""

    def random_state(self, values: Any, *, later: bool = False) -> Any:
        self.framework.kept.append((list(values), later))
        return super().random_state(values, later=later)


class One(FakeFramework):
    """Owns the arrays of a `FakeDevice`."""

    name = "one"
    module = "tests_one"
    capabilities: ClassVar = {
        "GraphTracer": "tests.graphs.fake:Tracer",
        "Compilation": "tests.graphs.fake:Builders",
        "MutableState": "tests.graphs.fake:RandomState",
    }

    def __init__(self, asked: list[str]) -> None:
        super().__init__()
        self.asked = asked
        self.kept: list[tuple[list[object], bool]] = []
        self.traces: Callable[[Call], Graph | None] = lambda _: None
        self.explains: Callable[[BaseException], Diagnosis | None] = lambda _: None


class OtherArray:
    """An array of the other framework."""


class Two(One):
    """Owns others, and has a module of Python's for its own."""

    name = "two"
    module = "json"

    def owns(self, kind: type) -> bool:
        return kind is OtherArray

    def alive(self, array: Any) -> bool:
        return True


class Plain(One):
    """A framework whose arrays others trace."""

    name = "numpy"
    module = "tests_numpy"

    def owns(self, kind: type) -> bool:
        return False


__all__ = ["FakeArray", "One", "OtherArray", "Plain", "Two"]
