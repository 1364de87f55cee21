"""The chips that a name stands for."""

from ipyjaxbench.adapters.jax.chips.gpus import find_gpus
from ipyjaxbench.adapters.jax.chips.topology import Topology
from ipyjaxbench.adapters.jax.chips.tpus import find_tpus


def find_chips(name: str) -> Topology:
    """Return what a name such as "tpu:v5e:2x2" or "gpu:h100x4" stands for.

    Raises:
        OptionError: there are no such chips.
    """
    return find_gpus(name) if name.startswith("gpu:") else find_tpus(name)
