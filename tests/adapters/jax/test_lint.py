"""What a program holds that its author may not expect; its equal twin has nothing to say."""

import ast
import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ipyjaxbench.adapters.jax.graphs import lint_promotions
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_call
from ipyjaxbench.usercode.call import Call
from tests.adapters.jax.written import written

X, KEY = jnp.ones((4, 4)), jax.random.key(0)
RAW = jax.random.PRNGKey(0)
BIG = jnp.ones((600, 600))
QUARTER = np.ones(2**18, np.float32)  # a mebibyte
NARROW = X.astype(jnp.bfloat16)


def codes(function: Callable[..., Any], *args: Any) -> dict[str, str]:
    found = trace_call(Call.from_function(function, *args), GraphOptions(check=True))
    return {note.code: note.text for note in found.notes}


def repeated(turns: int) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        for _ in range(turns):
            x = jnp.tanh(x @ x)
        return x

    return function


def twice(key: Any) -> Any:
    return jax.random.normal(key) + jax.random.normal(key)


def mixed(narrow: Any, x: Any) -> Any:
    return narrow * x


def donating(function: Callable[..., Any], *numbers: int) -> Callable[..., Any]:
    return jax.jit(function, donate_argnums=numbers)


PRINTED = written("x", 'jax.debug.print("{}", x.sum())\nreturn x')
DRAWN = "return jax.random.normal(one) + jax.random.normal(other)"
SPLIT = written("key", f"one, other = jax.random.split(key)\n{DRAWN}")
FOLDED = written("key", f"one, other = (jax.random.fold_in(key, n) for n in (1, 2))\n{DRAWN}")
ASKED_FOR = written("a", "return a.astype(\n    np.float32,\n) * np.ones(4, np.float32)")
PRODUCT = written("a, b", "return a @ b")
SUMMED = written("a", "return a.sum() + jnp.mean(a, dtype=jnp.float32).astype(a.dtype)")


@pytest.mark.parametrize(
    ("code", "bad", "good"),
    [
        ("baked-in", (lambda x: x @ BIG, jnp.ones((2, 600))),
         (lambda x, big: x @ big, jnp.ones((2, 600)), BIG)),
        ("baked-in", (lambda x: x + QUARTER, 1.0), (lambda x: x + QUARTER[1:], 1.0)),
        ("unrolled", (repeated(8), X), (repeated(7), X)),
        ("weak-output", (lambda x: x * 2, 1.0), (lambda x: x * 2, X)),
        ("called-back", (PRINTED, X), (lambda x: x, X)),
        ("low-precision", (jnp.dot, NARROW, NARROW), (jnp.dot, X, X)),
        ("low-precision", (jnp.dot, NARROW, NARROW),
         (lambda a, b: jnp.dot(a, b, preferred_element_type=jnp.float32), NARROW, NARROW)),
        ("donated-unused", (donating(lambda x: x.sum(), 0), X),
         (donating(lambda x: x + 1, 0), X)),
        ("donated-unused", (donating(lambda x, y: x + y, 0, 1), X, X),
         (donating(lambda x, y: (x + 1, y + 1), 0, 1), X, X)),
        ("donated-unused", (donating(lambda x, y: x + y, 1), X, X[0]),
         (donating(lambda x, y: x + y, 0), X, X[0])),
        ("key-reused", (twice, KEY), (SPLIT, KEY)),
        ("key-reused", (jax.jit(twice), KEY), (jax.jit(SPLIT), KEY)),
        ("key-reused", (jax.jit(twice), RAW), (jax.jit(SPLIT), RAW)),
        ("key-reused", (twice, RAW), (FOLDED, RAW)),
        ("promoted", (mixed, NARROW, X), (mixed, NARROW, NARROW)),
        ("promoted", (mixed, NARROW, X), (lambda a, b: a.astype(b.dtype) * b, NARROW, X)),
        ("promoted", (written("a", "return a * np.float32(2)"), NARROW), (lambda a: a * 2, NARROW)),
        ("promoted", (written("a", "return a * np.ones(4, np.float32)"), NARROW),
         (ASKED_FOR, NARROW)),
        ("promoted", (written("a", "return a + jnp.zeros(4, dtype='float32')"), NARROW),
         (written("a", "return jnp.asarray(a, jnp.float32) + 1"), NARROW)),
        ("promoted", (PRODUCT, NARROW, X), (PRODUCT, NARROW, NARROW)),
        ("promoted", (written("a, b", "return jnp.where(a > 0, a, b)"), NARROW, X),
         (SUMMED, NARROW)),
        ("promoted", (mixed, NARROW, X), (mixed, NARROW.astype("int8"), X)),
        ("promoted", (mixed, NARROW, X), (lambda a, x: a[0, 0] * x[0, 0], NARROW, X)),
        ("recomputed", (jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))), 1.0),
         (jax.grad(lambda x: jnp.sin(jnp.sin(x))), 1.0)),
    ],
)  # fmt: skip
def test_it_is_found_and_the_equal_twin_is_left_alone(code: str, bad: tuple, good: tuple) -> None:
    assert code in codes(*bad)
    assert code not in codes(*good)


def test_a_loop_of_a_librarys_is_not_the_users_to_roll_up() -> None:
    optax = pytest.importorskip("optax")
    leaves = [X] * 20
    assert codes(lambda tree: optax.apply_updates(tree, tree), leaves) == {}
    assert "unrolled" in codes(lambda tree: [jnp.add(leaf, leaf) for leaf in tree], leaves)


def test_what_is_found_is_told_with_its_size_and_line() -> None:
    line = mixed.__code__.co_firstlineno + 1
    assert codes(mixed, NARROW, X)["promoted"] == (
        f"Line {line}, 'return narrow * x', promotes bfloat16 to float32 (64 B): one of its"
        " operands is float32."
    )
    assert codes(lambda a: a @ a @ a, NARROW)["low-precision"].startswith("2 products of bfloat16 ")
    text = codes(donating(lambda x, y: x + y, 0, 1), X, X)["donated-unused"]
    assert text.startswith("f32[4,4] is donated for nothing: no result")
    text = codes(repeated(20), X)["unrolled"]
    assert "'x = jnp.tanh(x @ x)', was traced 20 times and became 40 equations" in text
    line = twice.__code__.co_firstlineno + 1
    for key in (KEY, RAW):
        assert f"line {line}: return jax.random.normal(key) +" in codes(twice, key)["key-reused"]
    again = jax.grad(lambda x: jax.checkpoint(jnp.sin)(jax.checkpoint(jnp.sin)(x)))
    assert "recomputes 2 parts" in codes(again, jnp.float32(1))["recomputed"]
    told = codes(lambda key: jax.lax.map(lambda _: jax.random.normal(key), X), KEY)["key-reused"]
    assert told.partition("both times: ")[2].startswith("scan body function leads to key reuse")
    assert "\n" not in told


@pytest.mark.parametrize(
    ("has_rules", "typed"), [(True, "argument 0 is already consumed"), (False, None)]
)
def test_a_key_that_only_a_library_uses_twice_is_told_without_a_line(
    has_rules: bool, typed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_rules:  # as a version of JAX that has them elsewhere
        monkeypatch.setitem(sys.modules, "jax.experimental.key_reuse._core", None)
    names: dict[str, Any] = {"jax": jax}
    text = "def both(key):\n    return jax.random.normal(key) + jax.random.normal(key)\n"
    exec(compile(text, str(Path(jax.__file__).parent / "of_jax.py"), "exec"), names)
    assert codes(names["both"], RAW)["key-reused"].endswith(": line unknown")
    told = codes(names["both"], KEY).get("key-reused")
    assert (told is None) if typed is None else (typed in str(told))


@pytest.mark.parametrize(
    ("code", "is_asked"),
    [("a.astype(t)", True), ("lax.convert_element_type(a, t)", True),
     ("jnp.float32(a)", True), ("jnp.float32(2)", False),
     ("jnp.float16(a)", False), ("jnp.asarray(a, t)", True), ("b = jnp.array(a, t) + 1", True),
     ("jnp.asarray(a)", False), ("jnp.asarray(2.0, t)", False), ("jnp.asarray(a, dtype=t)", True),
     ("jnp.asarray(2.0, dtype=t)", False), ("jnp.sum(a, dtype=t)", True), ("a.sum(dtype=t)", True),
     ("total(dtype=t)", False), ("jnp.dot(a, b, preferred_element_type=t)", True),
     ("jnp.ones(3, dtype=t)", False), ("jnp.full(a, 2, dtype=t)", False), ("f(a)", False),
     ("a + b", False)],
)  # fmt: skip
def test_a_conversion_is_asked_for_where_code_converts_data(code: str, *, is_asked: bool) -> None:
    (statement,) = ast.parse(code).body
    assert lint_promotions._is_asked_for(statement, "float32") is is_asked


@pytest.mark.parametrize(
    ("function", "is_only_summed"),
    [(lambda a, wide: (wide.sum(), jnp.sin(a)), True), (lambda a, wide: (wide.sum(), wide), False),
     (lambda a, wide: (wide.sum(), wide + 1), False)],
)  # fmt: skip
def test_only_what_is_summed_alone_is_collected_in_a_wider_dtype(
    function: Callable[..., Any], *, is_only_summed: bool
) -> None:
    jaxpr = jax.make_jaxpr(lambda a: function(a, a.astype("float32")))(NARROW).jaxpr
    wide = next(e for e in jaxpr.eqns if e.primitive.name == "convert_element_type")
    assert (wide.outvars[0] in lint_promotions._only_reduced(jaxpr)) is is_only_summed


@pytest.mark.parametrize("text", ["return (", ""])
def test_a_promotion_is_told_where_the_source_cannot_be_read(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: dict[str, Any] = {}
    exec(compile("def f(a, b):\n    return a.astype(b.dtype) * b\n", "<gone>", "exec"), names)
    lines = [f"{text}\n"] * 2
    monkeypatch.setitem(linecache.cache, "<gone>", (0, None, lines, "<gone>"))
    assert "promotes bfloat16 to float32" in codes(names["f"], NARROW, X)["promoted"]
