"""What is written in place of a static number, so that one program serves all its values."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import ipyjaxbench
from tests.adapters.jax.written import why, written
from tests.shell import Shell

X, M = jnp.arange(12.0), jnp.arange(12.0).reshape(4, 3)
SLICE = "jax.lax.dynamic_slice_in_dim"


@pytest.mark.parametrize(
    ("lines", "args", "fix"),
    [
        ("return x[n:n + 2]", (X, 3), f"return {SLICE}(x, n, 2)"),
        ("return x[n * 4:(n + 1) * 4]", (X, 2), f"return {SLICE}(x, n * 4, 4)"),
        ("return x[:, n:n + 2]", (M, 1), f"return {SLICE}(x, n, 2, axis=1)"),
        ("return x[..., n:n + 2]", (M, 1), f"return {SLICE}(x, n, 2, axis=-1)"),
        ("return x[:n].sum()", (X, 5), "return x.sum(where=jnp.arange(x.size) < n)"),
        ("return x[:n].sum()", (M, 2), None),  # of a vector alone
        ("return x.reshape(n, 3)", (X, 4), "return x.reshape(-1, 3)"),
        ("return x.reshape((2, 3, n))", (X, 2), "return x.reshape((2, 3, -1))"),
        ("return x.reshape(n, -1)", (X, 4), None),
        ("return x.reshape(n, -1)", (M, 3), "return x.reshape(x.shape[1], -1)"),
        ("return x + jnp.arange(n)", (X, 12), "return x + jnp.arange(x.shape[0])"),
        ("return jnp.arange(n)", (X, 5), None),
        ("return jax.lax.dynamic_slice(x, (0,), (n,))", (X, 12),
         "return jax.lax.dynamic_slice(x, (0,), (x.shape[0],))"),
        ("return jax.lax.dynamic_slice(x, (0,), (n,))", (X, 5), None),
        ("return x if n else -x", (X, True), None),
    ],
)  # fmt: skip
def test_the_better_way_is_found_where_there_is_one_and_compiles_once(
    lines: str, args: tuple[Any, ...], fix: str | None
) -> None:
    found = ipyjaxbench.graph(written("x, n", lines), *args)
    assert found.static_argnames == ("n",)
    assert [each.code for each in found.fixes] == ([fix] if fix else [])
    if fix:
        assert found.fixes[0].same
        jitted = jax.jit(written("x, n", fix))
        assert (jitted(*args) == written("x, n", lines)(*args)).all()
        jitted(args[0], args[1] - 1)
        assert jitted._cache_size() == 1


def test_of_two_numbers_one_may_have_to_stay_static() -> None:
    (fix,) = ipyjaxbench.graph(written("x, i, n", "return x[i:i + n]"), X, 3, 2).fixes
    assert fix.code == f"return {SLICE}(x, i, n)"
    assert fix.cost.endswith("; with static_argnames='n'")


def test_in_a_jitted_function_it_comes_before_static_arguments() -> None:
    jitted = jax.jit(written("x, n", "return x[n:n + 2]"))
    once, static = (fix.code for fix in why(jitted, X, 3).fixes)
    assert once == f"return {SLICE}(x, n, 2)"
    assert "static_argnames='n'" in static
    with pytest.raises(IndexError) as caught:
        jitted(X, 3)
    once, static = (fix.code for fix in ipyjaxbench.explain(caught.value).fixes)
    assert once == f"return {SLICE}(x, n, 2)"
    assert "static_argnames='n'" in static


def test_it_stands_before_the_row_of_static_arguments(shell: Shell) -> None:
    shell.names |= {"jax": jax, "x": X}
    shell.run("def window(x, i):\n    return x[i:i + 2]\n%jaxpr window(x, 3)")
    (output,) = shell.shown
    lines = output.data["text/plain"].splitlines()
    start = lines.index("- return x[i:i + 2]")
    assert [line.split(None, 1)[-1] for line in lines[start + 1 : start + 5]] == [
        "return jax.lax.dynamic_slice_in_dim(x, i, 2)   ✓ traces, same values",
        "near the end of the array, the slice starts earlier to fit",
        "x f32[12] → f32[2]",
        "i: without the fix, one program per value; use static_argnames='i'",
    ]
    assert "executed only to verify the fix" in lines[-1]
