"""NumPy: arrays in host memory, computed when they exist."""

from typing import Any, ClassVar

import numpy as np

from ipyjaxbench.frameworks import Placement, Synchronous

HOST = ("cpu",)
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
        "MemoryMeter": "ipyjaxbench.adapters.shared.traced_memory:TracedMemory",
        "MutableState": f"{_HERE}.state:NumPyState",
    }

    def version(self) -> str:
        """Return NumPy's version."""
        return np.__version__

    def owns(self, kind: type) -> bool:
        """Whether these are arrays; scalars are values."""
        return issubclass(kind, np.ndarray)

    def placement(self, array: Any) -> Placement:
        """Return type and bytes; all is in the host's memory."""
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


def dtype_of(array: Any) -> str:
    """Return its name; of strings and bytes as NumPy prints it, for the name counts bits."""
    of_a_package = array.dtype.isbuiltin == 2  # such as ml_dtypes.bfloat16, whose kind is "V"
    if array.dtype.kind not in "USV" or of_a_package:
        return str(array.dtype.name)
    return "structured" if array.dtype.names else str(array.dtype.str).lstrip("<>|=")
