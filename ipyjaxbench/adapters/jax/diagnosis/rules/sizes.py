"""Sizes that a number gives, and that are known without it: of the array that has them."""

import ast
from collections.abc import Iterator

import jax
import numpy as np

from ipyjaxbench.adapters.shared.diagnosis.patterns import Holes, exchange_rule, pattern_rule
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Rule, Site
from ipyjaxbench.usercode import Call, is_a

_ARRAYS = (jax.Array, np.ndarray, jax.ShapeDtypeStruct)


def _is_name(_: Site, holes: Holes) -> bool:
    return isinstance(holes["N"], ast.Name)


#: Where the other axes are known, the last one is too.
reshape_to_known_axes = pattern_rule(
    {
        old.replace("_", axes): new.replace("_", axes)
        for axes in ("A", "A, B")
        for old, new in (("X.reshape(N, _)", "X.reshape(-1, _)"),
                         ("X.reshape((N, _))", "X.reshape((-1, _))"),
                         ("X.reshape(_, N)", "X.reshape(_, -1)"),
                         ("X.reshape((_, N))", "X.reshape((_, -1))"))
    },
    fits=_is_name,
)  # fmt: skip


def sizes_of_arguments(call: Call) -> Rule:
    """Return the rule that takes a number from the array of a call that has this size."""
    shapes = [(name, value.shape) for name, value in call.arguments if is_a(value, *_ARRAYS)]
    sizes = [
        (number, f"{array}.shape[{axis}]")
        for number, value in call.arguments
        for array, shape in shapes
        for axis, size in enumerate(shape)
        if type(value) is int and value == size
    ]

    def rule(site: Site) -> Iterator[Edit]:
        parameters = {each.arg for each in ast.walk(site.definition.args) if type(each) is ast.arg}
        for number, size in sizes:
            if {number, size.partition(".")[0]} <= parameters:
                yield from _exchange(number, size)(site)

    return rule


def _exchange(number: str, size: str) -> Rule:
    @exchange_rule(f"{number} has to be {size}, as in this call")
    def rule(_: Site, node: ast.expr) -> ast.expr | None:
        is_number = isinstance(node, ast.Name) and node.id == number
        return ast.parse(size, mode="eval").body if is_number else None

    return rule
