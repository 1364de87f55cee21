"""What one framework's preallocation leaves of a GPU to the others."""

from dataclasses import replace

import pytest

from ipyjaxbench.device import Device, FrameworkDevices
from ipyjaxbench.device.preallocation import add_preallocation
from ipyjaxbench.reports import Note

GIB = 2**30
TAKEN = Note("memory-preallocated", "JAX preallocated 75% of each GPU at startup")
JAX = FrameworkDevices("jax", "1", True, (Device("gpu:0", limit=60 * GIB),), words=(TAKEN,))
TORCH = FrameworkDevices("torch", "2", True, (Device("cpu"), Device("cuda:0", limit=80 * GIB)))


def test_another_framework_is_told_what_is_left() -> None:
    jax, torch = add_preallocation((JAX, TORCH))
    assert jax == JAX
    assert torch.texts == (
        "cuda:0: jax preallocated 60.0 GiB of it, which leaves at most 20.0 GiB to torch",
    )
    unknown = replace(JAX, devices=(Device("gpu:0"),))
    *_, torch = add_preallocation((unknown, TORCH))
    assert torch.texts == ("cuda:0: jax preallocated most of it, which leaves little to torch",)
    flow = replace(JAX, framework="tensorflow", devices=(Device("gpu:0", limit=70 * GIB),))
    found = add_preallocation((JAX, flow))  # both are told
    assert [len(home.texts) for home in found] == [2, 2]
    assert "tensorflow preallocated 70.0 GiB" in found[0].texts[1]


@pytest.mark.parametrize("jax", [
    replace(JAX, words=(Note("memory-grows", "JAX allocates GPU memory on demand"),)),
    replace(JAX, words=("a sentence of an earlier version",)),
    replace(JAX, devices=(Device("gpu:1", limit=60 * GIB),)),
    replace(JAX, devices=(Device("cpu:0"),)),
])  # fmt: skip
def test_where_nothing_is_taken_nothing_is_told(jax: FrameworkDevices) -> None:
    assert add_preallocation((jax, TORCH)) == (jax, TORCH)
