"""Of names that changed together, those are told that make the program another one."""

from typing import Any

import pytest

from tests.adapters.jax.test_stale import cells as cells, last_call
from tests.shell import Shell

PLAIN = """
import functools
note, scale = "first", 2.0
def plain(x):
    print(note, end="")
    return x * scale
def wrapped(function):
    @functools.wraps(function)
    def inner(*args): return function(*args)
    return inner
def counted(function):
    calls = 0
    def inner(x):
        nonlocal calls
        calls += 1
        return function(x) if calls else inner(x)
    return inner
"""
#: Where a copy of `plain` can take its place; a lambda and a decorated function have it as a name.
COPIED = (
    "jax.jit(plain)", "jax.jit(lambda x: plain(x))", "jax.jit(jax.vmap(plain))",
    "jax.jit(functools.partial(plain))", "jax.jit(wrapped(plain))", "jax.jit(counted(plain))",
    "jax.jit(jax.grad(lambda x: plain(x).sum()))", "jax.jit(jax.checkpoint(plain))",
    "jax.jit(wrapped(jax.vmap(wrapped(plain))))", "jax.jit(lambda x: wrapped(plain)(x))",
    "jax.jit(lambda x: jax.jit(plain)(x))",
)  # fmt: skip
#: And where none can.
NOT_COPIED = (
    "jax.jit(lambda x, of=[plain]: of[0](x))",
    "jax.jit(lambda x, of=jax.jit(plain): of(x))",
)


def told(cells: Shell, function: str, change: str) -> Any:
    cells.run(f"{PLAIN}\nf = {function}\nf(x)\n{change}")
    call = last_call(cells, "f(x)")
    return call.state, [each.path for each in call.why]


@pytest.mark.parametrize("function", COPIED)
def test_a_name_that_is_only_printed_is_no_cause(cells: Shell, function: str) -> None:
    assert told(cells, function, "note, scale = 'second', 3.0") == ("STALE", ["scale"])
    assert told(cells, function, "note = 'second'") == ("CACHED", [])


def test_what_a_program_draws_at_random_makes_no_name_a_cause(cells: Shell) -> None:
    cells.run("""import random
k = 2.0
@jax.jit
def f(x):
    if k > 0: return x * random.random()
f(x)
k = 3.0""")
    assert last_call(cells, "f(x)").state == "CACHED"


@pytest.mark.parametrize("function", NOT_COPIED)
def test_where_no_copy_tells_them_apart_all_are_told(cells: Shell, function: str) -> None:
    assert told(cells, function, "note, scale = 'second', 3.0") == ("STALE", ["note", "scale"])
