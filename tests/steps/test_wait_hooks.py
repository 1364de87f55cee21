"""Where Python waits for a device is noted; what was replaced is put back."""

import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from ipyjaxbench.frameworks import Framework, loaded
from ipyjaxbench.steps.line_kinds import computing
from ipyjaxbench.steps.protocol import DeviceWaits
from ipyjaxbench.steps.step_rows import AWAKE, WAIT
from ipyjaxbench.steps.wait_hooks import WaitHooks

READS = {
    "float": float,
    "print": str,
    "format": lambda x: f"{x:.2f}",
    "block_until_ready": lambda x: x.block_until_ready(),
    "jax.block_until_ready": lambda x: jax.block_until_ready((x, x + 1)),
    "device_get": jax.device_get,
    "tolist": lambda x: x.tolist(),
}


def frameworks() -> list[Framework]:
    return computing(loaded()[0])


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_read_of_jax_is_noted_once(read: Any) -> None:
    x = jax.jit(lambda x: x + 1)(jnp.float32(1))
    noted: list[int] = []
    with WaitHooks(frameworks(), noted.append):
        read(x)
    assert noted[:2] == [WAIT, AWAKE]
    assert noted == [WAIT, AWAKE] * (len(noted) // 2)


def test_giving_the_device_work_is_no_wait() -> None:
    f, x = jax.jit(lambda x: x + 1), jnp.ones(3)
    f(x)
    noted: list[int] = []
    with WaitHooks(frameworks(), noted.append):
        for _ in range(3):
            x = f(x)
        torch.ones(3).sum().item()  # on the CPU there is nothing to wait for
    assert noted == []


def test_what_numpy_reads_in_place_is_waited_for_before() -> None:
    noted: list[int] = []
    with WaitHooks(frameworks(), noted.append) as hooks:
        x = jnp.ones(3)
        assert hooks.ready(x) is x
        assert noted == [WAIT, AWAKE]
        own = np.ones(3)
        assert hooks.ready(own) is own
        assert len(noted) == 2


def test_waits_of_other_threads_are_not_noted() -> None:
    noted: list[int] = []
    with WaitHooks(frameworks(), noted.append):
        thread = threading.Thread(target=lambda: float(jnp.float32(1)))
        thread.start()
        thread.join()
    assert noted == []


def test_all_is_put_back() -> None:
    points = [(point.owner, point.name) for each in frameworks()
              for point in each.capability(DeviceWaits).points()]  # fmt: skip
    before = [vars(owner).get(name) for owner, name in points if owner is not None]
    with pytest.raises(KeyboardInterrupt), WaitHooks(frameworks(), print):
        raise KeyboardInterrupt
    assert [vars(owner).get(name) for owner, name in points if owner is not None] == before


def test_every_place_that_jax_waits_in_is_there() -> None:
    """A self-test: most of them are private, and would be missed without a word."""
    points = [
        point
        for each in frameworks()
        if each.name == "jax"
        for point in each.capability(DeviceWaits).points()
    ]
    assert points
    assert [point.name for point in points if getattr(point.owner, point.name, None) is None] == []
