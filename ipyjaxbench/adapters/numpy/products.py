"""Matrix products in NumPy: what they have to compute, and when half of that is left out."""

import ast
from collections.abc import Iterator, Sequence

import numpy as np

from ipyjaxbench.adapters.shared import strides
from ipyjaxbench.graphs import GraphTracer, Workload
from ipyjaxbench.reports import Note
from ipyjaxbench.timing import Caveats, CodeFacts, note_half_product
from ipyjaxbench.usercode import Call

_BLAS = ("float32", "float64", "complex64", "complex128")
_PRODUCTS = ("dot", "matmul")


class NumPyTracer(GraphTracer):
    """The work of plain products; NumPy has no programs."""

    def workload(self, call: Call) -> Workload | None:
        """Return that of a product of two matrices alone: ``a @ b``, `numpy.dot` or `matmul`."""
        node = call.made_of
        by_sign = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        plain = by_sign and all(isinstance(n, ast.Name) for n in (node.left, node.right))  # type: ignore[union-attr]
        if not plain and call.function not in (np.dot, np.matmul):
            return None
        operands = call.args * (2 if plain and len(call.args) == 1 else 1)  # ``a @ a``
        if len(operands) != 2 or not all(type(x) is np.ndarray and x.ndim == 2 for x in operands):
            return None
        left, right = operands
        flops = 2.0 * left.size * right.shape[1]
        if left.dtype != right.dtype:
            return None
        whole = left.nbytes + right.nbytes + left.shape[0] * right.shape[1] * left.itemsize
        repeated = any(strides.overlaps(x.shape, x.strides, x.itemsize) for x in operands)
        nbytes = None if repeated else whole
        return Workload({left.dtype.name: flops}, shortcuts=False, nbytes=nbytes)


class NumPyCaveats(Caveats):
    """Products of which only half is computed."""

    def caveats(self, code: CodeFacts) -> Iterator[Note]:
        """Products of which only half is computed."""
        matrices = {
            place.name
            for place in code.inputs
            if place.framework == self.framework.name
            and len(place.shape or ()) == 2
            and place.dtype in _BLAS
        }
        for name in dict.fromkeys(_times_own_transpose(code.statements)):
            if name in matrices:
                yield note_half_product(name)


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
