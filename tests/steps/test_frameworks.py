"""Loops of real frameworks: what each line is, and whether the parts are where the sleeps are."""

import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow as tf
import torch
import torch._dynamo  # an optimizer loads it, which changes the environment

from ipyjaxbench.frameworks import loaded
from ipyjaxbench.host import Clock
from ipyjaxbench.steps import DeviceWaits, LoopTimes, time_loop
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.usercode import Source

NAMES: dict[str, Any] = {"time": time, "np": np, "jnp": jnp, "jax": jax, "torch": torch, "tf": tf}


def timed(code: str, **names: Any) -> LoopTimes:
    found, error = time_loop(Source.plain(code), {**NAMES, **names})
    assert error is None
    return found


def parts(found: LoopTimes) -> list[str]:
    """The part of each line."""
    return [line.part for line in found.lines]


def batches(count: int, pause: float = 0.0) -> Iterator[Any]:
    for _ in range(count):
        time.sleep(pause)
        yield np.ones((300, 300), np.float32)


step = jax.jit(lambda w, x: (w, jax.lax.fori_loop(0, 20, lambda _, y: jnp.tanh(y @ w), x).sum()))
JAX = {"batches": batches, "step": step, "w": jnp.full((300, 300), 0.01)}


def test_lines_of_jax_are_host_until_the_device_has_its_work_and_rest_after_that() -> None:
    code = """
losses = []
for x in batches(12):
    y = x * 1
    w, loss = step(w, x)
    losses.append(loss)
    print(end="")
"""
    found = timed(code, **JAX)
    assert parts(found) == ["data", "host", "host", "rest", "rest"]
    assert found.frameworks == {"jax": jax.__version__}
    assert 0 < found.backlog < 600  # seconds of the loop, none of the clock
    assert all(0 <= line.waited < 600 for line in found.lines)
    assert found.verdict == "DEVICE-BOUND"


def test_what_devices_had_left_is_not_known_where_the_loop_was_stopped() -> None:
    code = "for i, x in enumerate(batches(9)):\n    w, loss = f(w, x)\n    a = 1 / (7 - i)"
    for f, verdict in ((step, "?"), (lambda w, x: (w, torch.ones(9).sum()), "")):
        found, error = time_loop(Source.plain(code), {**NAMES, **JAX, "f": f})
        assert isinstance(error, ZeroDivisionError)
        assert found.was_stopped == (verdict == "?")
        assert ("left to do" in found.notes[0].text) == found.was_stopped
        assert not verdict or found.verdict == verdict


def test_a_value_that_is_read_in_every_step_is_named_and_one_that_is_not_is_not() -> None:
    code = """
for i, x in enumerate(batches(14, 0.005)):
    w, loss = step(w, x)
    if i % EVERY == 0:
        value = np.asarray(loss)
"""
    always, seldom = (timed(code, EVERY=every, **JAX) for every in (1, 7))
    line = always.lines[-1]
    assert line.text == "value = np.asarray(loss)"
    assert line.waited > 0
    # In a step in which others had the CPU meanwhile, the device may have been done before.
    assert seldom.lines[-1].waits <= 2 < line.waits <= always.count == 14
    assert "in every step" not in str(seldom)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """What only its sleeps move."""
    clock = FakeClock()
    monkeypatch.setattr(Clock, "elapsed", lambda: clock)
    return clock


def test_a_slow_loader_is_named_whatever_draws_from_it(clock: FakeClock) -> None:
    code = "it = load()\nfor i in range(14):\n    x = next(it)\n    l = float(f(x)); sleep(0.002)"

    def load() -> Iterator[Any]:
        for x in batches(14):
            clock.sleep(0.01)
            yield x

    found = timed(code, load=load, f=jax.jit(jnp.sum), sleep=clock.sleep)
    assert found.verdict == "DATA-BOUND"
    assert found.shares["data"] == pytest.approx(10 / 12)


def test_lines_of_torch_on_the_cpu_are_host_and_device_in_one() -> None:
    code = """
for x, y in loader:
    opt.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    seen.append(loss.item())
"""
    model = torch.nn.Linear(4, 1)
    data = torch.utils.data.TensorDataset(torch.ones(40, 4), torch.ones(40, 1))
    loader = torch.utils.data.DataLoader(data, batch_size=4)
    opt = torch.optim.SGD(model.parameters())
    found = timed(code, model=model, opt=opt, loader=loader, seen=[])
    assert parts(found) == ["data", "call", "call", "call", "call", "rest"]
    assert [note.code for note in found.notes] == ["computes-in-call"]
    assert "num_workers" in found.advice


@pytest.mark.parametrize(
    ("workers", "cpus", "told"),
    [
        (0, 1, "DataLoader(..., num_workers=1): batches are made beside the loop"),
        (0, 8, "DataLoader(..., num_workers=2): batches are made beside the loop"),
        (2, 8, "DataLoader(..., num_workers=4): 2 do not keep up; or make a sample cheaper"),
        (2, 3, "DataLoader(..., num_workers=3): 2 do not keep up; or make a sample cheaper"),
        (2, 2, "make a sample cheaper: 2 workers do not keep up on 2 CPUs"),
    ],
)
def test_no_more_workers_are_advised_than_pytorch_takes_without_a_warning(
    workers: int, cpus: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own,) = (each for each in loaded()[0] if each.name == "torch")
    waits = own.capability(DeviceWaits)
    monkeypatch.setattr(sys.modules[type(waits).__module__], "usable_cpus", lambda: cpus)
    with warnings.catch_warnings(action="ignore"):  # on a machine with few CPUs
        loader = torch.utils.data.DataLoader([1, 2], num_workers=workers)
    assert waits.loader_advice(loader) == told


def test_lines_of_tensorflow_too_and_a_dataset_is_known() -> None:
    code = "for x in ds:\n    l = f(x)\n    print(end='')"
    ds = tf.data.Dataset.from_tensor_slices(np.ones((12, 4), np.float32))
    found = timed(code, ds=ds, f=tf.function(lambda x: tf.reduce_sum(x * x)))
    assert parts(found) == ["data", "call", "rest"]
    assert "prefetch" in found.advice


def test_a_step_that_compiles_is_left_out() -> None:
    code = "for n in sizes:\n    y = f(jnp.ones(n)).block_until_ready()"
    found = timed(code, f=jax.jit(lambda x: jnp.sin(x) * 2), sizes=[3] * 5 + [4] + [3] * 5)
    assert [each.compiled for each in found.steps] == [True] + [False] * 4 + [True] + [False] * 5
    assert sum(each.steps for each in found.steady) == 8


def test_plain_python_is_all_host_and_no_framework_is_named(clock: FakeClock) -> None:
    found = timed("for i in range(9):\n    sleep(0.001)", sleep=clock.sleep)
    assert (found.verdict, found.frameworks) == ("HOST-BOUND", {})
    assert [note.code for note in found.notes] == ["no-framework-call"]
