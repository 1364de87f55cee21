"""Programs that were traced with other values than the names have now."""

import sys
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.shell import Shell


def jitted(before: str, returned: str) -> str:
    """A cell in which a jitted `f` of `x` returns this, and is called."""
    return f"{before}\n@jax.jit\ndef f(x):\n    return {returned}\nf(x)"


SCALE = jitted("scale = 2.0", "x * scale")
LOSS = jitted("def loss(x):\n    return (x ** 2).sum()", "jax.grad(loss)(x)")
CONFIG = jitted("config = {'rate': 0.1, 'sizes': [3, 4]}", "x * config['rate']")
ITEMS = jitted("rates = {'a:b': 0.1}", "[x * rate for name, rate in rates.items()][0]")
SETTINGS = jitted(
    "import types\nsettings = types.SimpleNamespace(rate=0.1, verbose=False)",
    "(settings.verbose and print('traced'), x * settings.rate)[1]",
)
ARRAY = jitted("w = jnp.arange(3.0)", "x * w")
NUMPY = jitted("w = np.arange(3.0, dtype=np.float32)", "x * w")
SET = jitted("some = {1, 2}", "x * sum(some)")
NESTED = jitted("scale = 2.0\n@jax.jit\ndef inner(x):\n    return x * scale", "inner(x) + 1")
LAYERS = jitted("layers = [jnp.ones((3, 3)), jnp.ones((3, 3))]", "sum(x @ w for w in layers)")
BELOW = jitted(
    "scale = 2.0\ndef g0(x): return x * scale\n"
    "for n in range(9): exec(f'def g{n + 1}(x): return g{n}(x)')", "g9(x)",
)  # fmt: skip
LINKED = jitted(
    "import types\nlink = types.SimpleNamespace(v=2.0)\n"
    "for n in range(12): link = types.SimpleNamespace(n=link)\n"
    "def v_of(o): return o.v if hasattr(o, 'v') else v_of(o.n)", "x * v_of(link)",
)  # fmt: skip
PRINTED = jitted("note = 'first'", "(print(note), x + 1)[1]")
LOGGED = jitted(
    "import logging\nlogger, note = logging.getLogger('user'), 'first'",
    "(logger.warning(note), x + 1)[1]",
)
ACTIVATION = jitted("act = jnp.tanh", "act(x)")
DEFAULT = jitted("def g(x, power=2):\n    return x ** power", "g(x)")
SCALER = """
class Scaler:
    rate = 2.0
    def apply(self, x):
        return x * self.rate
scaler = Scaler()
"""
METHOD = jitted(SCALER, "scaler.apply(x)")
TRANSPOSED = jitted(
    f"w = jnp.ones((3, 2)){SCALER}Scaler.apply = jax.jit(Scaler.apply, static_argnums=0)",
    "scaler.apply(w.T @ x)",
)
MODEL = """
class Model:
    def __init__(self, w):
        self.w, self.calls = w, 0
    @partial(jax.jit, static_argnums=0)
    def __call__(self, x):
        return x @ self.w
m = Model(jnp.ones((3, 3)))
m(x)
"""
FALLBACK = jitted(
    "def rate():\n    try: return scale\n    except NameError: return 2.0", "x * rate()"
)
NESTED_FALLBACK = jitted(
    "def rate():\n    try: return config['rate']\n    except NameError: return 2.0", "x * rate()"
)
BUILT_IN = jitted("", "x * max(2, 3)")
LONG = jitted(
    "class Table:\n    def __init__(self):\n"
    "        vars(self).update({f'n{n}': n for n in range(900)})"
    "\n    def total(self): return len(vars(self))"
    "\ntable, names, scale = Table(), ['a'] * 2000, 2.0\ntable.rate = 2.0"
    "\nrows = [[1.0] * 50 for _ in range(50)]",
    "x * len(names) * sum(map(sum, rows)) * table.total() * len(rows) * table.rate * scale",
)
SCALED = """
import functools
def scaled(rate):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args) * rate * factor
        return wrapper
    return decorate
factor, first, second = 2.0, 3.0, 4.0
"""
DECORATED = f"""{SCALED}
@jax.jit
@scaled(first)
@scaled(second)
def f(x):
    return x + 1
f(x)
"""
HELPER = jitted(f"{SCALED}\n@scaled(first)\ndef g(x):\n    return x + 1", "g(x)")
FACTORY = jitted(
    "def make(rate):\n    return lambda x, power=2: x ** power * rate\n"
    "first, second = make(2.0), make(3.0)",
    "first(second(x))",
)
CLOSED = """
def make():
    rate = 0.1
    def set_rate(value):
        nonlocal rate
        rate = value
    return jax.jit(lambda x: x * rate), set_rate
f, set_rate = make()
f(x)
"""

OBJECT = f"{SCALER}Scaler.__call__ = Scaler.apply\nf = jax.jit(scaler)\nf(x)"
BY_TEXT = jitted(
    "import os\nscale, os.environ['RATE'] = 2.0, '2'",
    "x * globals()['scale'] * float(os.environ['RATE']) * int(os.getenv('UNSET', '1'))",
)
TABLE = jitted(
    "import pandas as pd\ntable = pd.DataFrame({'w': [1.0, 2.0, 3.0]})", "x * table['w'].to_numpy()"
)
FRACTION = jitted("from fractions import Fraction\nrate = Fraction(1, 2)", "x * float(rate)")
BESIDE = jitted("w, debug = np.ones(3, 'float32'), False", "x * w + (1 if debug else 0)")
KEYED = jitted("key = jax.random.key(0)", "x + jax.random.normal(key, (3,))")
NOT_A_NUMBER = jitted("unused = 1", "(unused > 5, x + np.array([np.nan, 1, 2], 'float32'))[1]")
SLEEPING = jitted(
    "import time\nfrom statistics import NormalDist\nrate, scale = NormalDist(2.0), 2.0",
    "(time.sleep(0), x * rate.mean * scale)[1]",
)
RULES = jitted(
    "bound, clipped = 1.0, jax.custom_vjp(lambda x: x)\n"
    "def forward(x): return x, None\n"
    "def backward(_, g): return (jnp.minimum(g, bound),)\n"
    "clipped.defvjp(forward, backward)",
    "jax.grad(lambda x: (clipped(x) * 9).sum())(x)",
)
RULE = """
bound, clipped = 2.0, jax.custom_jvp(lambda x: x * 1.0)
clipped.defjvp(lambda x, dx: (x[0], dx[0] * bound))
@jax.jit
def f(x): return clipped(x).sum()
"""
LOGGING = """
def log(x):
    global count
    count += 1
    time.sleep(0)
"""
HOSTED = jitted(
    f"import time\ncount, rate = 0, 2.0{LOGGING}",
    "(jax.debug.callback(log, x), jax.pure_callback(lambda v: v * rate, x, x))[1]",
)
HOSTED_METHOD = jitted(
    "import time\nclass Log:\n    count = 0\n    def add(self, x):\n        self.count += 1\n"
    "        time.sleep(0)\nlog = Log()",
    "(jax.experimental.io_callback(log.add, None, x), x + 1)[1]",
)
HOSTED_WITHIN = f"""
import time
count, shift = 0, 1.0
@jax.jit
def f(x):{textwrap.indent(LOGGING, "    ")}
    jax.debug.callback(lambda v: log(v + shift), x)
    jax.debug.callback(log, x)
    return x + shift
f(x)
"""
IN_PLACE = """
def loss(x): return (x ** 2).sum()
f = jax.jit(loss)
f(x)
"""


STANDARD = """
import array, io, weakref
from collections import ChainMap, UserDict, UserList
from contextvars import ContextVar
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
class Owner:
    rate = 2.0
owner, rates = Owner(), {1: 2.0}
"""


def check(cells: Shell, case: tuple[Any, ...], magic: str = "", *, alone: bool = False) -> None:
    """Run a cell whose last line is a call, and changes one after the other.

    Each comes with what is stale in that call, or in another one, then; where that is empty the
    program is today's. With `alone` nothing else is told.
    """
    before, *changes = case
    cells.run(f"{magic}{before.strip()}")
    for change, stale, *other_call in changes:
        cells.run(change)
        call = last_call(cells, *(other_call or before.strip().splitlines()[-1:]))
        told = [each.words() for each in call.why]
        assert call.state == ("STALE" if stale else "CACHED"), (change, told)
        assert any(stale in each for each in told) == bool(told) == bool(stale), (change, told)
        assert len(told) <= 1 or not alone, (change, told)


#: Cells, and changes with what is stale then.
CASES = (
    (SCALE, ("scale = 3.0; scale = 1.0 + 1.0", ""),
     ("scale = 3.0", "scale was 2.0 when f was traced, is 3.0"),
     ("f(jnp.ones(4))", "scale was 2.0"),
     ("del scale", "scale was 2.0 when f was traced, and is gone"),
     ("scale = 3.0; jax.clear_caches(); f(x)", "")),
    (jitted("scale = 2.0", "x * scale + jnp.zeros(())"), ("scale = 3.0", "scale was 2.0")),
    (LOSS, ("def loss(x):\n    # the same\n    return (x ** 2).sum()", ""),
     ("def loss(x):\n    return (x ** 3).sum()",
      "loss was redefined; f still runs the earlier one")),
    (MODEL, ("m.w = m.w * 1; m.calls += 1", ""), ("m.w = m.w * 2", "self.w is another f32[3,3]"),
     ("m = Model(jnp.zeros((3, 3))); m(x)", "")),
    (CONFIG, ("config['sizes'].append(5)", ""), ("config = dict(config)", ""),
     ("config['rate'] = 0.2", "config['rate'] was 0.1 when f was traced, is 0.2"),
     ("config = {'rate': 0.3}", "config['rate'] was 0.1 when f was traced, is 0.3")),
    (ITEMS, ("rates['a:b'] = 0.2", "rates['a:b'] was 0.1 when f was traced, is 0.2")),
    (CLOSED, ("set_rate(0.5)", "rate was 0.1 when <lambda> was traced, is 0.5")),
    (SETTINGS, ("settings.verbose = True", ""),
     ("settings.rate = 0.2", "settings.rate was 0.1 when f was traced, is 0.2")),
    (ARRAY, ("w = jnp.arange(3.0)", ""), ("w = w + 1", "w is another f32[3]"),
     ("w = jnp.ones((3,), 'int32')", "w was f32[3] when f was traced, is i32[3]")),
    (TRANSPOSED, ("w = w * 2", "w is another f32[3,2]"),
     ("w = w / 2; scaler.rate = 3.0", "scaler.rate was 2.0")),
    (NUMPY, ("w[0] = 7", "w was changed in place after f was traced"),
     ("w = w.copy(); w[0] = 0", ""), ("w = w + 1", "w is another f32[3]")),
    (SET, ("some = {1, 2}", ""), ("some = {1, 3}", "some is another set of 2")),
    (SET, ("some.add(3); some.remove(2)", "some was changed in place after f was traced")),
    (NESTED, ("scale = 3.0", "scale was 2.0 when f was traced, is 3.0")),
    (LAYERS, ("layers = [*layers]", ""),
     ("layers[1] = layers[1] * 2", "layers[1] is another f32[3,3]"),
     ("layers.append(jnp.ones((3, 3)))", "layers was list of 2")),
    (BELOW, ("scale = 3.0", "scale was 2.0 when f was traced, is 3.0")),
    (LINKED, ("link.n.n.n.n.n.n.n.n.n.n.n.n.v = 3.0", ".n.v was 2.0 when f was traced, is 3.0")),
    (PRINTED, ("note = 'second'", "")),
    (LOGGED, ("note = 'second'", "")),
    (ACTIVATION, ("act = jnp.sin", "act was tanh when f was traced, is sin")),
    (DEFAULT, ("def g(x, power=3):\n    return x ** power", "power was 2")),
    (METHOD, ("scaler = Scaler()", ""), ("scaler.rate = 3.0", "scaler.rate was 2.0")),
    (FALLBACK, ("other = 3.0", ""), ("scale = 2.0", ""),
     ("scale = 3.0", "scale was not defined when f was traced, is 3.0"),
     ("f(jnp.ones(4)); del scale", ""),
     ("pass", "scale was 3.0 when f was traced, and is gone", "f(jnp.ones(4))")),
    (NESTED_FALLBACK, ("config = {'rate': 2.0}", ""), ("config = {'rate': 3.0}",
      "config was not defined when f was traced, and is defined now")),
    (BUILT_IN, ("def max(*numbers): return 3", ""), ("def max(*numbers): return 9",
      "max was built in when f was traced, is now a function"),
     ("max = min", "max was built in when f was traced, is now a function"),
     ("max = lambda *numbers: 9; f(jnp.ones(4)); del max",
      "max was <lambda> when f was traced, is built in", "f(jnp.ones(4))")),
    (DECORATED, ("first = 7.0", ""), ("factor = 3.0", "factor was 2.0 when f was traced, is 3.0")),
    (HELPER, ("factor = 3.0", "factor was 2.0 when f was traced, is 3.0"),
     ("factor = 2.0; g = scaled(7.0)(g.__wrapped__)", "rate was 3.0 when f was traced, is 7.0")),
    (FACTORY, ("second = make(3.0)", ""),
     ("first = make(7.0)", "rate was 2.0 when f was traced, is 7.0"),
     ("first, second = make(2.0), make(7.0)",
      "rate of second was 3.0 when f was traced, is 7.0")),
    (OBJECT, ("scaler.rate = 3.0", "Scaler.rate was 2.0 when Scaler was traced, is 3.0")),
    (BY_TEXT, ("os.environ['OTHER'] = '3'; UNSET = 3", ""),
     ("scale = 3.0", "scale was 2.0 when f was traced, is 3.0"),
     ("scale, os.environ['RATE'] = 2.0, '3'", "os.environ['RATE'] was '2' when f was traced")),
    (RULES, ("clipped.defvjp(lambda x: (x, None), backward)", ""),
     ("bound = 0.5", "bound was 1.0 when f was traced, is 0.5"),
     ("bound = 1.0; clipped.defvjp(forward, lambda _, g: (g,))", "clipped.bwd was backward")),
    (HOSTED, ("count += 1; rate = 3.0", ""),  # the host reads them in each call
     ("def log(x): pass", "log was redefined; f still runs the earlier one"),
     ("def log(x):\n    global count\n    count += 2", "log was redefined")),
    (HOSTED_METHOD, ("log.count += 1", ""),
     ("Log.add = lambda self, x: None", "log.add was add when f was traced")),
    (HOSTED_WITHIN, ("count += 1", ""),
     ("count += 1; shift = 2.0", "shift was 1.0 when f was traced, is 2.0")),
    (TABLE, ("table = table.copy()", ""),
     ("table = pd.DataFrame({'w': [1.0, 2.0, 4.0]})", "table is another DataFrame of 3")),
    (TABLE, ("table.loc[0, 'w'] = 4.0", "table was changed in place after f was traced")),
    (BESIDE, ("debug = 0", ""), ("debug = True", "debug was False when f was traced")),
    (KEYED,
     ("key = jax.random.key(0)", ""), ("key = jax.random.key(1)", "key is another key<fry>[]")),
    (NOT_A_NUMBER, ("unused = 2", "")),
    (FRACTION, ("rate = Fraction(1, 2)", ""),
     ("rate = Fraction(1, 3)", "rate was Fraction(1, 2) when f was traced, is Frac")),
    (SLEEPING, ("rate = NormalDist(2.0)", ""),  # neither equal nor traced again
     ("rate, scale = NormalDist(2.0), 3.0", "scale was 2.0")),
    (IN_PLACE, ("loss.__code__ = (lambda x: (x ** 2).sum()).__code__", ""),
     ("loss.__code__ = (lambda x: (x ** 3).sum()).__code__",
      "loss was redefined in place after it was traced")),
    (LONG, ("names.insert(0, names.pop())", ""), ("scale = 3.0", "scale was 2.0"),
     ("scale, table.rate = 2.0, 3.0", "table.rate was 2.0"),
     ("table.rate = 2.0; rows.append([])", "rows was list of 50"),
     ("rows.pop(); names.insert(0, 'b')", "names was list of 2,000")),
)  # fmt: skip


AGAIN = "Run the cell that defines `f` again, for"


@pytest.mark.parametrize(("before", "change", "fix"), [
    (SCALE, "scale = 3.0", "Pass `scale` to `f` as an argument"),
    (ARRAY, "w = w + 1", "Pass `w` to `f` as an argument"),
    (LOSS, "def loss(x): return x.sum()", AGAIN), (TABLE, "table = table * 2", AGAIN),
])  # fmt: skip
def test_what_a_jitted_function_does_not_take_is_not_to_be_passed(
    cells: Shell, before: str, change: str, fix: str
) -> None:
    cells.run(before)
    cells.run(change)
    assert [each.startswith(fix) for each in last_call(cells, "f(x)").fixes] == [True]


def test_what_came_into_a_container_is_compared_each_time_that_it_changes(cells: Shell) -> None:
    cells.run(jitted("config = {}", "x * config.get('scale', 1.0)"))
    for scale, state in ((1.0, "CACHED"), (5.0, "STALE"), (1.0, "CACHED")):
        cells.run(f"config['scale'] = {scale}")
        assert last_call(cells, "f(x)").state == state


def test_objects_that_nobody_can_compare_are_unknown(cells: Shell) -> None:
    cells.run(SLEEPING)
    assert not last_call(cells, "f(x)").unknown
    cells.run("rate = NormalDist(3.0)")
    told = "whether f runs today's rate: its programs cannot be compared"
    assert last_call(cells, "f(x)").unknown.startswith(told)


@pytest.mark.parametrize(
    ("change", "call", "is_unknown"),
    [
        ("bound = 3.0", "jax.grad(f)(x)", True),
        ("bound = 2.0", "jax.grad(f)(x)", False),
        ("bound = 3.0", "f(x)", False),
    ],
)
def test_whether_kept_rules_of_differentiation_are_todays_is_unknown(
    cells: Shell, change: str, call: str, *, is_unknown: bool
) -> None:
    cells.run(RULE)
    for each in ("jax.grad(f)(x)", "f(x)"):  # in the magic, where the trace is seen
        last_call(cells, each)
    cells.run(change)
    seen = last_call(cells, call)
    told = "whether f differentiates with today's bound: its rules are kept"
    assert (seen.state, seen.unknown.startswith(told)) == ("CACHED", is_unknown)


def test_what_other_code_does_not_read_is_not_gone(cells: Shell) -> None:
    cells.run(f"rate = 3.0\n{jitted('def g(x): return x * rate', 'g(x)')}")
    cells.run("def g(x): return x + 1")
    (change,) = last_call(cells, "f(x)").why
    assert change.path == "g"


@pytest.mark.parametrize(
    ("compiled", "again"),
    [
        ("c = f.lower(x).compile()", "run c = f.lower(x).compile()"),
        ("lowered = f.lower(x)\nc = lowered.compile()", "lower and compile it anew"),
    ],
)
def test_what_was_compiled_ahead_of_time_holds_values_of_then(
    cells: Shell, compiled: str, again: str
) -> None:
    cells.run(SCALE)
    cells.run(compiled, counted=True)
    cells.run("scale = 3.0")
    call = last_call(cells, "c(x)")
    assert call.state == "CACHED"
    assert call.unknown.startswith("whether Compiled runs today's values: it was compiled ahead")
    assert call.unknown.endswith(f"defines its function again, then {again}")
    cells.run(f"{SCALE.replace('scale = 2.0', 'pass')}\n{compiled}")
    cells.run("right = bool((c(x) == 3).all())")
    assert cells.names["right"]


@pytest.fixture
def cells(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A session in which JAX is used, with the extension loaded."""
    for name in ("RATE", "OTHER"):  # put back at the end
        monkeypatch.setenv(name, "")
    shell.run("pass")  # after a cell in which JAX is there, its traces are seen
    shell.names |= {
        "jax": jax,
        "jnp": jnp,
        "np": np,
        "x": jnp.asarray(np.ones(3, "f4")),
        "partial": partial,
    }
    return shell


def last_call(cells: Shell, call: str) -> Any:
    cells.run(f"%%trace_cached -qv seen\n{call}")
    return cells.names["seen"].calls[-1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[-1][0])
def test_what_is_stale_is_named_and_nothing_else(cells: Shell, case: tuple[Any, ...]) -> None:
    check(cells, case)


@pytest.mark.parametrize(
    ("made", "read", "change", "told"),
    [
        ("UserDict(rate=2.0)", "some['rate']", "some['rate'] = 3.0", "some['rate'] was 2.0"),
        ("UserList([2.0])", "some[0]", "some[0] = 3.0", "some[0] was 2.0"),
        ("ChainMap({'rate': 2.0})", "some['rate']", "some['rate'] = 3.0", "some[0]['rate'] was 2"),
        ("MappingProxyType(rates)", "some[1]", "rates[1] = 3.0", "some[1] was 2.0"),
        ("weakref.WeakKeyDictionary({owner: 2.0})", "some[owner]", "some[owner] = 3.0",
         "some[Owner 0] was 2.0"),
        ("weakref.WeakValueDictionary(a=owner)", "some['a'].rate", "owner.rate = 3.0",
         "some['a'].rate was 2.0"),
        ("bytearray(b'2')", "some[0]", "some[0] = 3", "some is another bytearray of 1"),
        ("memoryview(bytearray(b'2'))", "some[0]", "some[0] = 3", "some is another memoryview"),
        ("array.array('d', [2.0])", "some[0]", "some[0] = 3.0", "some is another array of 1"),
        ("io.StringIO('2')", "float(some.getvalue())", "some.write('3')",
         "some is another StringIO of 1"),
        ("ContextVar('v', default=2.0)", "some.get()", "some.set(3.0)", "some.get() was 2.0"),
        ("range(2)", "len(some)", "some = range(3)", "some was range(0, 2)"),
        ("timedelta(2)", "some.days", "some = timedelta(3)", "some was datetime.timedelta(days=2)"),
        ("Path('2')", "float(some.name)", "some = Path('3')", "some was PosixPath('2')"),
    ],
)  # fmt: skip
def test_values_of_pythons_own_library_are_compared_by_what_is_in_them(
    cells: Shell, made: str, read: str, change: str, told: str
) -> None:
    cells.run(STANDARD)
    cells.run(jitted(f"some = {made}", f"x * {read}"))
    cells.run(f"some = {made}")
    call = last_call(cells, "f(x)")
    assert (call.state, call.unknown) == ("CACHED", "")
    cells.run(change)
    assert [told in each.words() for each in last_call(cells, "f(x)").why] == [True]


def test_a_value_of_the_same_name_in_another_function_is_no_cause(cells: Shell) -> None:
    cells.run(f"{jitted('c = [2.0]', 'x * len(c)')}\ng = f")
    cells.run(jitted("from functools import singledispatch\n@singledispatch\ndef c(x): return 2.0",
                     "x * c(1)"))  # fmt: skip
    cells.run("@c.register(int)\ndef _(x): return 3.0")
    told = [each.words() for each in last_call(cells, "f(x)").why]
    assert not any("part that was traced before" in each for each in told)


@pytest.mark.parametrize(
    ("before", "cell", "states"),
    [
        (SCALE, "for scale in (2.0, 3.0, 4.0, 2.0): f(x)", "CACHED STALE STALE CACHED"),
        (SCALE, "f(x)\nf(jnp.ones(4))\nscale = 5.0\nfor n in (3, 4, 3): f(jnp.ones(n))",
         "CACHED TRACED STALE STALE STALE"),
        (SCALE, "scale = 5.0\nfor n in (4, 3, 4): f(jnp.ones(n))", "TRACED STALE CACHED"),
        (CONFIG, "for r in (0.1, 0.2, 0.1): config['rate'] = r; f(x)", "CACHED STALE CACHED"),
        (CLOSED, "for r in (0.1, 0.2, 0.1): set_rate(r); f(x)", "CACHED STALE CACHED"),
        (SETTINGS, "for r in (0.1, 0.2, 0.1): settings.rate = r; f(x)", "CACHED STALE CACHED"),
        (NUMPY, "for n in (0, 7, 0): w[0] = n; f(x)", "CACHED STALE CACHED"),
        (METHOD, "for r in (2.0, 3.0, 2.0): scaler.rate = r; f(x)", "CACHED STALE CACHED"),
        (METHOD, "for r in (2.0, 3.0, 2.0): Scaler.rate = r; f(x)", "CACHED STALE CACHED"),
        (MODEL, "for n in (1, 2, 1): m.w = jnp.full((3, 3), n * 1.0); m(x)", "CACHED STALE CACHED"),
        (BY_TEXT, "for r in ('2', '3', '2'): os.environ['RATE'] = r; f(x)", "CACHED STALE CACHED"),
        (LAYERS, "for w in layers * 2: layers.append(w); f(x); layers.pop(); f(x)",
         "STALE CACHED " * 4),
        (PRINTED, "for n in range(60): note = str(n); f(x)", "CACHED " * 60),
    ],
)  # fmt: skip
def test_a_change_within_a_cell_is_seen(cells: Shell, before: str, cell: str, states: str) -> None:
    cells.run(before)
    cells.run(f"%%trace_cached -qv seen\n{cell}")
    calls = cells.names["seen"].calls
    assert [each.state for each in calls for _ in range(each.times)] == states.split()


def test_a_function_is_named_with_the_cells_of_both(cells: Shell) -> None:
    numbers = []
    for cell in (LOSS, "def loss(x):\n    return (x ** 3).sum()"):
        numbers.append(cells.shell.execution_count)
        cells.run(cell, counted=True)
    (change,) = last_call(cells, "f(x)").why
    told = "loss was redefined in cell {1}; f still runs the one of cell {0}".format(*numbers)
    assert change.words() == told


def test_a_function_in_place_of_pythons_own_is_named_with_its_cell(cells: Shell) -> None:
    cells.run(BUILT_IN)
    number = cells.shell.execution_count
    cells.run("def max(*numbers): return 9", counted=True)
    (change,) = last_call(cells, "f(x)").why
    told = f"max was built in when f was traced, is now a function of cell {number}"
    assert change.words() == told


MODULE = """
import jax
from functools import partial
from pathlib import Path
scale = 2.0
def read(x): return x * scale
def body(carry, _): return carry * scale, None
@jax.jit
def loop(x): return jax.lax.scan(body, x, None, 2)[0]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module of the user's."""
    (tmp_path / "user_cfg.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield "user_cfg"
    sys.modules.pop("user_cfg", None)


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (jitted("import user_cfg", "user_cfg.read(x)"), "user_cfg.scale was 2.0 when f was"),
        (jitted("from user_cfg import read", "read(x)"), "user_cfg.scale was 2.0 when f was"),
        (jitted("import user_cfg as c", "c.read(x) * c.scale"), "user_cfg.scale was 2.0 when f"),
        (jitted("import user_cfg; from user_cfg import *; scale = 0.5", "read(x) * scale"),
         "user_cfg.scale was 2.0 when f was traced, is 3.0"),
        ("import user_cfg\nf = jax.jit(user_cfg.read)\nf(x)", "scale was 2.0 when read was"),
    ],
)  # fmt: skip
def test_a_name_of_a_module_is_told_with_it(
    cells: Shell, module: str, before: str, told: str
) -> None:
    cells.run(before)
    assert last_call(cells, "f(x)").state == "CACHED"
    cells.run(f"import {module}; {module}.scale = 3.0")
    seen = last_call(cells, "f(x)")
    assert (seen.state, told in "; ".join(each.words() for each in seen.why)) == ("STALE", True)


def test_a_part_that_a_module_traced_before_is_found_under_its_names(
    cells: Shell, module: str
) -> None:
    cells.run(f"import {module} as c; c.loop(x); c.scale = 3.0")
    cells.run(jitted("", "jax.lax.scan(c.body, x, None, 2)[0]"))
    seen = last_call(cells, "f(x)")
    assert seen.state == "STALE", seen
    assert "scale was 2.0 when loop was traced, is 3.0" in seen.why[0].words()


COUNTED = "k = 0\n@jax.jit\ndef f(x):\n    global k\n    k += 1\n    return {}\nf(x)"
CELL = """
def make():
    k = 0
    def f(x):
        nonlocal k
        k += 1
        return x * k
    return jax.jit(f)
f = make()
f(x)
"""


@pytest.mark.parametrize(
    ("before", "unknown"),
    [
        (COUNTED.format("x * k"), "whether f is to run with another k: tracing it assigns k"),
        (CELL, "whether f is to run with another k: tracing it assigns k"),
        (COUNTED.format("x * 2"), ""),
        (COUNTED.format("x * (k > 0)"), ""),
    ],
)
def test_a_trace_that_changes_what_it_reads_is_told(
    cells: Shell, before: str, unknown: str
) -> None:
    cells.run(before)
    for _ in range(2):
        seen = last_call(cells, "f(x)")
        assert (seen.state, bool(seen.unknown)) == ("CACHED", bool(unknown))
        assert seen.unknown.startswith(unknown)
    assert cells.names.get("k", 1) == 1  # looking counts no trace
    if unknown and "k" in cells.names:
        cells.run("@jax.jit\ndef f(x, k):\n    return x * k\nk += 1\nf(x, k)")
        seen = last_call(cells, "f(x, k)")
        assert (seen.state, seen.unknown) == ("CACHED", "")
