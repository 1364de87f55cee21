"""Stale programs of `jax.pmap`, `jax.shard_map`, Equinox, Flax, Haiku, and what is not known."""

from typing import Any

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import linen as nn, nnx

from ipyjaxbench.retracing.trace_log import TRACE_LOG
from tests.adapters.jax.test_stale import SCALE, check, jitted, last_call
from tests.shell import Shell

PLAIN = """
scale, note = 2.0, "a"
def plain(x, n=1):
    print(note)
    return x * scale ** n
"""
PMAP = PLAIN + "f = jax.pmap(plain, static_broadcasted_argnums=1)\nf(x[None], 2)"
STATIC = PLAIN + "f = jax.jit(plain, static_argnames='n')\nf(x, n=3)"
SHARDED = f"""
mesh, rows = jax.sharding.Mesh(jax.devices()[:1], "i"), jax.sharding.PartitionSpec("i")
{PLAIN}
g = jax.shard_map(plain, mesh=mesh, in_specs=rows, out_specs=rows)
"""
SHARDED_OUTSIDE = f"{SHARDED}f = jax.jit(g)\nf(x)"
SHARDED_INSIDE = jitted(SHARDED, "g(x) + 1")
EQUINOX_NET = """
slope, note = 0.1, "a"
def leaky(x):
    print(note)
    return jnp.where(x > 0, x, slope * x)
class Net(eqx.Module):
    w: jax.Array
    act: object
    def __call__(self, x):
        return self.act(self.w @ x)
net = Net(jnp.eye(3), leaky)
"""
EQUINOX = EQUINOX_NET + "f = eqx.filter_jit(lambda net, x: net(x).sum())\nf(net, x)"
EQUINOX_MODULE = EQUINOX_NET + "f = eqx.filter_jit(net)\nf(x)"
EQUINOX_METHOD = (
    EQUINOX_NET.replace("    def __call", "    @eqx.filter_jit\n    def __call") + "net(x)"
)
EQUINOX_CAPTURED = """
net = eqx.nn.Linear(3, 3, key=jax.random.key(0))
f = eqx.filter_jit(lambda x: net(x))
f(x)
"""
NNX_NET = """
scale = 2.0
class Net(nnx.Module):
    def __init__(self, size):
        self.linear = nnx.Linear(3, size, rngs=nnx.Rngs(0))
    def __call__(self, x):
        return self.linear(x) * scale
net = Net(4)
"""
NNX = NNX_NET + "f = nnx.jit(lambda net, x: net(x))\nf(net, x)"
NNX_CAPTURED = NNX_NET + "f = nnx.jit(lambda x: net(x))\nf(x)"
NNX_METHOD = NNX_NET.replace("    def __call", "    @nnx.jit\n    def __call") + "net(x)"
HAIKU = """
scale, note = 2.0, "a"
class Net(hk.Module):
    def __call__(self, x):
        print(note)
        return hk.Linear(3)(x) * scale
net = hk.without_apply_rng(hk.transform(lambda x: Net()(x)))
params = net.init(jax.random.key(0), x)
f = jax.jit(net.apply)
f(params, x)
"""
OPTAX = """
optimizer = optax.sgd(0.1)
f = jax.jit(lambda g, state: optimizer.update(g, state))
state = optimizer.init(x)
f(x, state)
"""
BOUND = """
class Trainer:
    def __init__(self, rate):
        self.rate, self.steps, self.step = rate, 0, jax.jit(self._step)
    def _step(self, x):
        return x * self.rate
t = Trainer(0.1)
t.step(x)
"""
WAS_2 = "scale was 2.0 when"
DOUBLED = "params = jax.tree.map(lambda p: p * 2, params); note = 'b'"
KERNEL = "net.linear.kernel[...] = net.linear.kernel[...] * 2"
CASES = (
    (PMAP, ("note = 'b'; scale = 3.0; scale = 2.0", ""), ("scale = 3.0", WAS_2)),
    (SHARDED_OUTSIDE, ("note = 'b'", ""), ("scale = 3.0", WAS_2)),
    (SHARDED_INSIDE, ("scale = 3.0", WAS_2)),
    (EQUINOX, ("net = eqx.tree_at(lambda n: n.w, net, net.w * 2); note = 'b'", ""),
     ("net = Net(jnp.ones((3, 3)), leaky); leaky = jnp.tanh", ""),
     ("slope = 0.3", "slope was 0.1 when <lambda> was traced, is 0.3")),
    (EQUINOX_MODULE, ("slope = 0.3", "slope was 0.1")),
    (EQUINOX_METHOD, ("net = Net(jnp.ones((3, 3)), leaky)", ""), ("slope = 0.3", "slope was 0.1")),
    (EQUINOX_CAPTURED, ("net = eqx.nn.Linear(3, 3, key=jax.random.key(1))",
      "net is another Linear than the one that <lambda> was traced with")),
    (NNX, (f"net = Net(4); {KERNEL}", ""), ("scale = 3.0", WAS_2)),
    (NNX_CAPTURED, (KERNEL, "net.linear was changed in place after <lambda> was traced"),
     ("net = Net(4)", "")),
    (NNX_METHOD, ("scale = 3.0", WAS_2)),
    (HAIKU, (DOUBLED, ""), ("scale = 3.0", WAS_2),
     ("scale = 2.0\nclass Net(hk.Module):\n    def __call__(self, x):\n        return x - scale",
      "Net.__call__ was redefined")),
    (OPTAX, ("optimizer = optax.sgd(0.1)", ""), ("optimizer = optax.sgd(0.2)",
      "optimizer had step_size -0.1 when <lambda> was traced, has -0.2")),
    (BOUND, ("t.steps += 1", ""), ("t.rate = 0.2", "self.rate was 0.1")),
    (STATIC, ("scale = 3.0", WAS_2)),
)  # fmt: skip


@pytest.fixture
def cells(shell: Shell) -> Shell:
    """A session in which the libraries are used, with the extension loaded."""
    shell.run("pass")  # after a cell in which JAX is there, its traces are seen
    shell.names |= {"jax": jax, "jnp": jnp, "np": np, "eqx": eqx, "nn": nn, "nnx": nnx, "hk": hk}
    shell.names |= {"optax": optax, "x": jnp.asarray(np.ones(3, "f4"))}
    return shell


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0][-30:])
def test_what_is_stale_is_named_and_nothing_else(cells: Shell, case: tuple[Any, ...]) -> None:
    # Both ways to see a trace.
    check(cells, case, magic="%%trace_cached -q\n" if CASES.index(case) % 2 else "")


LINEN = """
scale = 2.0
class Net(nn.Module):
    act: object = nn.relu
    @nn.compact
    def __call__(self, x):
        return self.act(nn.Dense(3)(x)) * scale
net = Net()
params = net.init(jax.random.key(0), x)
f = jax.jit(lambda params, x: net.apply(params, x))
f(params, x)
"""
NNX_PURE = (
    NNX_NET.replace("* scale", "* self.rate")
    + """
net.rate = 1.0
graphdef, state = nnx.split(net)
f = jax.jit(lambda state, x: nnx.merge(graphdef, state)(x))
f(state, x)
"""
)
EQUINOX_MLP = """
scale, mlp = 2.0, eqx.nn.MLP(3, 1, 3, 1, key=jax.random.key(0))
@eqx.filter_jit
@eqx.filter_grad
def f(mlp, x):
    return mlp(x).sum() * scale
f(mlp, x)
"""
NNX_CALLED = (
    NNX_NET
    + """
def loss(net, x):
    return net(x).sum()
@nnx.jit
def f(net, x):
    return loss(net, x)
f(net, x)
"""
)
AND_EQUAL = (
    (LINEN, "net = Net(); scale = 3.0", "scale was 2.0 when <lambda> was traced, is 3.0"),
    (LINEN, "net = Net(nn.tanh)", "net.act was relu when <lambda> was traced, is tanh"),
    (NNX_CALLED, "scale = 3.0", "scale was 2.0 when f was traced, is 3.0"),
    (EQUINOX_MLP, "scale = 3.0", "scale was 2.0 when f was traced, is 3.0"),
    (NNX_PURE, "net.rate = 2.0; graphdef, state = nnx.split(net)",
     "graphdef is another GraphDef than the one that <lambda> was traced with"),
)  # fmt: skip


@pytest.mark.parametrize(("before", "change", "stale"), AND_EQUAL)
def test_arguments_and_what_a_library_keeps_in_objects_are_no_causes(
    cells: Shell, before: str, change: str, stale: str
) -> None:
    cells.run(before)
    cells.run(change)
    call = last_call(cells, before.strip().splitlines()[-1])
    assert [each.words() for each in call.why] == [stale]


def test_what_changes_in_place_within_a_cell_is_seen(cells: Shell) -> None:
    cells.run(NNX_CAPTURED)
    cells.run(f"%%trace_cached -qv seen\nfor n in (1, 2, 0.5):\n    {KERNEL} / 2 * n\n    f(x)")
    assert [call.state for call in cells.names["seen"].calls] == ["CACHED", "STALE", "CACHED"]


@pytest.mark.parametrize("body", ["x * 2", "jnp.sin(x)", "x * max(1, 2)"])
def test_a_function_that_reads_nothing_of_the_users_is_known(cells: Shell, body: str) -> None:
    cells.run(f"f = jax.jit(lambda x: {body})\nf(x)")
    TRACE_LOG.clear()
    assert not last_call(cells, "f(x)").unknown


NOTED = (
    (f"{SCALE}\nscale = 3.0\nf(jnp.ones(4))\ny = jnp.ones(4)",
     (("f(x)", WAS_2), ("f(y)", ""), ("f(x[:3])", ""))),
    (f"{SCALE}\nf(x[:2])\nscale = 3.0", (("f(x[:3])", WAS_2),)),
    (f"{EQUINOX_METHOD}\nslope = 0.3", (("net(x)", "slope was 0.1"),)),
    (f"{PMAP}\ny = x[None]\nscale = 3.0", (("f(y, 2)", WAS_2),)),
    (f"{NNX}\nnet = Net(4)", (("f(net, x)", ""),)),
)  # fmt: skip


@pytest.mark.parametrize(("before", "calls"), NOTED)
def test_a_timing_judges_the_program_of_its_own_call(
    cells: Shell, before: str, calls: tuple[tuple[str, str], ...]
) -> None:
    cells.run(before)
    for call, stale in calls:
        cells.run(f"%fwtime -q -n 1 -r 3 -v found {call}")
        told = [note.text for note in cells.names["found"].notes if note.code == "stale-program"]
        assert len(told) == bool(stale), told
        assert stale in "".join(told)


ODD = {
    "equality raises": (("class Odd:\n    def __eq__(self, other): raise ValueError\n"
                        "    __hash__ = None\nodd = Odd()"), "odd = Odd()"),
    "recursive": ("odd = [1, {}]; odd[1]['self'] = odd", "odd.append(odd)"),
    "slots": ("class Odd:\n    __slots__ = ('a', 'empty')\nodd = Odd(); odd.a = 1", "odd.a = 2"),
    "proxy": (("class Odd:\n    def __getattribute__(self, name): raise ValueError\n"
              "odd = Odd()"), "globals()['odd'] = Odd()"),
    "without source": ("exec('def odd(x): return x')", "exec('def odd(x): return x + 1')"),
    "weak reference": ("import weakref\nclass Odd: pass\nkept = Odd(); odd = weakref.proxy(kept)",
                       "del kept"),
    "strange keys": ("odd = {float('nan'): 1, (1, 2): 2, object(): 3}", "odd[3] = 4"),
    "typed keys": ("odd = jax.random.key(0)", "odd = jax.random.key(1)"),
    "array of objects": ("odd = np.array([None, 'a'], dtype=object)", "odd[0] = 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_no_object_is_too_odd_to_be_looked_at(cells: Shell, name: str) -> None:
    make, change = ODD[name]
    cells.run(jitted(f"{make}\nunused, scale = [1], 2.0", "(odd, unused, x * scale)[-1]"))
    cells.run("unused.append(2)")
    assert last_call(cells, "f(x)").state == "CACHED"
    cells.run(change)
    assert last_call(cells, "f(x)").state == "CACHED"
    cells.run("scale = 3.0")
    assert last_call(cells, "f(x)").state == "STALE"


def test_of_many_elements_it_is_said_that_not_all_are_compared(cells: Shell) -> None:
    cells.run(jitted("big = [1.0] * 20_000", "x * big[0]"))
    assert last_call(cells, "f(x)").unknown == ""
    cells.run(jitted("", "x * sum(big[:2]) * len(big)"))
    assert last_call(cells, "f(x)").unknown == (
        "f reads more than 1,000 values; the others were not compared"
    )


@pytest.mark.parametrize(("size", "told"), [
    (1_000_001, "only part of w (f64[1000001]) was compared"),
    (1_000, ""),
])  # fmt: skip
def test_of_a_large_array_it_is_said_once_that_a_part_is_compared(
    cells: Shell, size: int, told: str
) -> None:
    cells.run(jitted(f"w = np.zeros({size})", "x * w[1]"))
    if told:
        cells.run("w[1] = 2.0")  # which is between those that are looked at
    cells.run("%%trace_cached -v seen\nf(x)\nprint()\nf(x)")
    states = {(call.state, call.unknown) for call in cells.names["seen"].calls}
    assert states == {("CACHED", told)}
    assert " ".join(cells.shown[-1].data["text/plain"].split()).count("only part") == bool(told)


def test_what_changes_while_it_is_looked_at_is_unknown(cells: Shell) -> None:
    cells.run(
        "class Growing(dict):\n    pass\n"
        "class Hash(str):\n"
        "    def __repr__(self):\n        table[Hash(len(table))] = 1; return 'x'\n"
        f"{jitted('table = Growing(a=1)', '(len(table), x * 2)[1]')}\n"
        "table[Hash('b')] = 1"
    )
    assert "raises an error when it is looked at" in last_call(cells, "f(x)").unknown


@pytest.mark.parametrize("jit", ["jax.jit", "eqx.filter_jit", "nnx.jit"])
def test_looking_changes_nothing_of_the_users(cells: Shell, jit: str) -> None:
    cells.run(f"calls = []\nscale = 2.0\n@{jit}\ndef f(x):\n    calls.append(1)\n"
              "    return x * scale\nf(x)\nscale = 3.0")  # fmt: skip
    assert last_call(cells, "f(x)").state == "STALE"
    assert cells.names["calls"] == [1]


def test_no_array_and_no_object_of_the_users_is_kept(cells: Shell) -> None:
    cells.run(
        "import gc, weakref\n"
        "class Part: pass\n"
        "y, part = jnp.ones(5), Part()\n"
        "f = eqx.filter_jit(lambda things: things['y'] + 1)\n"
        "g = jax.jit(lambda x, part: x + 1, static_argnums=1)\n"
        "f({'y': y, 'name': 'a'}), g(x, part)\n"
        "refs = [weakref.ref(each) for each in (y, part, f, g)]"
    )
    cells.run("del y, part, f, g; jax.clear_caches(); eqx.clear_caches(); _ = gc.collect()")
    assert cells.run("[ref() for ref in refs]") == [None] * 4
