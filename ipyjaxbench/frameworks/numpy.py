"""NumPy: arrays in host memory, computed when they exist."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ipyjaxbench.frameworks._base import Restore, Synchronous, of_kind
from ipyjaxbench.placement import Placement


class NumPy(Synchronous):
    """`numpy.ndarray` and its subclasses."""

    name = "numpy"
    module = "numpy"

    def version(self) -> str:
        """NumPy's version."""
        return np.__version__

    def owns(self, kind: type) -> bool:
        """Arrays; scalars are values, not arrays."""
        return issubclass(kind, np.ndarray)

    def placement(self, array: Any) -> Placement:
        """Host memory, whatever the dtype."""
        return Placement(
            name="",
            framework=self.name,
            arrays=1,
            dtype=array.dtype.name,
            shape=tuple(array.shape),
            devices=("cpu",),
            nbytes=array.nbytes,
            view=not array.flags.owndata,
        )

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore | None:  # noqa: ARG002
        """The legacy global state, and that of generators among the values."""
        if "numpy.random" not in sys.modules:  # it is loaded on demand: leave it so
            return None
        shared = np.random.get_state(legacy=False)
        own = of_kind(values, np.random.Generator, np.random.BitGenerator)
        bits = [g.bit_generator if isinstance(g, np.random.Generator) else g for g in own]
        states = [bit.state for bit in bits]
        legacy = of_kind(values, np.random.RandomState)
        legacy_states = [generator.get_state(legacy=False) for generator in legacy]

        def restore() -> None:
            np.random.set_state(shared)
            for bit, state in zip(bits, states, strict=True):
                bit.state = state
            for generator, before in zip(legacy, legacy_states, strict=True):
                generator.set_state(before)

        return restore
