"""What makes a comparison with JAX unfair is told, and the fair twin is left alone."""

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


NAMES = {
    "np": np, "jnp": jnp, "x": X, "xj": jnp.asarray(X), "wide": X.astype(np.float64),
    "f": lambda x: jnp.tanh(x @ x), "g": jax.jit(lambda x: jnp.tanh(x @ x)),
    "key": jax.random.key(0),
}  # fmt: skip


def unfair_notes(found: Comparison) -> dict[str, str]:
    return {note.code: note.text for note in found.notes if note.code in UNFAIR}


def test_what_is_fair_is_left_alone() -> None:
    found = run({"numpy": "np.dot(x, x)", "jax": "jnp.dot(xj, xj)"}, dict(NAMES))
    assert unfair_notes(found) == {}
    assert any(word.startswith("same results") for word in found.equal)


@pytest.mark.parametrize(
    ("one", "other", "code", "text"),
    [
        ("np.dot(wide, wide)", "jnp.dot(xj, xj)", "other-dtype",
         "Different dtypes: float32 (two); float64 (one)."),
        ("jnp.dot(xj, xj)", "jnp.dot(x, x)", "copies-alone",
         ("Not like for like: only two copies data."
          " In every call, x may be copied from the host to jax cpu:0")),
        ("f(xj)", "g(xj)", "eager-beside-compiled", "two is compiled, one is not."),
        ("key", "(key,)[0]", "not-compared",
         "The results of one and two were not compared: they contain no readable numbers."),
    ],
)  # fmt: skip
def test_what_is_unfair_is_told(one: str, other: str, code: str, text: str) -> None:
    found = run({"one": one, "two": other}, dict(NAMES))
    assert unfair_notes(found)[code].startswith(text)
    is_same = any(word.startswith("same results") for word in found.equal)
    assert not (is_same and code == "not-compared")


def test_precision_is_aligned_for_a_while() -> None:
    seen: list[str | None] = []
    names = {"look": lambda: seen.append(jax.config.jax_default_matmul_precision)}
    run({"a": "look()", "b": "look()"}, names, align=True)
    assert set(seen) == {"highest"}
    assert jax.config.jax_default_matmul_precision is None
