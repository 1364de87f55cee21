"""Only what changed the key is a cause: with that alone put back, a call is a hit."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.causes import Changed, judge
from tests.shell import Shell
from tests.traced import observed


class State(NamedTuple):
    step: Any
    size: Any
    aux: Any


@jax.tree_util.register_pytree_node_class
class Cfg:
    """A tree whose leaves have no names, and whose `name` is no part of the key."""

    def __init__(self, v: Any, s: Any, name: str = "") -> None:
        self.v, self.s, self.name = v, s, name

    def tree_flatten(self) -> Any:
        return (self.v,), self.s

    @classmethod
    def tree_unflatten(cls, s: Any, leaves: Any) -> "Cfg":
        return cls(*leaves, s)


@jax.tree_util.register_pytree_with_keys_class
class Keyed(Cfg):
    """A tree whose leaves have names."""

    def tree_flatten_with_keys(self) -> Any:
        return ((jax.tree_util.GetAttrKey("v"), self.v),), self.s


@jax.tree_util.register_pytree_node_class
class Hidden(Cfg):
    """A tree whose static data is no public attribute."""

    def __init__(self, v: Any, s: Any) -> None:
        self.v, self._s = v, s

    def tree_flatten(self) -> Any:
        return (self.v,), self._s


@partial(jax.tree_util.register_dataclass, data_fields=["x"], meta_fields=["mode"])
@dataclass
class Batch:
    x: Any
    mode: str


class Act(eqx.Module):  # type: ignore[misc]
    x: Any
    act: Any = eqx.field(static=True)


class Model:
    def __init__(self, w: float) -> None:
        self.w = w

    @partial(jax.jit, static_argnums=0)
    def __call__(self, x: Any, n: Any) -> Any:
        return x * self.w * n


@dataclass(frozen=True)
class Frozen:
    rate: float


_KEPT: dict[str, Any] = {}


def kept(function: Any, value: Any) -> Any:
    """One partial for all calls of a function with equal values."""
    return _KEPT.setdefault(f"{id(function)} {value}", partial(function, value))


ONES, TWOS = "jnp.ones(2)", "2 * jnp.ones(2)"
F = "@jax.jit\ndef f(x, n=1, *more):\n    return jax.tree.map(lambda a: a * 2, (x, n, more))"
STATIC = "@partial(jax.jit, static_argnames='n')\ndef f(x, n, m=0):\n    return x * n + m"
MADE = (
    "def made(k):\n    def f(x):\n        return x * k\n    return f\n"
    "one, other, third = made(2), made(2), made(3)"
)
LAMBDA = "made.<locals>.<lambda>"
PRECISION = "with jax.default_matmul_precision($p): f($x, $n)"


def cfg(kind: str, cause: str, words: str, **new: str) -> Changed:
    old = {"v": ONES, "s": "2", "name": "'a'"}
    return Changed(F, f"f({kind}($v, $s, $name))", old, new, cause, words)


ROWS = (
    # types
    Changed(F, "f($x, $n)", {"x": ONES, "n": "1"}, {"x": TWOS, "n": "1.5"}, "n",
            "n: int → float (type)"),
    Changed(F, "f($x, $n)", {"x": ONES, "n": "1"}, {"x": "jnp.ones(2, int)", "n": "2"}, "x",
            "x: f32[2] → i32[2] (dtype)"),
    Changed(F, "f($x, $n)", {"x": ONES, "n": "1"}, {"x": "jnp.ones(3)", "n": "2"}, "x",
            "x: f32[2] → f32[3] (shape)"),
    # weak types
    Changed(F, "f($x, $n)", {"x": "jnp.asarray(1.0)", "n": "1"}, {"x": "jnp.float32(1)", "n": "2"},
            "x", "x: f32[] weak → f32[] (weak type)"),
    Changed(F, "f($x, $n)", {"x": "0", "n": "0"}, {"x": "jnp.asarray(0)", "n": "1"}, "x",
            "x: int → i32[] weak (type)", "SLOW-PATH"),
    Changed(F, "f(State($step, $size, {'gap': $gap}))", {"step": "0", "size": "0.5", "gap": "0.0"},
            {"step": "jnp.asarray(1)", "size": "jnp.asarray(0.4)", "gap": "jnp.float32(1)"}, "gap",
            "x.aux['gap']: float → f32[] (type)"),
    # trees
    Changed(F, "f({'a': $a$more})", {"a": "1", "more": ""}, {"a": "2", "more": ", 'b': {'c': 1}"},
            "more", "x['b'] was added"),
    cfg("Cfg", "s", "x.s: 2 → 3 (static value)", v=TWOS, s="3", name="'b'"),
    cfg("Cfg", "v", "x[<flat index 0>]: f32[2] → f32[3] (shape)", v="jnp.ones(3)", name="'b'"),
    cfg("Keyed", "v", "x.v: f32[2] → f32[3] (shape)", v="jnp.ones(3)", name="'b'"),
    Changed(F, "f(Hidden($v, $s))", {"v": ONES, "s": "2"}, {"v": TWOS, "s": "3"}, "s",
            "x: 2 → 3 (static value)"),
    Changed(F, "f(Batch($v, $mode))", {"v": ONES, "mode": "'a'"}, {"v": TWOS, "mode": "'b'"},
            "mode", "x.mode: 'a' → 'b' (static value)"),
    Changed(F, "f(Batch($v, $mode))", {"v": "3", "mode": "3"}, {"v": "4", "mode": "4"},
            "mode", "x.mode: 3 → 4 (static value)"),  # the leaf is the same number
    *(Changed(f"def made(): return lambda v: v * 2\n{code}\nkept = made()",
              f"f({kind}($v, $f))", {"v": ONES, "f": "kept"}, {"v": TWOS, "f": "made()"},
              "f", words)
      for kind, code, words in (
          ("Batch", F, f"x.mode: {LAMBDA} → another {LAMBDA} (static value)"),
          ("Act", "@eqx.filter_jit\ndef f(x):\n    return x.act(x.x)",
           f"x.act: {LAMBDA} → another {LAMBDA} (static value)"),
      )),
    # static arguments
    Changed(STATIC, "f($x, $n, $m)", {"x": ONES, "n": "2", "m": "1"},
            {"x": TWOS, "n": "3", "m": "2"}, "n", "n: 2 → 3 (static value)"),
    Changed("m, other = Model(1.0), Model(1.0)", "$m($x, $n)", {"m": "m", "x": ONES, "n": "1"},
            {"m": "other", "x": TWOS, "n": "2"}, "m",
            "self: Model → another Model (static value)"),
    # where arrays lie, and what surrounds a call
    Changed(F, "f($x, $n)", {"x": "np.ones(2, 'float32')", "n": "1"}, {"x": ONES, "n": "2"}, "x",
            "x was a NumPy array, is now a device array", "SLOW-PATH"),
    Changed(F, "f($x, $n)", {"x": ONES, "n": "1"},
            {"x": "jax.device_put(jnp.ones(2), jax.devices()[0])", "n": "2"}, "x",
            "x was uncommitted, is now committed to cpu:0", "RECOMPILED"),
    Changed(F, PRECISION, {"p": "None", "x": ONES, "n": "1"},
            {"p": "'highest'", "x": TWOS, "n": "2"}, "p",
            "jax_default_matmul_precision: None → highest"),
    Changed(F, "with jax.enable_x64($on): f($x, $n)",
            {"on": "False", "x": "np.ones(2, 'float32')", "n": "1"},
            {"on": "True", "x": "np.zeros(2, 'float32')", "n": "2"}, "on",
            "jax_enable_x64: False → True"),
    Changed("@jax.jit\ndef f(g, x):\n    return g(x)", "f(jax.tree_util.Partial($g, $k), $x)",
            {"g": "jnp.add", "k": "1.0", "x": ONES}, {"g": "jnp.subtract", "k": "2.0", "x": TWOS},
            "g", "g: add → subtract (static value)"),
    # functions, and how they are called
    Changed(MADE, "jax.jit($f)($x)", {"f": "one", "x": ONES}, {"f": "other", "x": TWOS}, "f",
            "new function object (same code)"),
    Changed(MADE, "jax.jit($f)($x)", {"f": "one", "x": ONES}, {"f": "third", "x": TWOS}, "f",
            "new function object (captured k: 2 → 3)"),
    *(Changed("def g(o, x): return x * 2", f"jax.jit($wrap(g, {made}))($x)",
              {"wrap": "kept", "x": ONES}, {"wrap": "partial", "x": TWOS}, "wrap",
              "new function object (same code)")
      for made in ("{'a': [2.0, ()]}", "Frozen(2.0)")),
    Changed(F, "f($x$n)", {"x": ONES, "n": ""}, {"x": TWOS, "n": ", 1"}, "n",
            "n was omitted, is now passed positionally"),
    Changed(STATIC.replace("'n'", "['n', 'm']"), "f($x, 2$m)", {"x": ONES, "m": ""},
            {"x": TWOS, "m": ", m=0"}, "m", "m was omitted, is now passed by keyword"),
    *(Changed(code, "f($x, 2$m)", {"x": ONES, "m": ""}, {"x": TWOS, "m": given}, "m",
              "m: 0 → 1 (static value)")
      for code, given in ((STATIC.replace("'n'", "['n', 'm']"), ", m=1"),
                          (STATIC.replace("names='n'", "nums=(1, 2)"), ", 1"),
                          (STATIC.replace("'n'", "['n', 'm']").replace("m=0", "*, m=0"), ", m=1"))),
)  # fmt: skip
NAMES = {
    "jax": jax, "jnp": jnp, "np": np, "partial": partial,
    "State": State, "Cfg": Cfg, "Keyed": Keyed, "Hidden": Hidden, "Batch": Batch,
    "eqx": eqx, "Act": Act, "Model": Model, "Frozen": Frozen, "kept": kept,
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.words)
def test_with_the_cause_alone_put_back_a_call_is_a_hit(row: Changed) -> None:
    assert judge(row, {**NAMES}) == []


def test_numbers_that_change_in_a_loop_are_no_causes() -> None:
    names: dict[str, Any] = {**NAMES}
    exec(F.replace("return", "return x + n #"), names)
    calls = observed("x = 0\nfor n in range(5):\n    x = f(x, n)", names).calls
    assert [(call.state, [c.words() for c in call.why]) for call in calls[1:]] == [
        ("SLOW-PATH", ["x: int → i32[] weak (type)"]), ("CACHED", []),
    ]  # fmt: skip


@pytest.mark.parametrize("value", ["1.0", "jnp.float32(1)", "jax.random.key(0)", "jnp.ones(2)"])
def test_none_in_place_of_data_is_of_another_type(value: str) -> None:
    names: dict[str, Any] = {**NAMES}
    exec("@jax.jit\ndef h(x, n): return x", names)
    (_, call, hit) = observed(f"h(1.0, None)\nh(1.0, {value})\nh(1.0, {value})", names).calls
    ((kind, path),) = [(each.kind, each.path) for each in call.why]
    assert (call.state, kind, path, hit.state) == ("TRACED", "type", "n", "CACHED")
    assert call.fixes == ("Pass `n` in all calls or in none: with None it is another program",)


def test_what_is_data_in_one_jit_and_static_in_another_is_told() -> None:
    names: dict[str, Any] = {**NAMES}
    exec(
        "def h(x, n): return x * n\none, other = jax.jit(h), jax.jit(h, static_argnames='n')", names
    )
    (_, call) = observed("one(1.0, 2)\nother(1.0, 2)", names).calls
    assert (call.state, [c.words() for c in call.why]) == ("TRACED", ["n was data, is now static"])
    assert call.fixes == (
        "Give each jax.jit of `h` the same `static_argnames`: `n` is static in only some",
    )


@pytest.mark.parametrize("static", ["static_argnums=1", "static_argnames='n'"])
def test_static_arguments_are_named_as_the_user_did(shell: Shell, static: str) -> None:
    shell.names |= NAMES
    shell.run(f"@partial(jax.jit, {static})\ndef g(x, n): return x * n")
    shell.run("%%trace_cached -qv seen\nfor n in (1, 2): g(1.0, n)")
    (fix,) = shell.names["seen"].calls[1].fixes
    assert fix.endswith(f": remove it from `{static.partition('=')[0]}` if it can be an array")
    shell.run("g = jax.jit(lambda x, n: x * n, static_argnums=1)")  # where the source tells
    shell.run("%%trace_cached -qv seen\nfor n in (1, 2): g(1.0, n)")
    assert "`static_argnums`" in shell.names["seen"].calls[1].fixes[0]


@pytest.mark.parametrize("static", ["static_argnums=1", "static_argnames='n'"])
def test_a_static_argument_is_not_advised_to_be_an_array(shell: Shell, static: str) -> None:
    shell.names |= NAMES
    shell.run(f"@partial(jax.jit, {static})\ndef g(x, n): return x")
    shell.run("%%trace_cached -qv seen\nfor n in ('a', (1, 2)): g(1.0, n)")
    call = shell.names["seen"].calls[1]
    assert [each.kind for each in call.why] == ["type"]
    assert call.fixes == (
        "Each new value of `n` needs its own trace: use few, and create objects once",
    )


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("str(n)", "Call jax.jit once for each `o` and reuse its result"),
        ("{'rate': n}", "Pass `o` to `g` as an argument"),
        ("jnp.ones(n + 1)", "Pass `o` to `g` as an argument"),
        ("(jnp.sin, jnp.cos)[n]", "Call jax.jit once for each `o` and reuse its result"),
    ],
)
def test_a_captured_value_is_to_be_passed_where_jax_takes_it(value: str, told: str) -> None:
    names: dict[str, Any] = {**NAMES}
    exec("def g(o, x): return x", names)
    (_, call) = observed(f"for n in range(2): jax.jit(partial(g, {value}))(1.0)", names).calls
    assert [each.kind for each in call.why] == ["captured"]
    assert [told in each for each in call.fixes] == [True]


@pytest.mark.parametrize("magic", ["", "%%trace_cached -q\n"])
def test_nothing_is_said_to_be_cleared_after_a_trace_that_raised(shell: Shell, magic: str) -> None:
    shell.names |= {"jax": jax, "x": jnp.ones(3)}
    own = f"x * {len(magic)}"  # one that no other test has traced
    shell.run(f"fails = True\n@jax.jit\ndef bad(x):\n    if fails: 1 / 0\n    return {own}")
    try_it = "try: bad(x)\nexcept ZeroDivisionError: pass"
    shell.run(f"{magic}{try_it}")
    shell.run("%trace_cached -qv seen --predict bad(x)")
    (call,) = shell.names["seen"].calls
    shell.run(
        f"%%trace_cached -qv seen\n{try_it}\nfails = False\nbad(x)\njax.clear_caches()\nbad(x)"
    )
    reasons = [each.why[0].new for each in (call, *shell.names["seen"].calls[1:])]
    assert all(each.startswith("first call") for each in reasons[:2])
    assert ["cleared" in each for each in reasons] == [False, False, True]
    assert not shell.names["seen"].also_traced
