"""What calls change of JAX's is as after one run."""

import jax
import pytest
from flax import nnx

from tests.left import Cell, check_left
from tests.shell import Shell

SIZE = "jax_compilation_cache_max_size"
CELLS = {
    "jax.config": Cell("import jax", f"jax.config.update('{SIZE}', jax.config.{SIZE} + 1)",
                       f"jax.config.{SIZE}", f"jax.config.update('{SIZE}', -1)"),
    "config by name": Cell("from jax import config", f"config.update('{SIZE}', config.{SIZE} + 1)",
                           f"config.{SIZE}", f"config.update('{SIZE}', -1)"),
    "statistics of a layer": Cell(
        "m, x = make()", "m(x)", "m.mean[...].tolist()"),
}  # fmt: skip


def make() -> tuple[nnx.BatchNorm, jax.Array]:
    return nnx.BatchNorm(3, rngs=nnx.Rngs(0)), jax.numpy.ones((4, 3))


@pytest.mark.parametrize("name", CELLS)
def test_it_is_as_after_one_run(shell: Shell, name: str) -> None:
    shell.names["make"] = make
    check_left(shell, CELLS[name])
