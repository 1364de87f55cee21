"""Calls of jitted functions are seen, whatever makes them, also by ``%trace_cached --watch on``."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import equinox
import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from IPython.core.error import UsageError

from ipyjaxbench.retracing.predict import predict_code
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.usercode.snippet import Source
from tests.shell import Shell
from tests.ways_to_call import HELPER, WAYS, states_told, wrong

LIBRARIES = """\
class Net(eqx.Module):
    w: float
    @eqx.filter_jit
    def __call__(self, x): return x * self.w
net, filtered = Net(2.0), eqx.filter_jit(plain)
of_flax = nnx.jit(lambda x: x + 2)
mapped = jax.pmap(lambda v: v * 2)
class Trainer:
    def __init__(self): self._jitted = jax.jit(self._step)
    def _step(self, x): return x + 1
    def fit(self, x): return self._jitted(x)
trainer = Trainer()
outer = jax.jit(lambda v: f(v) * 2)
"""
OWN = {
    "Equinox's module": "net(x)",
    "map of Equinox's jit": "list(map(filtered, [x]))",
    "map of Flax's jit": "list(map(of_flax, [x]))",
    "pmap": "mapped(x[None])",
    "method that another one calls": "trainer.fit(x)",
    "vmap of a jitted function": "jax.vmap(f)(x)",
    "grad of a jitted function": "jax.grad(lambda v: f(v).sum())(x)",
    "jvp of a jitted function": "jax.jvp(f, (x,), (x,))",
    "vjp of a jitted function": "jax.vjp(f, x)",
    "linearize of a jitted function": "jax.linearize(f, x)",
    "inside another one": "outer(x)",
    "map of another one": "list(map(outer, [x]))",
    "jitted library function": "list(map(sine, [x]))",
}


@pytest.fixture
def cells(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    (tmp_path / "helper.py").write_text(HELPER)
    monkeypatch.syspath_prepend(tmp_path)
    TRACE_LOG.clear()
    of_method = functools.partial(jax.jit, static_argnums=0)
    shell.names.update(compiles=jax.jit, of_method=of_method, x=jnp.ones(3), jax=jax,
                       eqx=equinox, nnx=nnx)  # fmt: skip
    return shell


def test_each_way_is_a_trace_and_cache_hits(cells: Shell) -> None:
    assert wrong(cells, WAYS) == {}


@pytest.mark.parametrize("name", OWN)
def test_so_are_wrappers_of_libraries_and_transformations(cells: Shell, name: str) -> None:
    more = f"{LIBRARIES}\nsine = jax.jit(jax.numpy.sin)"
    assert states_told(cells, ("", OWN[name]), more) == ["TRACED", "CACHED", "CACHED"]


@pytest.mark.parametrize("call", ["jax.jvp(g, (x,), (x,))", "jax.vjp(g, x)", "jax.linearize(g, x)"])
def test_a_stale_program_is_told_where_it_is_differentiated(cells: Shell, call: str) -> None:
    cells.run("%load_ext ipyjaxbench")
    cells.run(f"s = 2.0\ng = jax.jit(lambda v: v * s)\ny = {call}")
    for before, state in (("pass", "CACHED"), ("s = 3.0", "STALE")):
        cells.run(before)
        cells.run(f"%%trace_cached -qv seen\ny = {call}")
        assert [each.state for each in cells.names["seen"].calls] == [state]


# A watch in a real shell


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


class Doubled(equinox.Module):
    """An object whose class has a compiled call."""

    @equinox.filter_jit
    def __call__(self, x: Any, n: int = 2) -> Any:
        return x * n


class Kept:
    """The same, without a library."""

    @functools.partial(jax.jit, static_argnums=(0, 2))
    def __call__(self, x: Any, n: int = 2) -> Any:
        return x * n


@pytest.mark.parametrize(
    "make", [lambda: equinox.filter_jit(lambda x, n=2: x * n), Doubled, Kept], ids=str
)
def test_calls_of_objects_and_by_equinox_are_predicted(make: Callable[[], Any]) -> None:
    names = {"f": make(), "x": jnp.ones(3), "y": jnp.ones(4)}

    def predicted(code: str) -> list[str]:
        return [call.state for call in predict_code(Source.plain(code), names).calls]

    assert predicted("f(x)") == ["WOULD-TRACE"]
    names["f"](names["x"])
    assert predicted("f(x); f(y); f(x, 3)") == ["WOULD-HIT", "WOULD-TRACE", "WOULD-TRACE"]
