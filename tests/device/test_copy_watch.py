"""Functions of a library, made here, are replaced for a while to report what they copy."""

import operator
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from ipyjaxbench.device.copy_watch import (
    HOST,
    CopyWatch,
    defining_package,
    is_of_numpy,
    is_operator,
    receiver,
)
from ipyjaxbench.device.transfers import Transfer
from ipyjaxbench.testing import FakeClock
from tests.fake_framework import FakeFramework

X = np.ones((2, 3), np.float32)
CLOCK = FakeClock()


class Base:
    def inherited(self) -> Any:
        return X


class Library(Base):
    """Copies in three ways, of which one uses another."""

    def read(self) -> Any:
        CLOCK.advance(5_000_000)
        return X

    def send(self) -> Any:
        return self.read()

    @property
    def value(self) -> Any:
        return self.read()


NAMES = ("read", "send", "value", "inherited")


class Watch(CopyWatch):
    fails = False

    def _listen(self) -> None:
        self.replaced = [self._replace(Library, name, self._copy) for name in (*NAMES, "missing")]
        self.replaced.append(self._replace(int, "bit_count", self._copy))  # refused by Python
        if self.fails:
            raise RuntimeError("half-way")

    def _copy(self, old: Callable[..., Any], library: Library) -> Any:
        result, waited, spent = self._time_copy(lambda: old(library), library)
        self._report("cpu:0", HOST, result, spent, waited)
        return result

    def call(self, function: Any, arguments: Sequence[Any], make: Callable[[], Any]) -> Any:
        return make()

    def _wait(self, values: Sequence[Any]) -> None:
        CLOCK.advance(2_000_000)

    def _dtype(self, array: Any) -> tuple[str, int]:
        return str(array.dtype), array.dtype.itemsize


@pytest.fixture(autouse=True)
def fake_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CopyWatch, "_now", staticmethod(CLOCK.now))


def copies(run: Callable[[Library], Any]) -> list[Transfer]:
    transfers: list[Transfer] = []
    with Watch(FakeFramework(), transfers.append):
        assert run(Library()) is X
    return transfers


@pytest.mark.parametrize("run", [lambda it: it.read(), lambda it: it.send(), lambda it: it.value])
def test_a_copy_is_reported_once_with_its_time_and_waiting(run: Callable[[Library], Any]) -> None:
    (copy,) = copies(run)
    assert (copy.framework, copy.source, copy.target) == ("fake", "cpu:0", "host")
    assert (copy.dtype, copy.shape, copy.nbytes) == ("float32", (2, 3), 24)
    assert (copy.waited, copy.seconds) == (0.002, 0.007)  # its own 5 ms, and until it is done


def test_a_copy_of_another_thread_is_no_part_of_it_nor_is_one_after_a_copy_that_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def send(library: Library) -> Any:
        other = threading.Thread(target=library.read)
        other.start()
        other.join()
        raise ValueError("no memory")

    def run(library: Library) -> Any:
        with pytest.raises(ValueError, match="no memory"):
            library.send()
        return library.read()

    monkeypatch.setattr(Library, "send", send)
    assert len(copies(run)) == 2


def test_what_is_replaced_is_put_back_as_it_was_also_where_the_start_fails() -> None:
    before = dict(vars(Library))
    watch = Watch(FakeFramework(), lambda _: None)
    with watch:
        assert watch.replaced == [True, True, True, True, False, False]
        assert all(vars(Library)[name] is not before.get(name) for name in NAMES)
    assert dict(vars(Library)) == before
    watch.fails = True
    with pytest.raises(RuntimeError, match="half-way"), watch:
        pytest.fail("it did not start")
    assert dict(vars(Library)) == before


class Method:
    def method(self) -> None:
        """Stands for one of the user's."""


@pytest.mark.parametrize(("function", "package", "is_of"), [
    (np.add, "numpy", True),
    (np.asarray, "numpy", True),
    (X.sum, "", True),
    (X.__add__, "", True),
    (np.float32(1).item, "", True),
    (operator.add, "operator", False),
    (len, "builtins", False),
    ([].append, "", False),
    (Method().method, "tests", False),
    (Library.read, "tests", False),
])  # fmt: skip
def test_whose_a_function_is(function: Any, package: str, is_of: bool) -> None:
    if package:
        assert defining_package(function) == package
    assert is_of_numpy(function) is is_of
    assert is_operator(function) is (function is operator.add)


def test_a_method_is_bound_to_its_object_and_a_function_to_none() -> None:
    method, items = Method(), [1]
    for function, owner in (
        (method.method, method), (items.append, items), (X.__add__, X),
        (len, None), (Method.method, None), (3, None),  # Python binds len to its module
    ):  # fmt: skip
        assert receiver(function) is owner
