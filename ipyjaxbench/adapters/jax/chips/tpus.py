"""TPUs, alone or several side by side."""

import math
import re
from dataclasses import dataclass
from typing import Any

from ipyjaxbench.adapters.jax.chips.topology import Topology
from ipyjaxbench.errors import OptionError

_GIB = 2**30
_ASKED = re.compile(r"tpu:(\w+)(?::(\d+(?:x\d+)*))?")


@dataclass(frozen=True)
class Generation:
    """What all chips of a kind have in common (Cloud TPU system architecture).

    Attributes:
        compiler: the name that the compiler has for it.
        smallest: how many chips stand along each axis where it is asked for several.
        memory: bytes of one device.
        devices: of one chip: JAX takes each of its cores for one, where they are not joined.
        config: how the cores of a chip work together; empty for the compiler's own choice.
    """

    compiler: str
    smallest: tuple[int, ...]
    memory: int
    devices: int = 1
    config: str = ""


CHIPS = {
    "v2": Generation("v2", (2, 2), 8 * _GIB, devices=2),
    "v3": Generation("v3", (2, 2), 16 * _GIB, devices=2),
    # Both cores of a v4 are one device for JAX; the compiler alone takes them for two.
    "v4": Generation("v4", (2, 2, 1), 32 * _GIB, config="megacore"),
    "v5e": Generation("v5e", (2, 2), 16 * _GIB),
    "v5p": Generation("v5p", (2, 2, 1), 95 * _GIB),
    "v6e": Generation("v6e", (2, 2), 32 * _GIB),
    "v7x": Generation("tpu7x", (2, 2, 1), 96 * _GIB, devices=2),
}


def find_tpus(name: str) -> Topology:
    """Return what a name such as "tpu:v5e" or "tpu:v5e:2x2" stands for.

    Raises:
        OptionError: there is no such chip, or they do not stand side by side like that.

    Example:
        >>> find_tpus("tpu:v2:2x2").devices, find_tpus("tpu:v2").devices
        (8, 1)
    """
    match = _ASKED.fullmatch(name)
    generation = CHIPS.get(match[1]) if match else None
    if match is None or generation is None:
        known = ", ".join(f"tpu:{chip}" for chip in CHIPS)
        raise OptionError(f"--on {name}: must be one of {known}")
    single = (1,) * len(generation.smallest)
    chips = tuple(int(n) for n in match[2].split("x")) if match[2] else single
    is_single = chips == single and (not match[2] or generation.devices == 1)
    several = f"tpu:{match[1]}:{'x'.join(map(str, generation.smallest))}"
    if not is_single and not _stand(chips, len(single)):
        raise OptionError(
            f"--on {name}: write several chips as {several}; the first two numbers must be even"
        )
    arguments: dict[str, Any] = {"chip_config_name": generation.config}
    if is_single:  # the compiler thinks of hosts with four chips
        arguments["chips_per_host_bounds"] = (1, 1, 1)
    return Topology(
        name,
        "tpu",
        f"{generation.compiler}:{'x'.join(map(str, chips))}",
        1 if is_single else math.prod(chips) * generation.devices,
        generation.memory,
        several,
        {key: value for key, value in arguments.items() if value},
        halves=generation.devices > 1,
    )


def _stand(chips: tuple[int, ...], axes: int) -> bool:
    """Whether whole hosts of 2 × 2 chips fill it."""
    return len(chips) == axes and min(chips) > 0 and all(n % 2 == 0 for n in chips[:2])
