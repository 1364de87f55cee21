"""What JAX's rules write in place of a statement, before anything is tried."""

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as J  # as a user may call it
import numpy as N
import pytest

from ipyjaxbench.adapters.jax.diagnosis.rules import branches, calls, loops, masks
from ipyjaxbench.adapters.shared.diagnosis.names import STAND_INS
from tests.adapters.shared.code import applied, site_of

NAMES = {"J": J, "N": N, "m": math, "root": math.sqrt}


#: What each rule says that it changes.
CHANGES = {
    masks.where_in_reduction: "reduces only where the mask is True",
    masks.zeros_for_mask: "keeps the shape: 0 where the mask is False",
    masks.zeros_for_slice: "keeps the shape: 0 from index n on; n must not be negative",
    masks.slice_of_fixed_size: "near the end of the array, the slice starts earlier to fit",
    masks.fixed_size: "always returns N elements, padded with a fill value; verified with N = 8",
    branches.jax_for_builtins: "stays an array",
    branches.cond_for_returns: "traces both branches, runs one",
    branches.cond_for_assigned: "traces both branches, runs one",
    loops.fori_loop: "the loop runs on the device",
    loops.while_loop: "the loop runs on the device",
    calls.numpy_for_jax: "NumPy computes it during tracing, from shapes alone",
    calls.array_for_number: "stays an array",
    calls.array_for_list: "stays an array",
    calls.switch_for_list: "an index out of range selects the last function",
    calls.debug_print: "prints when the program runs, not during tracing",
}
#: They give something else.
OTHERS = (masks.zeros_for_mask, masks.zeros_for_slice, masks.fixed_size)


@pytest.mark.parametrize(("rule", "lines", "new"), [
    (masks.where_in_reduction, ["return x[y].max()"],
     ["return x.max(where=y, initial=-jax.numpy.inf)"]),
    (masks.where_in_reduction, ["return J.min(x[x > 0])"],
     ["return J.min(x, where=x > 0, initial=jax.numpy.inf)"]),
    (masks.where_in_reduction, ["return J.mean(x[~y])"], ["return J.mean(x, where=~y)"]),
    (masks.zeros_for_mask, ["return x[x > 0]"], ["return jax.numpy.where.__mask(x > 0, x, 0)"]),
    (masks.zeros_for_slice, ["return x[:n]"],
     ["return jax.numpy.where.__below(jax.numpy.arange(len(x)) < n, x, 0)"]),
    (masks.slice_of_fixed_size, ["y = x[n:3 + n]"], ["y = jax.lax.dynamic_slice_in_dim(x, n, 3)"]),
    (masks.fixed_size, ["y = J.unique(x)"], ["y = J.unique(x, size=N.__places)"]),
    (masks.fixed_size, ["y = J.where(x)"], ["y = J.where(x, size=N.__places)"]),
    (masks.fixed_size, ["y = J.bincount(x)"], ["y = J.bincount(x, length=N.__places)"]),
    (masks.fixed_size, ["y = J.repeat(x, n)"],
     ["y = J.repeat(x, n, total_repeat_length=N.__places)"]),
    (masks.fixed_size, ["y = x.nonzero()"], ["y = jax.numpy.nonzero(x, size=N.__places)"]),
    (branches.logical_functions, ["y = x > 0 and n > 0"], ["y = (x > 0) & (n > 0)"]),
    (branches.jax_for_builtins, ["y = max(x, y, n)"],
     ["y = jax.numpy.maximum(jax.numpy.maximum(x, y), n)"]),
    (branches.jax_for_builtins, ["y = sorted(x)"], ["y = jax.numpy.sort(x)"]),
    (branches.cond_for_returns, ["if x:", "    return y", "return n"],
     ["return jax.lax.cond(x, lambda: y, lambda: n)"]),
    (branches.cond_for_returns,
     ["if x:", "    y = y + 1", "    return y", "else:", "    return x, n", "return y"],
     ["def if_true(y):", "    y = y + 1", "    return y", "def if_false(y):", "    return (x, n)",
      "return jax.lax.cond(x, if_true, if_false, y)"]),
    (branches.cond_for_assigned, ["if x:", "    y = 1", "    z = y", "else:", "    z = 3"],
     ["def if_true(y):", "    y = 1", "    z = y", "    return (y, z)", "def if_false(y):",
      "    z = 3", "    return (y, z)", "y, z = jax.lax.cond(x, if_true, if_false, y)"]),
    (loops.fori_loop, ["for i in range(n):", "    x = x * i"],
     ["x = jax.lax.fori_loop(0, n, lambda i, x: x * i, x)"]),
    (loops.fori_loop, ["for i in range(2, n):", "    x = x * i", "    y = x"],
     ["def body(i, carry):", "    x, y = carry", "    x = x * i", "    y = x", "    return (x, y)",
      "x, y = jax.lax.fori_loop(2, n, body, (x, y))"]),
    (loops.while_loop, ["while x < n and n:", "    x = x * 2"],
     ["x = jax.lax.while_loop(lambda x: jax.numpy.logical_and(x < n, n), lambda x: x * 2, x)"]),
    (loops.while_loop, ["while x < n:", "    x = x * 2", "    n = n - 1"],
     ["def goes_on(carry):", "    x, n = carry", "    return x < n", "def body(carry):",
      "    x, n = carry", "    x = x * 2", "    n = n - 1", "    return (x, n)",
      "x, n = jax.lax.while_loop(goes_on, body, (x, n))"]),
    (calls.jax_for_numpy, ["y = N.linalg.norm(x)"], ["y = jax.numpy.linalg.norm(x)"]),
    (calls.jax_for_numpy, ["y = root(x)"], ["y = jax.numpy.sqrt(x)"]),
    (calls.jax_for_numpy, ["y = m.lgamma(x)"], ["y = jax.scipy.special.gammaln(x)"]),
    (calls.jax_for_numpy, ["y = m.atan2(x, y)"], ["y = jax.numpy.arctan2(x, y)"]),
    (calls.numpy_for_jax, ["y = J.prod(x.shape)"], ["y = numpy.prod(x.shape)"]),
    (calls.array_for_number, ["y = float(x)"], ["y = jax.numpy.asarray(x, float)"]),
    (calls.array_for_number, ["y = x.tolist()"], ["y = x"]),
    (calls.array_for_list, ["y = x[n]"], ["y = jax.numpy.asarray(x)[n]"]),
    (calls.switch_for_list, ["y = x[n](y)"], ["y = jax.lax.switch(n, x, y)"]),
    (calls.debug_print, ['print(f"a {x:.2f} {{}} {float(y)}")'],
     ["jax.debug.print('a {:.2f} {{}} {}', x, y)"]),
    (calls.debug_print, ['print("a %d, %.1f {b}" % (x, y))'],
     ["jax.debug.print('a {:d}, {:.1f} {{b}}', x, y)"]),
    (calls.debug_print, ['print("{} of {}".format(x.item(), n))'],
     ["jax.debug.print('{} of {}', x, n)"]),
])  # fmt: skip
def test_a_statement_is_written_in_another_way(
    rule: Callable[..., Any], lines: list[str], new: list[str]
) -> None:
    (edit,) = rule(site_of(*lines, **NAMES))
    # What stands after a statement that returns on all ways is never reached, and stays.
    assert edit.count == (2 if lines[-1] == "return n" and len(lines) > 1 else 1)
    assert applied(rule, *lines, **NAMES)[0].splitlines() == new
    assert (edit.changes, edit.same) == (CHANGES.get(rule, ""), rule not in OTHERS)


NO_CASES = {
    masks.where_in_reduction: ["return x[1].max()", "return x[y].cumsum()",
        "return J.max(x[y], axis=0)", "return N.max(x[y])"],
    masks.zeros_for_mask: ["return x[1:]"],
    masks.zeros_for_slice: ["return x[:n + 1]"],
    masks.slice_of_fixed_size: ["y = x[n:y + 3]"],
    masks.fixed_size: ["y = J.where(x, 1, 2)", "y = N.unique(x)"],
    branches.logical_functions: ["y = -x"],
    branches.jax_for_builtins: ["y = max(x, key=n)", "y = round(x, 2)", "y = abs(x)"],
    branches.cond_for_returns: ["if x:\n    y = 1\nreturn n",
        "if x:\n    if y:\n        return n\n    return x\nreturn y"],
    branches.cond_for_assigned: ["if x:\n    f(y)", "if x:\n    z = 1",
        "if x:\n    y = 1\n    return y"],
    loops.fori_loop: ["for i in range(0, n, 2):\n    x = x * i",
        "for i in range(n):\n    x = x * i\n    break", "for i in range(n):\n    i = 3",
        "for i in range(n):\n    x = i\nelse:\n    x = 3", "for i in x:\n    y = y + i"],
    loops.while_loop: ["while x:\n    f(y)", "while x:\n    x = x - 1\n    break"],
    calls.jax_for_numpy: ["y = m.dist(x, y)", "y = m.floordiv(x)", "y = J.sin(x)"],
    calls.numpy_for_jax: ["y = N.prod(x.shape)"],
    calls.array_for_number: ["y = str(float(x))", 'y = f"{x.item()}"'],
    calls.array_for_list: ["y = x.a[n]"],
    calls.switch_for_list: ["y = x[n](y, a=1)"],
    calls.debug_print: ['print("%s" % x)', 'print("%d %d" % x)', 'print(f"{x!r}")', "print(x)",
        'x = print("%d" % x)'],
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "text"), [(rule, text) for rule, texts in NO_CASES.items() for text in texts]
)
def test_what_is_no_case_of_a_rule_stays(rule: Callable[..., Any], text: str) -> None:
    assert applied(rule, *text.split("\n"), **NAMES) == []


@pytest.mark.parametrize(("line", "new"), [
    ("x[y > 0] = n", ["x = jax.numpy.where.__mask(y > 0, n, x)"]),
    ("x[y > 0] = n[y > 0]", ["x = jax.numpy.where.__mask(y > 0, n, x)"]),
    ("x[y > 0] += n", ["x = jax.numpy.where.__mask(y > 0, x + n, x)"]),
    ("x[y] = 0", ["x = jax.numpy.where.__mask(y, 0, x)"]),
    ("x[y] = n", []),
    ("x[1] = n", []),
    ("y = x.at[y > 0].set(n)", ["y = jax.numpy.where.__mask(y > 0, n, x)"]),
    ("y = x.at[y > 0].add(n)", ["y = jax.numpy.where.__mask(y > 0, x + n, x)"]),
    ("y = x.at[y > 0].multiply(n)", ["y = jax.numpy.where.__mask(y > 0, x * n, x)"]),
    ("y = x.at[y > 0].divide(n)", ["y = jax.numpy.where.__mask(y > 0, x / n, x)"]),
    ("y = x.at[y > 0].min(n)", []),
    ("y = x.at[1].set(n)", []),
])  # fmt: skip
def test_numbers_under_a_mask_are_chosen(line: str, new: list[str]) -> None:
    assigned, at, _, _ = masks.FOR_ASSIGNED_ITEMS
    assert applied(assigned, line) + applied(at, line) == new


@pytest.mark.parametrize(("line", "new"), [
    ("x[n] = y", "x = {}.at[n].set(y)"),
    ("x[n] += y", "x = {}.at[n].add(y)"),
    ("x[n] -= y", "x = {}.at[n].add(-y)"),
    ("x[n] *= y", "x = {}.at[n].multiply(y)"),
    ("x[n] /= y", "x = {}.at[n].divide(y)"),
    ("x[n] **= y", "x = {}.at[n].power(y)"),
    ("x[n] //= y", "x = {0}.at[n].set({0}[n] // y)"),
])  # fmt: skip
def test_items_are_set_in_new_arrays(line: str, new: str) -> None:
    *_, of_jax, of_numpy = masks.FOR_ASSIGNED_ITEMS
    assert applied(of_jax, line) == [new.format("x")]
    assert applied(of_numpy, line) == [new.format("jax.numpy.asarray(x)")]
    assert applied(of_jax, "x = y") == []


def test_what_stands_in_for_where_gives_the_same_or_refuses() -> None:
    x = J.array([1.0, 2.0, 3.0])
    of_mask, below, sides = (STAND_INS[f"jax.numpy.where.__{kind}"]
                             for kind in ("mask", "below", "sides"))  # fmt: skip
    assert of_mask(x > 1, x, 0).tolist() == [0, 2, 3]
    assert below(J.arange(3) < 2, x, 0).tolist() == [1, 2, 0]
    assert sides(x.sum() > 1, x, -x).tolist() == sides(False, 0, x).tolist() == [1, 2, 3]
    for refused in (
        lambda: of_mask(x[:1] > 0, x, 0),
        lambda: of_mask(J.array([0, 1, 2]), x, 0),
        lambda: below(True, x[:, None], 0),
        lambda: sides(x > 1, x.sum(), x),
        lambda: sides(True, x, J.array([1, 2, 3])),
    ):
        with pytest.raises(TypeError):
            refused()
