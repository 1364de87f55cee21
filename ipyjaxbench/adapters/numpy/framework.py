"""NumPy: arrays in host memory, computed when they exist."""

import ast
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ipyjaxbench import units
from ipyjaxbench.adapters.numpy import pandas_state
from ipyjaxbench.adapters.numpy import state as _numpy_state
from ipyjaxbench.adapters.numpy.microbenchmarks import NumPyProbe
from ipyjaxbench.adapters.shared import strides
from ipyjaxbench.device.placement import Located, Weight
from ipyjaxbench.frameworks.framework import Restore
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.frameworks.state.undo import Room, State
from ipyjaxbench.frameworks.synchronous import Synchronous
from ipyjaxbench.graphs.components import Load
from ipyjaxbench.host.system import of_kind
from ipyjaxbench.reports.note import Note
from ipyjaxbench.timing.validity import notes
from ipyjaxbench.timing.validity.code_facts import Seen
from ipyjaxbench.usercode import objects
from ipyjaxbench.usercode.call import Call

_HOST = ("cpu",)


class NumPy(Synchronous):
    """`numpy.ndarray` and its subclasses."""

    name = "numpy"
    module = "numpy"
    spins = True

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
            dtype=_dtype(array),
            shape=tuple(array.shape),
            devices=_HOST,
            nbytes=array.nbytes,
            view=not array.flags.owndata,
        )

    def located(self, name: str, array: Any) -> Located:
        """With the memory that it is a view of, told by its address."""
        owner = _numpy_state.owner(array)
        nbytes = min(array.nbytes, owner.nbytes)  # numbers that are repeated are held once
        layout = (
            "" if type(array) in (np.ndarray, np.memmap) else type(array).__name__,
            strides.order(array.shape, array.strides, array.itemsize),
            f"a part of {units.size(owner.nbytes)}" if owner.nbytes > nbytes else "",
        )
        file = owner.filename if isinstance(owner, np.memmap) else None
        return Located(
            name=name,
            framework=self.name,
            dtype=_dtype(array),
            shape=tuple(array.shape),
            nbytes=nbytes,
            devices=_HOST,
            memory=f"mapped from {file}" if file else "",
            of=f"cpu@{owner.__array_interface__['data'][0]}" if array.size else "",
            layout=", ".join(filter(None, layout)),
        )

    def weight(self, array: Any) -> Weight | None:
        """Host memory; arrays of Python's objects hold no numbers."""
        return None if array.dtype.hasobject else Weight(_HOST, array.nbytes)

    def described(self, value: Any) -> str:
        """Arrays of Python's objects, and what pandas has."""
        if objects.is_of(value, np.ndarray):
            return "it holds Python's objects, no numbers"
        pandas: Any = sys.modules.get("pandas")
        kinds = () if pandas is None else (pandas.DataFrame, pandas.Series, pandas.Index)
        if not objects.is_of(value, *kinds):
            return ""
        size = value.memory_usage()
        nbytes = int(size.sum() if objects.is_of(value, pandas.DataFrame) else size)
        return f"pandas has {units.size(nbytes)} of it on the host"

    def host(self, array: Any) -> Any:
        """As it is."""
        return array

    def threads(self) -> int | None:
        """Those of the linear algebra library that NumPy was built with."""
        pools = _pools().threadpool_info()
        return next((p["num_threads"] for p in pools if p["user_api"] == "blas"), None)

    def aligned(self, threads: int) -> AbstractContextManager[object]:
        """The linear algebra library's threads."""
        limits: AbstractContextManager[object] = _pools().threadpool_limits(threads, "blas")
        return limits

    def probe(self, device: str) -> NumPyProbe:  # noqa: ARG002
        """On the host."""
        return NumPyProbe()

    def load(self, call: Call) -> Load | None:
        """Of a product of two matrices alone, written as ``a @ b``, `numpy.dot` or `matmul`."""
        node = call.made_of
        by_sign = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        plain = by_sign and all(isinstance(n, ast.Name) for n in (node.left, node.right))  # type: ignore[union-attr]
        if not plain and call.function not in (np.dot, np.matmul):
            return None
        given = call.args * (2 if plain and len(call.args) == 1 else 1)  # ``a @ a``
        if len(given) != 2 or not all(type(x) is np.ndarray and x.ndim == 2 for x in given):
            return None
        left, right = given
        flops = 2.0 * left.size * right.shape[1]
        if left.dtype != right.dtype:
            return None
        whole = left.nbytes + right.nbytes + left.shape[0] * right.shape[1] * left.itemsize
        repeated = any(strides.overlaps(x.shape, x.strides, x.itemsize) for x in given)
        return Load({left.dtype.name: flops}, shortcuts=False, nbytes=None if repeated else whole)

    def cautions(self, seen: Seen) -> Iterator[Note]:
        """Products of which only half is computed."""
        matrices = {
            place.name
            for place in seen.inputs
            if place.framework == self.name and len(place.shape or ()) == 2 and place.dtype in _BLAS
        }
        for name in dict.fromkeys(_times_own_transpose(seen.statements)):
            if name in matrices:
                yield notes.half_product(name)

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

    def changes_in_place(self, method: str) -> bool:
        """Those that give back nothing."""
        return method in ("sort", "partition", "fill", "put", "itemset", "resize")

    def states(self, value: object, room: Room) -> Sequence[State] | None:
        """The numbers of arrays, and generators; blocks of pandas's, which hold arrays."""
        found = _numpy_state.states(value, room)
        return pandas_state.states(value) if found is None else found


def _dtype(array: Any) -> str:
    """Its name; of strings and bytes as NumPy prints it, for the name counts their bits."""
    if array.dtype.kind not in "USV":
        return str(array.dtype.name)
    return "structured" if array.dtype.names else str(array.dtype.str).lstrip("<>|=")


_BLAS = ("float32", "float64", "complex64", "complex128")
_PRODUCTS = ("dot", "matmul")


def _times_own_transpose(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """Names of matrices that are multiplied by their own transpose, which BLAS's syrk does."""
    for node in ast.walk(ast.Module([*statements], [])):
        sides: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            sides = [node.left, node.right]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _PRODUCTS:
            sides = node.args if len(node.args) == 2 else [node.func.value, *node.args]  # type: ignore[attr-defined]
        turned = {ast.unparse(side.value) for side in sides
                  if isinstance(side, ast.Attribute) and side.attr == "T"}  # fmt: skip
        straight = {side.id for side in sides if isinstance(side, ast.Name)}
        yield from sorted(turned & straight)


def _pools() -> Any:
    """threadpoolctl, which sets a variable of the environment when it is imported."""
    before = dict(os.environ)
    import threadpoolctl

    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    return threadpoolctl
