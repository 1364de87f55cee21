"""Devices that a program can be compiled for without having them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ipyjaxbench.adapters.jax.chips.roofline import Roof


@dataclass(frozen=True)
class Topology:
    """Chips side by side, or one device alone.

    Attributes:
        name: as it was asked for.
        platform: what JAX calls the compiler's: "tpu" or "cuda".
        compiler: the name that the compiler has for it.
        devices: how many compute: all that these chips have, or one alone.
        memory: bytes of one device.
        several: how several of these chips are asked for.
        arguments: what the compiler gets beside its name.
        halves: whether one chip is two devices.
        roof: the peaks of a chip whose compiler estimates no time; None for others.
    """

    name: str
    platform: str
    compiler: str
    devices: int
    memory: int
    several: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    halves: bool = False
    roof: Roof | None = None
