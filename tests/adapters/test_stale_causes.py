"""Which of several changes is the cause that a program is stale, and what to type for that."""

import contextvars
import operator
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import keras
import pytest
import tensorflow as tf

from tests.shell import Shell

COMPILERS = {"jax": jax.jit, "tensorflow": tf.function}


@pytest.fixture
def cells(shell: Shell) -> Shell:
    """A session in which the frameworks are used."""
    shell.run("pass")  # after a cell in which they are there, their traces are seen
    shell.names |= {"tf": tf, "jax": jax, "x": tf.ones((2, 3)), "keras": keras}
    return shell


def why_and_fixes(cells: Shell, call: str = "f(x)") -> tuple[list[str], tuple[str, ...]]:
    cells.run(f"%%trace_cached -qv seen\n{call}")
    last: Any = cells.names["seen"].calls[-1]
    assert last.state == "STALE"
    return [each.words() for each in last.why], last.fixes


@pytest.mark.parametrize("framework", COMPILERS)
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("scale = 3.0; held.unused = 2", ["scale"]),
        (
            "scale = 3.0; held.offset = 2.0; held.unused = 2",
            ["held.offset", "held.unused", "scale"],
        ),
        ("scale = 3.0", ["scale"]),
    ],
)
def test_what_makes_no_difference_is_no_cause(
    cells: Shell, framework: str, change: str, told: list[str]
) -> None:
    cells.names |= {"compiler": COMPILERS[framework], "held": SimpleNamespace(offset=1.0, unused=1)}
    cells.names["x"] = jnp.ones(3) if framework == "jax" else tf.ones(3)
    cells.run("scale = 2.0\n@compiler\ndef f(x): return x * scale + held.offset + 0 * held.unused")
    cells.run(f"f(x)\n{change}")
    why, _ = why_and_fixes(cells)
    assert sorted(each.split(" was ")[0] for each in why) == told


def test_a_layer_that_is_frozen_is_no_cause_where_its_program_is_the_same(cells: Shell) -> None:
    cells.run("dense = keras.layers.Dense(2); dense(x); scale = 2.0")
    cells.run("@tf.function\ndef f(x): return dense(x) * scale")
    cells.run("f(x)\nscale = 3.0; dense.trainable = False")
    assert why_and_fixes(cells)[0] == ["scale was 2.0 when f was traced, is 3.0"]


def test_of_an_object_that_is_called_a_new_one_is_made(cells: Shell) -> None:
    cells.run("class M(tf.Module):\n    @tf.function\n    def __call__(self, x): return x * scale")
    cells.run("m = M()", counted=True)
    cells.run("scale = 2.0\nm(x)\nscale = 3.0")
    _, fixes = why_and_fixes(cells, "m(x)")
    assert fixes == ("Pass `scale` to `M` as an argument, or run `m = M()` again",)
    cells.run("m = M()")
    cells.run("right = bool((m(x).numpy() == 3.0).all())")
    assert cells.names["right"]


@pytest.mark.parametrize("framework", COMPILERS)
def test_of_a_context_variable_its_value_is_passed(cells: Shell, framework: str) -> None:
    level = contextvars.ContextVar("level", default=2.0)
    cells.names |= {"level": level, "compiler": COMPILERS[framework]}
    cells.names["x"] = jnp.ones(3) if framework == "jax" else tf.ones(3)
    cells.run("@compiler\ndef f(x): return x * level.get()")
    cells.run("f(x)")
    token = level.set(3.0)
    try:
        why, (fix,) = why_and_fixes(cells)
    finally:
        level.reset(token)
    assert why == ["level.get() was 2.0 when f was traced, is 3.0"]
    assert fix.startswith("Pass `level.get()` to `f` as an argument")


class Rates:
    """Holds what code takes by a text."""

    rate = 2.0


@pytest.mark.parametrize("framework", COMPILERS)
@pytest.mark.parametrize(
    ("read", "change", "path"),
    [
        ("operator.attrgetter('rate')(Rates)", "Rates.rate = 3.0", "Rates.rate"),
        ("get(Rates)", "Rates.rate = 3.0", "Rates.rate"),
        ("getattr(Rates, 'rate')", "Rates.rate = 3.0", "Rates.rate"),
        ("eval('scale')", "scale = 3.0", "scale"),
        ("eval('held.rate + 0')", "held.rate = 3.0", "held.rate"),
        ("run('scale')", "scale = 3.0", ""),
    ],
)
def test_names_that_are_given_as_text_are_read(
    cells: Shell, framework: str, read: str, change: str, path: str
) -> None:
    kind = type("Rates", (Rates,), {"rate": 2.0, "__module__": "__main__"})
    held, get = SimpleNamespace(rate=2.0), operator.attrgetter("rate")
    cells.names |= {"Rates": kind, "held": held, "get": get, "operator": operator, "scale": 2.0}
    cells.names |= {"compiler": COMPILERS[framework]}
    cells.names["x"] = jnp.ones(3) if framework == "jax" else tf.ones(3)
    cells.run("def run(text): return eval(text)")
    cells.run(f"@compiler\ndef f(x): return x * {read}")
    cells.run("f(x)")
    cells.run(change)
    if path:
        assert why_and_fixes(cells)[0] == [f"{path} was 2.0 when f was traced, is 3.0"]
        return
    cells.run("%%trace_cached -qv seen\nf(x)")
    assert cells.names["seen"].calls[-1].unknown.startswith("whether f runs today's values")


DEFAULTS = """
import dataclasses
@dataclasses.dataclass
class Config:
    rate: float = 1.0
class Plain:
    rate = 1.0
    def apply(self, x): return x * self.rate
    def __init__(self, rate): self.rate = rate
def use(config, x): return x * config.rate
"""


@pytest.mark.parametrize("framework", COMPILERS)
@pytest.mark.parametrize(
    ("made", "read", "change", "told"),
    [
        ("Config(2.0)", "use(held, x)", "held = Config(3.0)", "held.rate was 2.0"),
        ("Plain(2.0)", "use(held, x)", "held.rate = 3.0", "held.rate was 2.0"),
        ("Plain(2.0)", "held.apply(x)", "held.rate = 3.0", "held.rate was 2.0"),
        ("Plain(2.0)\nheld.apply = lambda x: use(Plain(2.0), x)", "held.apply(x)",
         "held.apply = lambda x: use(Plain(3.0), x)", "held.apply was redefined"),
    ],
)  # fmt: skip
def test_an_attribute_comes_before_the_default_of_its_class(
    cells: Shell, framework: str, made: str, read: str, change: str, told: str
) -> None:
    cells.names["compiler"] = COMPILERS[framework]
    cells.names["x"] = jnp.ones(3) if framework == "jax" else tf.ones(3)
    cells.run(f"{DEFAULTS}held = {made}\n@compiler\ndef f(x): return {read}\nf(x)")
    cells.run(change)
    (why,), _ = why_and_fixes(cells)
    assert why.startswith(told)


def test_of_a_concrete_function_both_are_made_anew(cells: Shell) -> None:
    cells.run("scale = 2.0\nx = tf.ones(3)")
    cells.run("@tf.function\ndef f(x): return x * scale", counted=True)
    cells.run("c = f.get_concrete_function(x)", counted=True)
    cells.run("c(x)\nscale = 3.0")
    _, (fix,) = why_and_fixes(cells, "c(x)")
    assert fix.endswith("its function again, then run `c = f.get_concrete_function(x)`")
    cells.run("@tf.function\ndef f(x): return x * scale\nc = f.get_concrete_function(x)")
    cells.run("right = bool((c(x).numpy() == 3.0).all())")
    assert cells.names["right"]


@pytest.mark.parametrize(("before", "now", "later"), [
    ("tf.constant(2.0)", "2.0", "3.0"), ("2.0", "tf.constant(2.0)", "tf.constant(3.0)"),
    ("tf.constant(2.0)", "tf.constant(2.0)", "tf.constant(3.0)"),
])  # fmt: skip
def test_an_equal_number_in_an_inner_function_is_not_stale(
    cells: Shell, before: str, now: str, later: str
) -> None:
    cells.run(f"scale = {before}\n@tf.function\ndef inner(x): return x * scale")
    cells.run("@tf.function\ndef f(x): return inner(x) + 1")
    cells.run(f"f(x)\nscale = {now}")
    cells.run("%%trace_cached -qv seen\nf(x)")
    assert cells.names["seen"].calls[-1].state == "CACHED"
    cells.run(f"scale = {later}")
    assert why_and_fixes(cells)[0][0].startswith("scale ")
