"""Each call of a jitted function that a cell makes is seen, whatever it is made through."""

import functools
from pathlib import Path

import equinox
import jax
import jax.numpy as jnp
import pytest
from flax import nnx

from ipyjaxbench.retracing.trace_log import TRACE_LOG
from tests.shell import Shell
from tests.ways_to_call import HELPER, WAYS, states_told, wrong

LIBRARIES = """\
class Net(eqx.Module):
    w: float
    @eqx.filter_jit
    def __call__(self, x): return x * self.w
net, filtered = Net(2.0), eqx.filter_jit(plain)
of_flax = nnx.jit(lambda x: x + 2)
outer = jax.jit(lambda v: f(v) * 2)
"""
OWN = {
    "Equinox's module": "net(x)",
    "map of Equinox's jit": "list(map(filtered, [x]))",
    "map of Flax's jit": "list(map(of_flax, [x]))",
    "vmap of a jitted function": "jax.vmap(f)(x)",
    "grad of a jitted function": "jax.grad(lambda v: f(v).sum())(x)",
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
