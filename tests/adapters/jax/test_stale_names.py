"""Of all that changed since a trace, what the program depends on is told, and nothing else."""

from typing import Any

import pytest

from tests.adapters.jax import test_stale
from tests.adapters.jax.test_stale import check, jitted, last_call
from tests.shell import Shell

cells = test_stale.cells
_READS = "scale, w = 2.0, np.ones(3, 'float32')\ndef dead(x): return jnp.sin(x) * scale"
DEAD = [
    jitted(_READS, returned)
    for returned in (
        "(dead(x), x + 1)[1]", "(x @ w, x + 1)[1]", "(jax.jit(dead)(x), x + 1)[1]",
        "jax.lax.scan(lambda c, y: (c + y, dead(c)), 0.0, x)[0]",
        "jax.lax.cond(x[0] > 0, lambda: (x, dead(x)), lambda: (x, x))[0]",
    )
]  # fmt: skip
LIVE = [
    jitted(_READS, returned)
    for returned in (
        "(dead(x), dead(x))[1]", "(jax.debug.callback(lambda y: None, dead(x)), x + 1)[1]",
        "jax.lax.scan(lambda c, y: (dead(c), 1), 0.0, x)[0]",
    )
]  # fmt: skip
HOSTED = jitted(
    "scale, note = 2.0, 'first'\ndef log(value): pass",
    "(print(note), jax.debug.callback(log, x), jax.pure_callback(lambda v: v, x, x) * scale)[2]",
)
MANY = """
a, b, c, d, e, f, g, h = range(1, 9)
def read(x): return x * h
@jax.jit
def many(x):
    (a, b, c, d, e, f)
    return read(x * g)
many(x)
"""
DRAWN = jitted(
    "scale, note = 2.0, 'first'", "(print(note), x * scale + np.random.normal(size=3))[1]"
)
HIDDEN = jitted(
    "scale = 2.0\n@jax.jit\ndef read(x): return x * scale", "(print(scale), read(x))[1]"
)
SCHEDULE = jitted(
    "def make(init_value, decay_steps): return lambda n: init_value * 0.5 ** (n / decay_steps)\n"
    "rate = make(0.1, 100)", "x * rate(x)",
)  # fmt: skip


READ = ("scale = 3.0; w = w * 3", "scale was 2.0")
UNREAD = ("scale = 3.0; w = w * 3", "")


@pytest.mark.parametrize("case", [
    *((each, UNREAD) for each in DEAD[1:]),
    *((each, READ) for each in LIVE),
    (DEAD[0],
     UNREAD,
     ("scale, w = 2.0, w / 3\ndef dead(x): jax.debug.print('{}', scale)", "dead was redefined")),
    (HOSTED, ("note = 'second'", ""), ("note, scale = 'second', 3.0", "scale was 2.0")),
    (MANY, ("a, b, c, d, e, f = range(10, 16)", ""),
     ("b, g = 1, 16", "g was 7 when many was traced, is 16"),
     ("a, g, h = 17, 7, 3", "h was 8 when many was traced, is 3")),
    (HIDDEN, ("scale = 3.0", "scale was 2.0 when f was traced, is 3.0")),
    (DRAWN, ("note = 'second'", ""), ("scale = 3.0", "scale was 2.0 when f was traced, is 3.0")),
], ids=lambda case: case[0][-30:])  # fmt: skip
def test_names_that_make_no_difference_are_not_told(cells: Shell, case: tuple[Any, ...]) -> None:
    check(cells, case, alone=True)


NET = """
import equinox as eqx
a, b, k, verbose = 1.0, 2.0, 3.0, False
class Net(eqx.Module):
    w: jax.Array
    def __call__(self, x):
        if verbose: print(a, b)
        return self.w * x * k
net = Net(x)
@eqx.filter_jit
def f(net, x):
    return net(x) if b else a
f(net, x)
"""
MAGICS = ("", "%%trace_cached -q\n")  # both ways to see a trace
KEPT = jitted("seen, k = [], 2.0", "(seen.append(1), x * k)[1]")


@pytest.mark.parametrize(("magic", "before", "change", "told"), [
    *((magic, NET, "a, k = 2.0, 4.0", "k was 3.0 when f was traced, is 4.0") for magic in MAGICS),
    (MAGICS[0], KEPT, "seen.append(2); k = 3.0", "k was 2.0 when f was traced, is 3.0"),
    (MAGICS[1], KEPT, "seen.clear(); k = 3.0", "k was 2.0 when f was traced, is 3.0"),
])  # fmt: skip
def test_what_the_code_does_not_reach_or_only_writes_to_is_not_told(
    cells: Shell, magic: str, before: str, change: str, told: str
) -> None:
    before, _, call = before.strip().rpartition("\n")
    cells.run(before)
    cells.run(f"{magic}{call}")
    cells.run(change)
    assert [each.words() for each in last_call(cells, call).why] == [told]


ENUM = """
import enum
class Mode(enum.Enum):
    A, B = 1, (2, 3)
    def scale(self): return k
k, mode = 2.0, Mode.A
"""
#: One of no file: like those of libraries it is not the user's.
LIBRARY = (
    "import types\nlib, part = types.ModuleType('lib'), types.ModuleType('lib.part')\n"
    "lib.part, lib.tau, part.tau = part, 6.5, 6.5"
)
INHERITED = """
k = 2.0
class Base:
    step = 4.0
    def rate(self): return k
    @property
    def size(self): return k
class Own(Base):
    step, size = 3.0, property(lambda self: 0)
    def rate(self): return super().rate()
    def sizes(self): return super().size
    def steps(self): return super().step
own = Own()
"""
MODULE = f"{LIBRARY}\nimport sys\nsys.modules['lib'] = lib"
IMPORTED = """
@jax.jit
def f(x):
    {}
    return x * {}
f(x)"""
PARTIAL = "part = partial(lambda a, b: a * b, b=2.0)"
INNER = "@jax.jit\ndef inner(x): return x * 2"


@pytest.mark.parametrize(
    ("before", "returned", "change", "told"),
    [
        (PARTIAL, "part(x)", PARTIAL.replace("2", "3"),
         "part.keywords['b'] was 2.0 when f was traced, is 3.0"),
        ("part = partial(jnp.add, 2.0)", "part(x)", "part = partial(jnp.add, 3.0)",
         "part.args[0] was 2.0 when f was traced, is 3.0"),
        (INNER, "inner(x)", INNER.replace("2", "3"),
         "inner was redefined; f still runs the earlier one"),
        (ENUM, "x * (2 if mode is Mode.A else 3)", "mode = Mode.B",
         "mode was Mode.A when f was traced, is Mode.B"),
        (ENUM, "x * mode.value", ENUM.replace("1, (2, 3)", "3, 4"),
         "mode is another Mode.A than the one that f was traced with"),
        (LIBRARY, "x * lib.tau", "lib.tau = 3", "lib.tau was 6.5 when f was traced, is 3"),
        (LIBRARY, "x * lib.part.tau", "lib.part.tau = 3",
         "lib.part.tau was 6.5 when f was traced, is 3"),
        (ENUM, "x * mode.scale()", "k = 3.0", "k was 2.0 when f was traced, is 3.0"),
        *((INHERITED, f"x * own.{read}", "k = 3.0", "k was 2.0 when f was traced, is 3.0")
          for read in ("rate()", "sizes()")),
        (INHERITED, "x * own.steps()", "Base.step = 5.0",
         "Base.step was 4.0 when f was traced, is 5.0"),
        (INHERITED, "x * own.rate()", "Base.rate = lambda self: 3.0",
         "Base.rate was rate when f was traced, is <lambda>"),
    ],
)  # fmt: skip
def test_what_changed_is_told_once_by_what_can_be_typed(
    cells: Shell, before: str, returned: str, change: str, told: str
) -> None:
    cells.run(jitted(before, returned))
    cells.run(change)
    assert [each.words() for each in last_call(cells, "f(x)").why] == [told]


@pytest.mark.parametrize("read", ["x * own.step", "x * own.size"])
def test_what_a_class_hides_of_another_is_not_told(cells: Shell, read: str) -> None:
    cells.run(jitted(INHERITED, read))
    cells.run("k, Base.step = 3.0, 5.0")
    assert last_call(cells, "f(x)").state == "CACHED"


@pytest.mark.parametrize(
    ("imported", "read"),
    [("from lib import tau", "tau"), ("import lib", "lib.tau"), ("import lib as l", "l.tau"),
     ("from lib import tau as t", "(lambda: t)()")],
)  # fmt: skip
def test_what_a_function_imports_is_told(cells: Shell, imported: str, read: str) -> None:
    cells.run(MODULE + IMPORTED.format(imported, read))
    cells.run("lib.part = None")
    assert last_call(cells, "f(x)").state == "CACHED"
    cells.run("lib.tau = 3")
    told = [each.words() for each in last_call(cells, "f(x)").why]
    assert told == ["lib.tau was 6.5 when f was traced, is 3"]


def test_an_equal_number_of_another_type_is_told_last(cells: Shell) -> None:
    cells.run(SCHEDULE)
    cells.run("rate = make(0.2, 100.0)")
    first, second = (change.words() for change in last_call(cells, "f(x)").why)
    assert first.startswith("init_value was 0.1 when")
    assert second.startswith("decay_steps was 100 when")
