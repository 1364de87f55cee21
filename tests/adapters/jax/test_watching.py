"""`%trace_cached --watch on` in a real IPython shell."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest
from IPython.core.error import UsageError

from tests.shell import Shell


@pytest.fixture
def watching(shell: Shell) -> Iterator[Shell]:
    shell.names.update(jax=jax, jnp=jnp, x=jnp.ones(3))
    shell.run("1")  # from now on what jax traces is learned
    shell.run("%trace_cached --watch on")
    yield shell
    if shell.shell.find_magic("trace_cached") is not None:
        shell.run("%trace_cached --watch off")


def traced_lines(shell: Shell) -> list[str]:
    texts = [output.data["text/plain"] for output in shell.shown]
    return [text for text in texts if text.startswith("traced: ")]


def test_a_line_tells_what_a_cell_traced_while_it_is_loaded(watching: Shell) -> None:
    watching.run("f = jax.jit(lambda x: x + 41)\ny = f(x)")
    (line,) = traced_lines(watching)
    assert line.startswith("traced: <lambda> (first call), in ")
    watching.run("y = f(x)")
    assert traced_lines(watching) == []
    watching.run("%unload_ext ipyjaxbench")
    watching.run("y = jax.jit(lambda x: x + 42)(x)")
    assert traced_lines(watching) == []
    watching.run("%load_ext ipyjaxbench")
    assert traced_lines(watching) == []


def test_functions_of_jax_that_the_user_jits_are_told_and_those_that_jax_jits_are_not(
    watching: Shell,
) -> None:
    jax.clear_caches()
    watching.run("y = jax.jit(jnp.sinc)(x)")
    (line,) = traced_lines(watching)
    assert line.startswith("traced: sinc (first call), in ")
    watching.run("y = jnp.sinc(x[:2]) + jnp.nansum(x[:2]) - jnp.linalg.norm(x) + jnp.cumsum(x)[0]")
    assert traced_lines(watching) == []


def test_a_fix_that_is_computed_under_jit_is_no_trace_of_the_users(watching: Shell) -> None:
    watching.run("def f(x):\n    return x * 7 if x.sum() > 0 else -x")
    with pytest.raises(UsageError):
        watching.run("%jaxpr f(x)")
    assert any("same values" in out.data["text/plain"] for out in watching.shown)
    assert traced_lines(watching) == []
    watching.run("y = jax.jit(lambda x: x * 43)(x)")
    assert len(traced_lines(watching)) == 1


def test_reasons_are_those_of_looked_at_calls(watching: Shell) -> None:
    watching.run("@jax.jit\ndef loss(x):\n    return jnp.sum(jnp.sin(x) * 3)\ny = loss(x)")
    for cell, reason in (
        ("jax.clear_caches(); y = loss(x)", "earlier call, but caches were cleared"),
        ("y = jax.grad(loss)(x)", "was called directly, is now called under grad"),
        ("y = jax.vmap(jax.grad(loss))(jnp.ones((5, 3)))", "under vmap over 5 of grad"),
    ):
        watching.run(cell)
        (line,) = traced_lines(watching)
        assert reason in line, cell
    for cell in ("y = loss(x)", "y = jax.grad(loss)(x)"):
        watching.run(cell)
        assert traced_lines(watching) == []
