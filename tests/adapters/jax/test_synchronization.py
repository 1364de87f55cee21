"""How values of all kinds are waited for, and how it is known whether JAX still computes."""

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ipyjaxbench.adapters.jax import synchronization
from ipyjaxbench.adapters.jax.synchronization import InFlight, waiter
from tests.adapters import late
from tests.bench import recorder
from tests.loads import named

X = jnp.ones(3)
Box = SimpleNamespace


def gone() -> Any:
    array = jnp.ones(3) + 1
    array.delete()
    return array


def devices() -> list[Any]:
    return synchronization.local_devices()


@pytest.fixture
def started() -> Iterator[Callable[[], Any]]:
    """An array that is still being computed."""
    yield late.start
    late.released.set()


def test_a_wait_ends_when_work_has_ended_also_where_its_result_was_dropped(
    started: Callable[[], Any],
) -> None:
    y = started()
    flight = InFlight(devices)
    flight.wait()  # before it is prepared for arrays that are held alone
    assert y.is_ready()
    flight.prepare()
    before = len(late.ended)
    started()
    flight.wait()
    assert len(late.ended) == before + 1


def test_a_wait_ends_after_what_the_program_calls_back() -> None:
    note, calls = recorder()
    flight = InFlight(devices)
    flight.prepare()

    @jax.jit
    def calling(x: Any) -> Any:
        jax.debug.callback(lambda _: (time.sleep(0.05), note(1)), x)
        return x + 1

    calling(X)
    flight.wait()
    assert calls == [1]


def test_whether_something_runs_is_not_known_beside_an_accelerator_or_before_it_is_prepared() -> (
    None
):
    assert InFlight(lambda: [SimpleNamespace(platform="gpu")]).is_any() is None
    flight = InFlight(devices)
    jax.block_until_ready(X)
    assert flight.is_any() is None
    flight.prepare()
    assert flight.is_any() is False
    asked: list[int] = []
    flight = InFlight(lambda: asked.append(1) or devices())  # type: ignore[func-returns-value]
    flight.prepare()
    flight.prepare()
    assert asked == [1]  # the tiny programs are compiled once


def test_what_looking_at_many_arrays_leaves_behind_is_not_for_the_users_next_call() -> None:
    in_flight = InFlight(jax.devices)
    in_flight.prepare()
    ((program, x),) = in_flight._programs
    write, log = recorder()
    in_flight._programs = [(lambda given: (write("ran"), program(given))[1], x)]
    kept = [jnp.asarray(float(n)) for n in range(200)]
    assert in_flight.is_any() is False
    assert log == ["ran", "ran"]
    assert len(kept) == 200


@pytest.mark.parametrize(
    "make",
    [lambda y: (y, [y]), lambda y: ({"a": ([y, X], 1)}, [y, X]),
     lambda y: (Box(a=[y], b=2), [y])],
)  # fmt: skip
def test_a_value_is_waited_for_whatever_it_is_made_of(
    make: Callable[[Any], tuple[Any, list[Any]]], started: Callable[[], Any]
) -> None:
    value, arrays = make(X)
    wait = waiter(value, arrays)
    assert wait is not None
    late_value, _ = make(y := started())
    wait(late_value)
    assert y.is_ready()


def test_values_that_hide_arrays_deleted_ones_and_meshes_are_told_apart() -> None:
    assert waiter(Box(inner=Box(a=X)), [X]) is None
    assert waiter([1], [X]) is None
    assert waiter(3, [X]) is None
    adapter = named("jax")
    assert adapter.alive(X)
    assert not adapter.alive(gone())
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("a",))
    assert adapter.parts(mesh) == adapter.parts(X.sharding) == ()
    assert adapter.parts(Box(a=X)) is None


@pytest.mark.parametrize(
    ("value", "later"),
    [(X, lambda y: [gone(), y]),  # what a later call returns may be a tree
     ([X], lambda y: [gone(), y]), (Box(a=X), lambda y: Box(a=gone(), b=y))],
)  # fmt: skip
def test_of_what_was_partly_given_away_the_rest_is_waited_for(
    value: Any, later: Callable[[Any], Any], started: Callable[[], Any]
) -> None:
    wait = waiter(value, [X])
    assert wait is not None
    y = started()
    wait(gone())
    wait(later(y))
    assert y.is_ready()


def lost() -> Any:
    raise RuntimeError("INTERNAL: CUDA_ERROR_ILLEGAL_ADDRESS")


@pytest.mark.parametrize(
    ("tell", "free"),
    [(lambda: {"bytes_limit": 100, "bytes_in_use": 30}, 70), (lambda: {"bytes_limit": 100}, 100),
     (lambda: {"bytes_in_use": 30}, 5000), (lambda: None, 5000), (lost, 5000)],
)  # fmt: skip
def test_free_memory_is_what_a_device_has_left_or_the_host(
    tell: Callable[[], Any], free: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "ipyjaxbench.adapters.jax.framework"
    adapter = named("jax")  # made without stand-ins
    monkeypatch.setattr(f"{module}.host_memory", lambda: 5000)
    larger = SimpleNamespace(memory_stats=lambda: {"bytes_limit": 9000, "bytes_in_use": 10})
    mine = SimpleNamespace(memory_stats=tell)
    monkeypatch.setattr(f"{module}.local_devices", lambda: [larger, mine])
    assert adapter.free_memory() == free
    monkeypatch.setattr(f"{module}.local_devices", list)
    assert adapter.free_memory() == 5000
