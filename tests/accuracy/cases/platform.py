"""JAX on a platform that works in the background, with the waiting written out by hand.

The work is elementwise: products use all CPUs of the host, and vary by a tenth from look to look.
"""

from tests.accuracy.case import Case

_SETUP = """
import jax, jax.numpy as jnp, numpy as np, types
from jax.sharding import Mesh, NamedSharding, PartitionSpec
place, d, cpu = "fake", jax.devices(), jax.devices("cpu")[0]
wait = jax.block_until_ready
host = np.full((64, 64), 0.5, np.float32)
xs = [jax.device_put(host, each) for each in d]; x = xs[0]
def loop(turns): return lambda x: jax.lax.fori_loop(0, turns, lambda _, y: jnp.tanh(y * x + 1), x)
step, split = jax.jit(loop(4000)), jax.jit(loop(1000))
slope = jax.jit(jax.grad(lambda x: loop(1000)(x).sum()))
rows = jax.jit(jax.vmap(lambda row: jnp.tanh(row + x[0])))
parts = jax.device_put(np.tile(host, (4, 1)), NamedSharding(Mesh(np.array(d), "i"),
                                                            PartitionSpec("i")))
store, box = {}, types.SimpleNamespace()
def put(): store["v"] = step(x)
def drop(): step(x)
def drop_elsewhere(): step(xs[1])
def chain():
    y = step(x)
    return step(jax.device_put(y, d[1]))
def sync(): pass
"""


def _case(name: str, typed: str, truth: str) -> Case:
    return Case(name, typed, truth, _SETUP)


PLATFORM = (
    _case("result", "step(x)", "wait(step(x))"),
    _case("name", "y = step(x)", "y = wait(step(x))"),
    _case("item", "store['y'] = step(x)", "store['y'] = wait(step(x))"),
    _case("in a dict", "{'a': step(x), 'b': 3}", "wait({'a': step(x), 'b': 3})"),
    _case("three results", "[step(x) for _ in range(3)]", "wait([step(x) for _ in range(3)])"),
    _case("reduced", "step(x).sum()", "wait(step(x).sum())"),
    _case("eager", "jnp.tanh(step(x) * x)", "wait(jnp.tanh(step(x) * x))"),
    _case("gradient", "slope(x)", "wait(slope(x))"),
    _case("mapped", "rows(step(x))", "wait(rows(step(x)))"),
    _case("sharded over four devices", "split(parts)", "wait(split(parts))"),
    _case("second device", "step(xs[1])", "wait(step(xs[1]))"),
    _case("from one to the other", "chain()", "wait(chain())"),
    _case("left in a dict", "put()", "put(); wait(store)"),
    _case("left in an object", "box.v = step(x)", "box.v = wait(step(x))"),
    _case("dropped", "drop()", "wait(step(x))"),
    _case("dropped on another device", "drop_elsewhere()", "wait(step(xs[1]))"),
    _case("one shown, one not", "step(xs[1]); x", "wait(step(xs[1])); x"),
    _case("shape only", "step(x).shape", "wait(step(x)).shape"),
    _case("one of two", "[step(x), step(xs[1])][0]", "wait([step(x), step(xs[1])])"),
    _case("to the host", "np.asarray(step(x))", "np.asarray(step(x))"),
    _case("to a number", "float(step(x)[0, 0])", "float(step(x)[0, 0])"),
    _case("to the host's platform", "jax.device_put(step(x), cpu)",
          "wait(jax.device_put(step(x), cpu))"),
    _case("from the host", "step(jax.device_put(host, d[0]))",
          "wait(step(jax.device_put(host, d[0])))"),
    _case("from the host's platform", "step(jax.device_put(jax.device_put(host, cpu), d[0]))",
          "wait(step(jax.device_put(jax.device_put(host, cpu), d[0])))"),
)  # fmt: skip
