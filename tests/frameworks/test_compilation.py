"""What a framework that compiles nothing answers, and which one compiles a value."""

from functools import partial
from typing import Any

from ipyjaxbench.adapters.python import Python
from ipyjaxbench.frameworks import Capability, Compilation, Framework, find_compiler
from ipyjaxbench.testing import FakeArray
from tests.fake_framework import FakeCompilation, FakeFramework


class Refusing(Compilation):
    def compiles(self, value: object) -> bool:
        raise RuntimeError("it cannot be asked")


class Broken(FakeFramework):
    """Fails when it is asked whether it compiles something."""

    def capability(self, kind: Any) -> Any:
        return Refusing(self)


def test_the_framework_that_compiles_a_value_is_found() -> None:
    fake = FakeFramework()
    frameworks = [Python(), Broken(), fake]
    found = find_compiler(fake.device.compile, frameworks)
    assert type(found) is FakeCompilation
    assert found is fake.capability(Compilation)
    assert found.framework is fake
    assert find_compiler(fake.device.start, frameworks) is None
    assert find_compiler(len, []) is None


def test_one_that_compiles_nothing_knows_nothing() -> None:
    offer = Compilation(Python())
    assert offer.compiles(len) is offer.donates(len) is False
    assert (offer.builders, offer.reads_code) == ((), False)
    assert offer.original(partial(len)) is offer.cold_call({"f": len}, [len]) is None
    assert offer.work(len, [[1]], {}) is None
    with offer.watch([len]) as watch:
        assert (watch.compilations(), watch.phases()) == (0, {})
        assert (watch.programs(), watch.inspected()) == ((), ())


def test_what_is_offered_is_made_once_and_only_when_it_is_asked_for() -> None:
    class Other(Capability):
        """Something that nobody offers."""

    fake = FakeFramework()
    first = fake.capability(Compilation)
    assert fake.capability(Compilation) is first
    assert type(fake.capability(Other)) is Other
    assert FakeFramework().capability(Compilation) is not first


def test_a_framework_that_says_no_more_runs_ahead_and_keeps_its_arrays() -> None:
    fake = FakeFramework()
    array = FakeArray(fake.device, 0)
    assert Framework.runs_ahead(fake) is Framework.alive(fake, array) is True
    assert Framework.is_running(fake) is Framework.parts(fake, [1]) is None
    assert fake.named_parts([1]) is None
    assert (fake.immutable, fake.keeps_copies, fake.spins) == (False, False, False)


def test_python_has_computed_when_it_returns() -> None:
    python = Python()
    assert (python.started(), python.runs_ahead(), python.is_running()) == (True, False, False)
    assert python.waiter([1], []) is None
    assert python.free_memory() > 0
