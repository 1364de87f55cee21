"""NumPy: arrays in host memory, computed when they exist."""

from typing import Any, ClassVar

import numpy as np

from ipyjaxbench.adapters.numpy.arrays import HOST, dtype_of
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.frameworks.synchronous import Synchronous

_HERE = "ipyjaxbench.adapters.numpy"


class NumPy(Synchronous):
    """`numpy.ndarray` and its subclasses."""

    name = "numpy"
    module = "numpy"
    spins = True
    capabilities: ClassVar = {
        "ArrayInspector": f"{_HERE}.arrays:NumPyArrays",
        "Caveats": f"{_HERE}.products:NumPyCaveats",
        "DeviceInventory": f"{_HERE}.devices:NumPyDevices",
        "GraphTracer": f"{_HERE}.products:NumPyTracer",
        "MutableState": f"{_HERE}.state:NumPyState",
    }

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
            dtype=dtype_of(array),
            shape=tuple(array.shape),
            devices=HOST,
            nbytes=array.nbytes,
            view=not array.flags.owndata,
        )
