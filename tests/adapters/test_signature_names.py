"""`%trace_cached --signatures NAME`, of what the user's own names stand for."""

import jax
import jax.numpy as jnp
import pytest
import tensorflow as tf
import torch
import torch._dynamo  # changes the environment when it is loaded
from IPython.core.error import UsageError

from tests.shell import Shell

JAX = """\
x = jnp.ones(3)
g, other = (jax.jit(lambda x: x * n) for n in (1, 2))
class M:
    @jax.jit
    def step(self, x): return x
    def made(self): return jax.jit(self.plain)
    def plain(self, x): return x
jax.tree_util.register_pytree_node(M, lambda m: ((), None), lambda a, c: M())
m, o = M(), M()
o.run = o.made()
"""
TORCH = """\
x = torch.ones(3)
g = torch.compile(lambda x, n=1: x * n, backend="eager")
other = torch.compile(lambda x: x * 2, backend="eager")
"""
TENSORFLOW = """\
x = tf.ones(3)
g, other = tf.function(lambda x: x), tf.function(lambda x: x * 2)
class M(tf.Module):
    @tf.function
    def __call__(self, x): return x
m = M()
"""


@pytest.mark.parametrize(
    ("setup", "calls", "name", "arguments"),
    [
        (JAX, "g(x); other(x); g(1.5)", "g", ["x f32[3]", "x float f32[] weak"]),
        (JAX, "g(2); other(x); g(True)", "g", ["x int i32[] weak", "x bool bool[]"]),
        (JAX, "m.step(x)", "m.step", ["self M, x f32[3]"]),
        (JAX, "o.run(x); g(x)", "o.run", ["x f32[3]"]),
        (TORCH, "g(x); other(x)", "g", ["x f32[3], n int"]),
        (TENSORFLOW, "g(x); other(x); g(2)", "g", ["x f32[3]", "x 2"]),
        (TENSORFLOW, "m(x); g(x)", "m", ["self M, x f32[3]"]),
    ],
)
def test_a_name_of_the_users_finds_its_function(
    shell: Shell, setup: str, calls: str, name: str, arguments: list[str]
) -> None:
    shell.names |= {"jax": jax, "jnp": jnp, "tf": tf, "torch": torch}
    shell.run("pass")  # after a cell in which the frameworks are there, their traces are seen
    shell.run(setup)
    shell.run(calls)
    shell.run(f"%trace_cached --signatures -qv found {name}")
    found = shell.names["found"].traced
    assert [(each.name, each.arguments) for each in found] == [(name, each) for each in arguments]
    for unknown in ("x", "m.nothing", "g(", "never"):
        with pytest.raises(UsageError, match="has not been traced"):
            shell.run(f"%trace_cached --signatures {unknown}")
