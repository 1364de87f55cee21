"""Arrays that are there at one moment; none is held on to."""

import weakref
from collections.abc import Iterable, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from ipyjaxbench.device.protocol import ArrayInspector
from ipyjaxbench.frameworks import ArrayInfo, Framework, find_arrays
from ipyjaxbench.usercode import package_of

_NO_DATA = (ModuleType, FunctionType, BuiltinFunctionType, MethodType, type)
_HISTORY = ("In", "Out")
#: Of a module these may lead to all there is: to the shell, by `get_ipython` and the last value;
#: under pytest, whose loader reads its modules, to every test.
_PYTHONS_OWN = ("__builtins__", "__loader__", "__spec__")


class LiveArrays:
    """The arrays of a namespace, and those that frameworks know of besides."""

    def __init__(self, frameworks: Sequence[Framework], names: Mapping[str, object]) -> None:
        self._arrays: dict[int, tuple[weakref.ref[Any], Framework, ArrayInfo]] = {}
        self._bases: set[int] = set()  # memory of arrays that are here under another identity
        data = {n: v for n, v in names.items() if n not in _PYTHONS_OWN}
        data = {n: v for n, v in data.items() if not issubclass(type(v), _NO_DATA)}
        # Such as `exit`, which leads to all that IPython holds.
        data = {n: v for n, v in data.items() if package_of(v) != "IPython"}
        shown = {n: v for n, v in data.items() if not n.startswith("_") and n not in _HISTORY}
        parts = {name: find_arrays(value, frameworks) for name, value in shown.items()}
        for prefix, is_whole in (("", True), ("in ", False)):
            for name, arrays in parts.items():
                for framework, array in arrays:
                    if (array is shown[name]) is is_whole:
                        self._add(f"{prefix}{name}", framework, array)
        for value in (value for name, value in data.items() if name not in parts):
            for framework, array in find_arrays(value, frameworks):
                self._add("", framework, array)
        for framework in frameworks:
            for array in framework.capability(ArrayInspector).live_arrays():
                self._add("", framework, array)

    def created_since(self, before: "LiveArrays") -> tuple[ArrayInfo, ...]:
        """Return those that were not there before, the largest first."""
        return _largest_first(
            info
            for number, (ref, _, info) in self._arrays.items()
            if number not in before._arrays or before._arrays[number][0]() is not ref()
        )

    def freed(self) -> tuple[ArrayInfo, ...]:
        """Return those that are there no longer, the largest first."""
        return _largest_first(
            info
            for ref, framework, info in self._arrays.values()
            if (array := ref()) is None or not framework.alive(array)
        )

    def _add(self, name: str, framework: Framework, array: Any) -> None:
        if id(array) in self._arrays or id(array) in self._bases or not framework.alive(array):
            return
        base = framework.capability(ArrayInspector).base_array(array)
        if base is not array:
            self._bases.add(id(base))
        place = framework.placement(array)
        if place.view:
            return
        info = ArrayInfo(name, framework.name, place.dtype, place.shape or (), place.nbytes,
                    place.devices)  # fmt: skip
        try:
            self._arrays[id(array)] = weakref.ref(array), framework, info
        except TypeError:  # nothing tells when it is gone
            return


def _largest_first(arrays: Iterable[ArrayInfo]) -> tuple[ArrayInfo, ...]:
    return tuple(sorted(arrays, key=lambda array: -array.nbytes))
