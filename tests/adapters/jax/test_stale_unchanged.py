"""What a program read and is unchanged makes no program stale: NumPy arrays, Equinox statics."""

import equinox as eqx
import pytest

from tests.adapters.jax import test_stale
from tests.adapters.jax.test_stale import jitted, last_call
from tests.shell import Shell

cells = test_stale.cells
FLAG = "(1 if debug else 0)"
WEIGHTS = "debug, w = False, np.ones(3, 'float32')\n"
LARGE = "debug, w = False, np.ones((600, 600), 'float32')"
HELD = f"""{WEIGHTS}
from dataclasses import dataclass
@dataclass
class Config:
    w: object
held, config, rows = {{'a': [w]}}, Config(w), np.ones((4, 3), 'float32')
row = rows[1]
"""
#: Both ways to see a trace.
MAGICS = ("", "%%trace_cached -q\n")
#: What a jitted function computes, with what is around it, and what changes the array in place.
ARRAYS = (
    (WEIGHTS, "x * w", "w[0] = 7"),
    (HELD, "x * held['a'][0]", "w[0] = 7"),
    (HELD, "x * config.w", "w[0] = 7"),
    (HELD, "x * row", "rows[1, 0] = 7"),
    (WEIGHTS, "jax.lax.scan(lambda c, _: (c * w, None), x, None, length=2)[0]", "w[0] = 7"),
    (f"{WEIGHTS}@jax.jit\ndef inner(x): return x * w", "inner(x)", "w[0] = 7"),
    (WEIGHTS, "jax.grad(lambda y: (y * w).sum())(x)", "w[0] = 7"),
    (LARGE, "(x[0] * w).sum()", "w[:] = 7"),
)


@pytest.mark.parametrize(("before", "computed", "change"), ARRAYS, ids=lambda it: it[-30:])
def test_an_array_of_numpy_that_is_unchanged_is_no_cause(
    cells: Shell, before: str, computed: str, change: str
) -> None:
    cells.run(jitted(before, f"{computed} + {FLAG}").removesuffix("f(x)"))
    cells.run(f"{MAGICS[ARRAYS.index((before, computed, change)) % 2]}f(x)")
    cells.run("debug = 0")  # the program is the same
    assert last_call(cells, "f(x)").state == "CACHED"
    cells.run(change)
    told = [each.words() for each in last_call(cells, "f(x)").why]
    assert any("was changed in place" in each for each in told), told


NET = f"""
debug = False
class Net(eqx.Module):
    w: jax.Array
    n: int
    act: object
    def __call__(self, x): return self.act(self.w * x) * self.n + {FLAG}
    @eqx.filter_jit
    def step(self, x, k): return self.w * x * self.n + (k if debug else 0)
net = Net(jnp.ones(3), 2, jnp.tanh)
f = eqx.filter_jit(lambda net, x: net(x))
"""
READ = f"debug = False\ndef read(n, x): return x * n + {FLAG}\n"


STATICS = (
    (NET, "f(net, x)"),
    (NET, "net.step(x, 1)"),
    (f"{READ}f = eqx.filter_jit(read)", "f(2, x)"),
    (f"{READ}f = eqx.filter_jit(read)", "f(2, x=np.ones(3, 'float32'))"),
    (f"{READ}f = eqx.filter_jit(lambda fn, x: fn(3, x) + {FLAG})", "f(read, x)"),
    (f"{READ}f = eqx.filter_jit(partial(read, 3))", "f(x)"),
    (f"{READ}f = eqx.filter_jit(lambda named, x: read(named['n'], x))", "f({'n': 2.0}, x)"),
    (f"{READ}f = eqx.filter_jit(eqx.Partial(read, jnp.ones(3)))", "f(x)"),
)  # fmt: skip


@pytest.mark.parametrize(("before", "call"), STATICS)
def test_what_equinox_takes_as_static_is_no_cause(cells: Shell, before: str, call: str) -> None:
    cells.names["eqx"] = eqx
    cells.run(before)
    cells.run(f"{MAGICS[STATICS.index((before, call)) % 2]}{call}")
    cells.run("debug = 0")
    assert last_call(cells, call).state == "CACHED"
    cells.run("debug = True")
    told = [each.words() for each in last_call(cells, call).why]
    assert [each.startswith("debug was False when") for each in told] == [True]


EQUAL = ("np.float32(2)", "np.float64(2)", "jnp.float32(2)", "jnp.array(2.0)", "np.array(2.0)", "2")


COMPUTED = (
    "x * thr", "jnp.where(x > thr, x, thr)", "jnp.clip(x, 0, thr)", "thr - x / thr", "inner(x)",
    "jax.lax.scan(lambda c, _: (c * thr, None), x, None, length=2)[0]",
    "jax.lax.cond(x[0] > thr, lambda y: y * thr, lambda y: y + thr, x)",
    "jax.lax.while_loop(lambda c: c[0] < thr, lambda c: c + thr, x)",
    "jax.grad(lambda y: (y * thr).sum())(x)", "jax.vmap(lambda y: jax.nn.relu(y - thr))(x)",
    "jax.checkpoint(lambda y: jnp.sin(y * thr))(x)", "x.at[0].set(thr)",
)  # fmt: skip


@pytest.mark.parametrize("computed", COMPUTED)
def test_an_equal_number_of_another_type_is_no_cause(cells: Shell, computed: str) -> None:
    cells.run(jitted("thr = 2.0\n@jax.jit\ndef inner(x): return x - thr", computed))
    first = COMPUTED.index(computed)  # each type with half of them, and each two types with one
    for number in (EQUAL[(first + step) % len(EQUAL)] for step in (0, 1, 3)):
        cells.run(f"thr = {number}")
        call = last_call(cells, "f(x)")
        assert (call.state, call.why, call.unknown) == ("CACHED", (), ""), number
    cells.run("thr = thr + 1")
    told = [each.words() for each in last_call(cells, "f(x)").why]
    assert [each.startswith("thr was 2.0 when f was traced") for each in told] == [True]


@pytest.mark.parametrize(("before", "computed", "after"), [
    ("2.0", "x.astype('float16') * thr", "np.float32(2)"),
    ("2.0", "jnp.arange(3) * thr", "jnp.array(2.0, 'float32')"),  # no longer of a weak type
    ("2", "jnp.arange(3) * thr", "2.0"),
    ("0.0", "x / thr", "np.float32(-0.0)"),
    ("2.0", "x * thr", "jnp.full(3, 2.0)"),
    ("0.1", "x * thr", "jnp.float16(0.1)"),
])  # fmt: skip
def test_a_number_that_makes_another_result_is_a_cause(
    cells: Shell, before: str, computed: str, after: str
) -> None:
    cells.run(jitted(f"thr = {before}", computed))
    cells.run(f"thr = {after}")
    assert last_call(cells, "f(x)").state == "STALE"


def test_equinox_passes_by_position_what_it_can_so_that_how_a_call_does_is_no_cause(
    cells: Shell,
) -> None:
    cells.names["eqx"] = eqx
    cells.run(f"{READ}f = eqx.filter_jit(read)\nf(2, x)")
    for call in ("f(2, x=x)", "f(x=x, n=2)"):
        found = last_call(cells, call)
        assert (found.state, found.unknown) == ("CACHED", "")
    told = [each.words() for each in last_call(cells, "f(x=x, n=3)").why]
    assert told == ["n: 2 → 3 (static value)"]
    cells.run("debug = True")
    assert last_call(cells, "f(2, x=x)").state == "STALE"
