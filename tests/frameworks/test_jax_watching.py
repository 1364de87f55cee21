"""`%trace_cached --watch on` in a real IPython shell."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest

from tests.shell import Shell


@pytest.fixture
def watching(shell: Shell) -> Iterator[Shell]:
    shell.names.update(jax=jax, x=jnp.ones(3))
    shell.run("1")  # from now on what jax traces is learned
    shell.run("%trace_cached --watch on")
    yield shell
    if shell.shell.find_magic("trace_cached") is not None:
        shell.run("%trace_cached --watch off")


def told(shell: Shell) -> list[str]:
    texts = [output.data["text/plain"] for output in shell.shown]
    return [text for text in texts if text.startswith("traced: ")]


def test_a_line_tells_what_a_cell_traced(watching: Shell) -> None:
    watching.run("f = jax.jit(lambda x: x + 41)\ny = f(x)")
    (line,) = told(watching)
    assert line.startswith("traced: <lambda> (first call), in ")
    watching.run("y = f(x)")
    assert told(watching) == []


def test_what_was_traced_while_it_was_not_loaded_is_no_news(watching: Shell) -> None:
    watching.run("%unload_ext ipyjaxbench")
    watching.run("y = jax.jit(lambda x: x + 42)(x)")
    assert told(watching) == []
    watching.run("%load_ext ipyjaxbench")
    assert told(watching) == []
