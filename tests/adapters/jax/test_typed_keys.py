"""Programs that take and give typed keys, as of `jax.random.key`, in each magic that runs them."""

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench.adapters.jax import Jax
from ipyjaxbench.adapters.jax.waits import JaxWaits
from tests.shell import Shell

STEP = """
@jax.jit
def step(key, x):
    key, own = jax.random.split(key)
    return key, x + jax.random.normal(own, x.shape)
key, x = jax.random.key(0), jnp.ones(3)
step(key, x)
"""


@pytest.fixture
def cells(shell: Shell) -> Shell:
    shell.names |= {"jax": jax, "jnp": jnp}
    shell.run(STEP)
    return shell


MAGICS = (
    "%fwtime -n 2 -r 3 -qv found {}",
    "%fwtime --memory -n 1 -r 3 -qv found {}",
    "%fwtime --fresh -n 1 -r 3 -qv found {}",
    "%%fwtime -n 2 -r 3 -qv found\nfor _ in range(3): {}",
    "%%fwtime --loop -qv found\nfor _ in range(3): {}",
    "%%fwcompare -n 2 -r 3 -qv found\none: {0}\ntwo: {0}",
    "%%trace_cached -qv found\n{}",
    "%%fwdevices\n{}",
)


@pytest.mark.parametrize("magic", MAGICS)
def test_the_code_runs_and_is_measured(cells: Shell, magic: str) -> None:
    cells.run(magic.format("step(key, x); k, y = step(key, x); step(k, y)[1]"))
    assert "found" in cells.names or cells.shown


def test_a_key_is_asked_whether_it_is_ready() -> None:
    key = jax.block_until_ready(jax.random.key(0))
    assert JaxWaits(Jax()).computes_in_call(key)


@pytest.mark.parametrize("other", ["jax.random.PRNGKey(1)", "jax.random.key(1, impl='rbg')"])
def test_keys_of_another_sort_are_to_be_made_alike(cells: Shell, other: str) -> None:
    cells.run(f"%%trace_cached -qv found\nstep(key, x); step({other}, x)")
    told = "Make all keys for `key` alike: with `jax.random.key`, and of one implementation"
    assert cells.names["found"].calls[-1].fixes == (told,)
