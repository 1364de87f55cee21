"""What is told to be typed where a program is stale: it is typed, and helps."""

from typing import NamedTuple

import pytest

from tests.adapters.jax import test_stale_told
from tests.adapters.jax.test_stale import jitted, last_call
from tests.shell import Shell

cells = test_stale_told.cells


class Advised(NamedTuple):
    """Cells that are run, a change, what is told to be typed, and cells that do so.

    After these the call is traced, and gives the value of today.
    """

    before: str
    change: str
    told: str
    typed: tuple[str, ...]
    call: str = "f(x)"
    value: str = "3.0"


STATIC = "@partial(jax.jit, static_argnums=0)"
SHIFT = "def shift(x): return x + 2"
CLASS = f"class M:\n    {STATIC}\n    def step(self, x): return shift(x)"
APART = "def g(x): return shift(x)\n# ---\nf = jax.jit(g)"
DERIVED = "def g(x): return (shift(x) ** 2).sum()\n# ---\n"
PARTIAL = "def g(opts, x): return shift(x) + opts['a']\n# ---\nopts = {'a': 0.0}\n# ---\n"
OPTIMIZER = """
import optax
opt = optax.sgd(-1.0)
# ---
@jax.jit
def f(x): return opt.update(x, opt.init(x))[0]
"""
KEY = jitted("key = jax.random.key(0)", "x * 0 + jax.random.randint(key, (), 0, 99)")
MODE = "mode = 'two'\n# ---\n{}\ndef f(x, n=0):\n    return x + (2 if mode == 'one' else 0)"
SIZED = "def f(x{}): return jnp.zeros(n).sum() + x + n"
TESTED = "def f(x{}): return x if level > 1 else x + 2"
MAKE = "def make():\n    @jax.jit\n    def inner(x): return shift(x)\n    return inner\n# ---\n"
INNER = "@jax.jit\ndef inner(x): return shift(x)"
OUTER = "@jax.jit\ndef f(x): return inner(x)"
BODY, LOOP = "def body(n, c): return shift(c)\n# ---\n", "return jax.lax.fori_loop(0, 1, body, x)"
JOIN = "def join(a, b): return jnp.maximum(a, shift(b * 0 + 1))\n# ---\n"
SIDE = "def side(x): return shift(x)\n# ---\n@jax.jit\n"
KEPT = (
    "jax.lax.reduce(x, 0.0, join, (0,))", "jax.lax.cond(True, side, side, x)",
    "jax.lax.reduce_window(x, 0.0, join, (1,), (1,), 'VALID')", "x.at[0].apply(side)[:1]",
    "jnp.piecewise(x, [x > 0], [side, side])",
)  # fmt: skip
AGAIN = "Run the cell that defines"
ADVISED = (
    Advised(CLASS + "\n# ---\nm = M()", SHIFT,
            f"{AGAIN} `M` again, then make its object anew, for today's `shift`",
            (CLASS, "m = M()"), "m.step(x)"),
    Advised(CLASS + "\n# ---\nm = M()\nf = jax.jit(m.step.__wrapped__.__get__(m))", SHIFT,
            f"{AGAIN} `M` again, then make its object anew and `jax.jit` its method again, for"
            " today's `shift`", (CLASS, "m = M()", "f = jax.jit(m.step.__wrapped__.__get__(m))")),
    Advised(APART, SHIFT,
            f"{AGAIN} `g` again, then `f = jax.jit(g)`, for today's `shift`",
            ("def g(x): return shift(x)", "f = jax.jit(g)")),
    Advised("def g(x): return shift(x)\n# ---\nf = [jax.jit(g)][0]", SHIFT,
            f"{AGAIN} `g` again, then call `jax.jit` on it again, for today's `shift`",
            ("def g(x): return shift(x)", "f = jax.jit(g)")),
    Advised(APART, f"{SHIFT}\ndef g(x): return shift(x)",
            "Run `f = jax.jit(g)` again, for today's `shift`", ("f = jax.jit(g)",)),
    Advised("f = jax.jit(lambda x: shift(x))", SHIFT,
            "Run `f = jax.jit(lambda x: shift(x))` again, for today's `shift`",
            ("f = jax.jit(lambda x: shift(x))",)),
    Advised(f"{DERIVED}f = jax.jit(jax.grad(g))", SHIFT,
            "Run `f = jax.jit(jax.grad(g))` again, for today's `shift`",
            ("f = jax.jit(jax.grad(g))",), value="6.0"),
    Advised(f"{DERIVED}gg = jax.grad(g)\n# ---\nf = jax.jit(gg)", SHIFT,
            "Call `jax.jit` on a new `jax.grad` of `g`, for today's `shift`",
            ("gg = jax.grad(g)", "f = jax.jit(gg)"), value="6.0"),
    Advised(f"{DERIVED}f = jax.jit(jax.vmap(jax.grad(g)))", SHIFT,
            "Run `f = jax.jit(jax.vmap(jax.grad(g)))` again, for today's `shift`",
            ("f = jax.jit(jax.vmap(jax.grad(g)))",), "f(x)", "6.0"),
    Advised(f"{DERIVED}f = jax.jit(jax.checkpoint(g))", SHIFT,
            f"{AGAIN} `g` again, then `f = jax.jit(jax.checkpoint(g))`, for today's `shift`",
            (DERIVED.partition("#")[0], "f = jax.jit(jax.checkpoint(g))"), value="27.0"),
    Advised(f"{PARTIAL}f = jax.jit(partial(g, opts))", SHIFT,
            "Run `f = jax.jit(partial(g, opts))` again, for today's `shift`",
            ("f = jax.jit(partial(g, opts))",)),
    Advised(f"{PARTIAL}f = jax.jit(partial(g, opts))", "opts['a'] = 2.0",
            "Pass `opts['a']` to `g` as an argument, or run `f = jax.jit(partial(g, opts))`"
            " again",
            ("f = jax.jit(partial(g, opts))",)),
    Advised(f"@jax.jit\n{PARTIAL}f = partial(g, opts)", SHIFT,
            f"{AGAIN} `g` again, then make the partial of it anew, for today's `shift`",
            ("@jax.jit\ndef g(opts, x): return shift(x) + opts['a']", "f = partial(g, opts)")),
    Advised(f"{MAKE}f = make()", SHIFT,
            "Run `f = make()` again, for today's `shift`", ("f = make()",)),
    Advised(f"{MAKE}f = [make()][0]", SHIFT,
            "Call `make` again for a new `inner`, for today's `shift`", ("f = make()",)),
    Advised(f"from functools import cache\n@cache\n{MAKE}f = make()", SHIFT,
            "Run `make.cache_clear()`, then run `f = make()` again, for today's `shift`",
            ("make.cache_clear()", "f = make()")),
    Advised(f"n = 3\n# ---\n@jax.jit\n{SIZED.format('')}", "n = 2",
            f"Pass `n` to `f` as a static argument (`static_argnames`), or r{AGAIN[1:]} `f` again",
            (f"@partial(jax.jit, static_argnames='n')\n{SIZED.format(', n')}",), "f(x, n)"),
    Advised("n = 3\n# ---\n@jax.jit\ndef f(x): return x + n", "n = 2",
            f"Pass `n` to `f` as an argument, or r{AGAIN[1:]} `f` again",
            ("@jax.jit\ndef f(x, n): return x + n",), "f(x, n)"),
    Advised(f"n = 3\n# ---\nclass M:\n    {STATIC}\n    def step(self, x): return x + n\n"
            "# ---\nm = M()", "n = 2",
            f"Pass `n` to `step` as an argument, or r{AGAIN[1:]} `M` again, then make its object"
            " anew",
            (f"class M:\n    {STATIC}\n    def step(self, x, n): return x + n", "m = M()"),
            "m.step(x, n)"),
    Advised("n = 1\n# ---\n@jax.jit\ndef f(x): return x[:n] + 2", "n = 2",
            f"Pass `n` to `f` as a static argument (`static_argnames`), or r{AGAIN[1:]} `f` again",
            ("@partial(jax.jit, static_argnames='n')\ndef f(x, n): return x[:n] + 2",), "f(x, n)"),
    Advised(f"level = 1.5\n# ---\n@jax.jit\n{TESTED.format('')}", "level = 0.5",
            f"Pass `level` to `f` as a static argument (`static_argnames`), or r{AGAIN[1:]} `f`"
            " again",
            (f"@partial(jax.jit, static_argnames='level')\n{TESTED.format(', level')}",),
            "f(x, level)"),
    Advised(f"{INNER}\n# ---\ninner(x)\n# ---\n{SHIFT}\n# ---\n{OUTER}", "pass",
            f"{AGAIN} `inner` again, then run the cell that defines `f` again",
            (INNER, OUTER)),
    Advised(f"{BODY}@jax.jit\ndef g(x): {LOOP}\n# ---\ng(x)\n# ---\n"
            f"{SHIFT}\n# ---\n@jax.jit\ndef f(x): {LOOP}", "pass",
            "Call `jax.clear_caches()`", ("jax.clear_caches()",)),
    Advised(f"{INNER}\n# ---\n{OUTER}", SHIFT,
            f"{AGAIN} `inner` again, then run the cell that defines `f` again, for today's `shift`",
            (INNER, OUTER)),
    *(Advised(f"{JOIN}{SIDE}def f(x): return {call}", SHIFT,
              "Call `jax.clear_caches()`, for today's `shift`",
              ("jax.clear_caches()",)) for call in KEPT),
    Advised(f"{BODY}@jax.jit\ndef f(x): {LOOP}", SHIFT,
            "Call `jax.clear_caches()`, for today's `shift`", ("jax.clear_caches()",)),
    Advised("lr = 3.0\n# ---\n@jax.jit\ndef f(x): return x * lr", "del lr",
            "`lr` does not exist any more: define it again, or pass it to `f` as an argument",
            ("@jax.jit\ndef f(x, lr): return x * lr",), "f(x, 3.0)"),
    Advised("def g(x): return x * 3\n# ---\n@jax.jit\ndef f(x): return g(x)", "del g",
            "`g` does not exist any more: define it again",
            ("def g(x): return x * 3", "@jax.jit\ndef f(x): return g(x)")),
    Advised("@jax.jit\ndef f(x): return x", "f.__wrapped__.__code__ = (lambda x: x + 2).__code__",
            f"{AGAIN} `f` again", ("@jax.jit\ndef f(x): return x + 2",)),
    Advised(OPTIMIZER, "opt = optax.sgd(-3.0)", f"{AGAIN} `f` again, for today's `opt`",
            ("@jax.jit\ndef f(x): return opt.update(x, opt.init(x))[0]",)),
    Advised(KEY, "key = jax.random.key(1)",
            f"Pass `key` to `f` as an argument, or r{AGAIN[1:]} `f` again",
            ("@jax.jit\ndef f(x, key): return x * 0 + jax.random.randint(key, (), 0, 99)",),
            "f(x, key)", "jax.random.randint(key, (), 0, 99)"),
    Advised(f"{MODE.format('@jax.jit')}\n@partial(jax.jit, static_argnums=0)\ndef other(n): pass",
            "mode = 'one'",
            f"Pass `mode` to `f` as a static argument (`static_argnames`), or r{AGAIN[1:]} `f`"
            " again",
            (MODE.format("@partial(jax.jit, static_argnames='n')").partition("# ---\n")[2],)),
    Advised(f"{MODE.format('')}\n# ---\nf = jax.jit(f, static_argnums=1)", "mode = 'one'",
            f"Pass `mode` to `f` as a static argument (`static_argnums`), or r{AGAIN[1:]} `f`"
            " again, then `f = jax.jit(f, static_argnums=1)`",
            (MODE.format("").partition("# ---\n")[2], "f = jax.jit(f, static_argnums=1)")),
    Advised(f"{DERIVED}g = jax.jit(jax.grad(g))\nf = g", SHIFT,
            f"{AGAIN} `g` again, then `g = jax.jit(jax.grad(g))`, for today's `shift`",
            (DERIVED.partition("#")[0], "f = g = jax.jit(jax.grad(g))"), value="6.0"),
    *(Advised(MODE.format(f"@partial(jax.jit, {static}={n})"), "mode = 'one'",
              f"Pass `mode` to `f` as a static argument (`{static}`), or r{AGAIN[1:]} `f` again",
              (MODE.format(f"@partial(jax.jit, {static}={new})").replace("n=0", "n, mode")
               .partition("# ---\n")[2],),
              "f(x, 0, mode)")
      for static, n, new in (("static_argnums", 1, (1, 2)),
                             ("static_argnames", "'n'", "('n', 'mode')"))),
)  # fmt: skip


@pytest.mark.parametrize("case", ADVISED, ids=lambda case: case.told[:70])
def test_what_is_told_to_be_typed_helps(cells: Shell, case: Advised) -> None:
    cells.run("def shift(x): return x")
    for cell in case.before.split("# ---\n"):
        cells.run(cell, counted=True)
    stale_call = "m.step(x)" if case.call.startswith("m") else "f(x)"
    cells.run(stale_call)
    cells.run(case.change, counted=True)
    seen = last_call(cells, stale_call)
    assert (seen.state, seen.fixes) == ("STALE", (case.told,))
    for cell in case.typed:
        cells.run(cell, counted=True)
    cells.run(f"%%trace_cached -qv seen\nfound = {case.call}\n{case.call}")
    assert [each.state for each in cells.names["seen"].calls] == ["TRACED", "CACHED"]
    cells.run(f"right = bool((np.asarray(found) == {case.value}).all())")
    assert cells.names["right"]
