"""Functions of a library, made here, are replaced for a while to report what they copy."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from ipyjaxbench.device.copy_watch import HOST, CopyWatch
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
def test_a_copy_is_reported_once_with_its_time_and_what_it_waited(
    run: Callable[[Library], Any],
) -> None:
    (copy,) = copies(run)
    assert (copy.framework, copy.source, copy.target) == ("fake", "cpu:0", "host")
    assert (copy.dtype, copy.shape, copy.nbytes) == ("float32", (2, 3), 24)
    assert (copy.waited, copy.seconds) == (0.002, 0.007)  # its own 5 ms, and until it is done


def test_a_copy_that_another_thread_makes_meanwhile_is_no_part_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def send(library: Library) -> Any:
        other = threading.Thread(target=library.read)
        other.start()
        other.join()
        return X

    monkeypatch.setattr(Library, "send", send)
    assert len(copies(lambda it: it.send())) == 2


def test_what_is_replaced_is_put_back_as_it_was() -> None:
    before = {name: vars(Library).get(name) for name in NAMES}
    watch = Watch(FakeFramework(), lambda _: None)
    with watch:
        assert watch.replaced == [True, True, True, True, False, False]
        assert all(vars(Library)[name] is not before[name] for name in NAMES)
    assert {name: vars(Library).get(name) for name in NAMES} == before
    assert "inherited" not in vars(Library)


def test_what_was_replaced_is_put_back_where_the_start_fails() -> None:
    before = dict(vars(Library))
    watch = Watch(FakeFramework(), lambda _: None)
    watch.fails = True
    with pytest.raises(RuntimeError, match="half-way"), watch:
        pytest.fail("it did not start")
    assert dict(vars(Library)) == before


def test_a_copy_that_fails_leaves_the_watch_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise ValueError("no memory")

    monkeypatch.setattr(Library, "send", fail)

    def run(library: Library) -> Any:
        with pytest.raises(ValueError, match="no memory"):
            library.send()
        return library.read()

    assert len(copies(run)) == 1
