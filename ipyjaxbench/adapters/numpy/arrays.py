"""Where NumPy's arrays live: in the host's memory, with others that share it."""

import sys
from typing import Any

import numpy as np

from ipyjaxbench import units
from ipyjaxbench.adapters.numpy.framework import HOST
from ipyjaxbench.adapters.numpy.state import owner
from ipyjaxbench.adapters.shared import strides
from ipyjaxbench.device import ArrayInspector, ArrayMemory, ArrayPlacement, Weight
from ipyjaxbench.usercode import is_of


class NumPyArrays(ArrayInspector):
    """Arrays with the memory that they are views of."""

    def locate(self, name: str, array: Any) -> ArrayPlacement:
        """Return it with the address of the memory that it is a view of."""
        base = owner(array)
        nbytes = min(array.nbytes, base.nbytes)  # numbers that are repeated are held once
        layout = (
            "" if type(array) in (np.ndarray, np.memmap) else type(array).__name__,
            strides.describe_order(array.shape, array.strides, array.itemsize),
            f"view of {units.size(base.nbytes)}" if base.nbytes > nbytes else "",
        )
        file = base.filename if isinstance(base, np.memmap) else None
        return self._make_placement(
            name,
            array,
            nbytes=nbytes,
            memory=f"memory-mapped from {file}" if file else "",
            of=f"cpu@{base.__array_interface__['data'][0]}" if array.size else "",
            layout=", ".join(filter(None, layout)),
        )

    def weight(self, array: Any) -> Weight | None:
        """Return its bytes on the host; arrays of Python's objects hold no numbers."""
        return None if array.dtype.hasobject else Weight(HOST, array.nbytes)

    def memory(self, array: Any) -> ArrayMemory | None:
        """Return the memory of the array that it is a view of."""
        base = owner(array)
        if array.dtype.hasobject or not array.size or isinstance(base, np.memmap):
            return None
        return ArrayMemory(f"cpu@{base.__array_interface__['data'][0]}", base.nbytes, HOST)

    def describe(self, value: Any) -> str:
        """Describe arrays of Python's objects, and what pandas has."""
        if is_of(value, np.ndarray):
            return "an array of Python objects"
        pandas: Any = sys.modules.get("pandas")
        kinds = () if pandas is None else (pandas.DataFrame, pandas.Series, pandas.Index)
        if not is_of(value, *kinds):
            return ""
        size = value.memory_usage()
        nbytes = int(size.sum() if is_of(value, pandas.DataFrame) else size)
        return f"{units.size(nbytes)} on the host (pandas)"

    def to_numpy(self, array: Any) -> Any:
        """Return it as it is."""
        return array
