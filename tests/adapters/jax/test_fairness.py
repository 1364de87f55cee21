"""What makes a comparison with JAX unfair is told, and the fair twin is left alone."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ipyjaxbench import Comparison
from tests.comparison.test_compare import run

UNFAIR = {"other-result", "other-data", "other-dtype", "other-device", "other-threads",
          "eager-beside-compiled", "copies-alone", "half-alone", "not-compared"}  # fmt: skip
RNG = np.random.default_rng(0)
X = RNG.random((200, 200), np.float32)


@pytest.fixture
def names() -> dict[str, Any]:
    x = jnp.asarray(X)
    return {
        "np": np, "jnp": jnp, "jax": jax, "x": X, "xj": x, "wide": X.astype(np.float64),
        "other": jnp.asarray(RNG.random((200, 200), np.float32)),
        "f": lambda x: jnp.tanh(x @ x),
        "g": jax.jit(lambda x: jnp.tanh(x @ x)), "both": jax.jit(lambda x: (x, x + 1)),
        "key": jax.random.key(0),
    }  # fmt: skip


def unfair_notes(found: Comparison) -> dict[str, str]:
    return {note.code: note.text for note in found.notes if note.code in UNFAIR}


@pytest.mark.parametrize(
    "arms",
    [
        {"numpy": "np.dot(x, x)", "jax": "jnp.dot(xj, xj)"},
        {"one": "np.dot(x, x.T)", "two": "x @ x.T"},
        {"a": "both(xj)", "b": "both(xj)"},
    ],
)
def test_what_is_fair_is_left_alone(arms: dict[str, str], names: dict[str, Any]) -> None:
    found = run(arms, names)
    assert unfair_notes(found) == {}
    assert any(word.startswith("same results") for word in found.equal)


@pytest.mark.parametrize(
    ("one", "other", "code", "text"),
    [
        ("np.dot(wide, wide)", "jnp.dot(xj, xj)", "other-dtype",
         "Different dtypes: float32 (two); float64 (one)."),
        ("np.dot(x, x)", "jnp.dot(other, other)", "other-data",
         "Different inputs: two reads other, one reads x, and their values differ."),
        ("jnp.dot(xj, xj)", "jnp.dot(x, x)", "copies-alone",
         ("Not like for like: only two copies data."
          " In every call, x may be copied from the host to jax cpu:0")),
        ("f(xj)", "g(xj)", "eager-beside-compiled", "two is compiled, one is not."),
        ("jnp.dot(xj, xj)", "both(xj)", "other-result",
         "The result of two differs from that of one: 2 arrays instead of 1."),
        ("key", "(key,)[0]", "not-compared",
         "The results of one and two were not compared: they contain no readable numbers."),
    ],
)  # fmt: skip
def test_what_is_unfair_is_told(
    one: str, other: str, code: str, text: str, names: dict[str, Any]
) -> None:
    found = run({"one": one, "two": other}, names)
    assert unfair_notes(found)[code].startswith(text)
    is_same = any(word.startswith("same results") for word in found.equal)
    assert not (is_same and code in ("not-compared", "other-result"))


def test_an_arm_that_gives_its_argument_away_leaves_it_to_the_others() -> None:
    step = jax.jit(lambda p: p + 1, donate_argnums=0)
    names = {"step": step, "p": jnp.ones(1000)}
    found = run({"a": "step(p)", "b": "step(p)"}, names)
    assert [side.failed for side in found.sides] == ["", ""]
    assert found.ratio("b") is not None
    assert not names["p"].is_deleted()


def test_precision_is_aligned_for_a_while() -> None:
    seen: list[str | None] = []
    names = {"look": lambda: seen.append(jax.config.jax_default_matmul_precision)}
    run({"a": "look()", "b": "look()"}, names, align=True)
    assert set(seen) == {"highest"}
    assert jax.config.jax_default_matmul_precision is None


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.int4])
def test_arrays_of_dtypes_that_numpy_lacks_are_compared(dtype: Any) -> None:
    found = run({"a": "y", "b": "(y,)[0]"}, {"y": jnp.ones(3, dtype)}, budget=0.02)
    assert found.equal[0] == "same results"
