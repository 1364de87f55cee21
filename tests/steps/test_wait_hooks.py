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


@pytest.fixture
def frameworks() -> list[Framework]:
    return computing(loaded()[0])


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_read_of_jax_is_noted_once(frameworks: list[Framework], read: Any) -> None:
    x = jax.jit(lambda x: x + 1)(jnp.float32(1))
    noted: list[int] = []
    with WaitHooks(frameworks, noted.append):
        read(x)
    assert noted[:2] == [WAIT, AWAKE]
    assert noted == [WAIT, AWAKE] * (len(noted) // 2)


def test_giving_the_device_work_is_no_wait(frameworks: list[Framework]) -> None:
    f, x = jax.jit(lambda x: x + 1), jnp.ones(3)
    f(x)
    noted: list[int] = []
    with WaitHooks(frameworks, noted.append):
        f(x)
        torch.ones(3).sum().item()  # on the CPU there is nothing to wait for
        thread = threading.Thread(target=lambda: float(jnp.float32(1)))
        thread.start()
        thread.join()
    assert noted == []


@pytest.mark.parametrize("kind", ["cuda", "xpu"])
@pytest.mark.parametrize("name", ["Event", "Stream"])
def test_a_wait_for_an_event_or_a_stream_is_noted(
    frameworks: list[Framework], kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, asked = getattr(getattr(torch, kind), name), list[object]()
    monkeypatch.setattr(owner, "synchronize", asked.append)
    noted: list[int] = []
    with WaitHooks(frameworks, noted.append):
        owner.synchronize("one")
    assert (noted, asked) == ([WAIT, AWAKE], ["one"])


def test_what_numpy_reads_in_place_is_waited_for_before(frameworks: list[Framework]) -> None:
    noted: list[int] = []
    with WaitHooks(frameworks, noted.append) as hooks:
        for value in (jnp.ones(3), np.ones(3)):
            assert hooks.ready(value) is value
            assert noted == [WAIT, AWAKE]


def test_all_is_put_back_and_all_of_jax_is_there(frameworks: list[Framework]) -> None:
    """Most of them are private, and would be missed without a word."""
    points = [(each.name, point.owner, point.name) for each in frameworks
              for point in each.capability(DeviceWaits).points()]  # fmt: skip

    def held() -> list[Any]:
        return [vars(owner).get(name) for _, owner, name in points if owner is not None]

    before = held()
    with pytest.raises(KeyboardInterrupt), WaitHooks(frameworks, print):
        raise KeyboardInterrupt
    assert held() == before
    of_jax = [getattr(owner, name, None) for each, owner, name in points if each == "jax"]
    assert of_jax
    assert None not in of_jax
