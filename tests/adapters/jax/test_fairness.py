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
        "small": X[:100, :100].copy(), "f": lambda x: jnp.tanh(x @ x),
        "g": jax.jit(lambda x: jnp.tanh(x @ x)), "both": jax.jit(lambda x: (x, x + 1)),
    }  # fmt: skip


def unfair_notes(found: Comparison) -> dict[str, str]:
    return {note.code: note.text for note in found.notes if note.code in UNFAIR}


@pytest.mark.parametrize(
    "arms",
    [
        {"numpy": "np.dot(x, x)", "jax": "jnp.dot(xj, xj)"},
        {"one": "np.dot(x, x.T)", "two": "x @ x.T"},
        {"numpy": "np.tanh(x @ x)", "jax": "f(xj)"},
        {"a": "g(xj)", "b": "g(xj)"},
        {"a": "both(xj)", "b": "both(xj)"},
        {"numpy": "x.sum()", "again": "x.sum()"},
    ],
)
def test_what_is_fair_is_left_alone(arms: dict[str, str], names: dict[str, Any]) -> None:
    found = run(arms, names)
    assert unfair_notes(found) == {}
    assert any(word.startswith("same results") for word in found.equal)


@pytest.mark.parametrize(
    ("arms", "code", "text"),
    [
        (
            {"numpy": "np.dot(wide, wide)", "jax": "jnp.dot(xj, xj)"},
            "other-dtype",
            "Different dtypes: float32 (jax); float64 (numpy).",
        ),
        (
            {"numpy": "np.dot(x, x.T)", "jax": "jnp.dot(xj, xj)"},
            "other-result",
            "The result of jax differs from that of numpy by ",
        ),
        (
            {"numpy": "np.dot(x, x)", "jax": "jnp.dot(other, other)"},
            "other-data",
            "Different inputs: jax reads other, numpy reads x, and their values differ.",
        ),
        (
            {"jax": "jnp.dot(xj, xj)", "from numpy": "jnp.dot(x, x)"},
            "copies-alone",
            ("Not like for like: only from numpy copies data."
            " In every call, x may be copied from the host to jax cpu:0"),
        ),
        (
            {"numpy": "x @ x.T", "jax": "xj @ xj.T"},
            "half-alone",
            ("Not like for like: only numpy does half the work."
            " NumPy uses the symmetry of x @ x.T"),
        ),
        ({"eager": "f(xj)", "jitted": "g(xj)"}, "eager-beside-compiled",
         "jitted is compiled, eager is not."),
        (
            {"numpy": "np.dot(small, small)", "jax": "jnp.dot(xj, xj)"},
            "other-result",
            "The result of jax differs from that of numpy: shape [200, 200] instead of [100, 100].",
        ),
        ({"one": "jnp.dot(xj, xj)", "two": "both(xj)"}, "other-result",
         "The result of two differs from that of one: 2 arrays instead of 1."),
        ({"a": "(lambda: 1)", "b": "(lambda: 2)"}, "not-compared",
         "The results of a and b were not compared: they contain no readable numbers."),
        ({"a": "1 + 1", "b": "3"}, "other-result", "The result of b differs from that of a."),
    ],
)  # fmt: skip
def test_what_is_unfair_is_told(
    arms: dict[str, str], code: str, text: str, names: dict[str, Any]
) -> None:
    notes = unfair_notes(run(arms, names))
    assert notes[code].startswith(text)


def test_an_arm_that_gives_its_argument_away_leaves_it_to_the_others() -> None:
    step = jax.jit(lambda p: p + 1, donate_argnums=0)
    names = {"step": step, "p": jnp.ones(1000)}
    found = run({"a": "step(p)", "b": "step(p)"}, names)
    assert [side.failed for side in found.sides] == ["", ""]
    assert found.ratio("b") is not None
    assert not names["p"].is_deleted()


def test_nan_is_equal_to_nan() -> None:
    names = {"np": np, "jnp": jnp, "h": np.array([1.0, np.nan], np.float32)}
    names["d"] = jnp.asarray(names["h"])
    assert unfair_notes(run({"numpy": "h * 1", "jax": "d * 1"}, names)) == {}
    text = unfair_notes(run({"numpy": "h * 1", "jax": "jnp.nan_to_num(d)"}, names))["other-result"]
    assert text.startswith("The result of jax differs from that of numpy")


def test_precision_is_aligned_for_a_while() -> None:
    seen: list[str | None] = []
    names = {"look": lambda: seen.append(jax.config.jax_default_matmul_precision)}
    run({"a": "look()", "b": "look()"}, names, align=True)
    assert set(seen) == {"highest"}
    assert jax.config.jax_default_matmul_precision is None


ODD = {
    "objects": np.array([1, "a"], object),
    "strings": np.array(["a", "b"]),
    "dates": np.array(["2020-01-01"], "datetime64[D]"),
    "fields": np.zeros(3, [("a", "f4")]),
    "empty": np.zeros((0, 3)),
    "large": np.array([2**62]),
    "bfloat16": jnp.ones(3, jnp.bfloat16),
    "int4": jnp.ones(3, jnp.int4),
}


@pytest.mark.parametrize("name", ODD)
def test_arrays_of_any_dtype_are_compared(name: str) -> None:
    found = run({"a": name, "b": f"({name},)[0]"}, dict(ODD), budget=0.02)
    assert found.equal[0] == "same results"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("strings", "strings[::-1]"),
        ("dates", "dates + np.timedelta64(1, 'D')"),
        ("large", "large + 1"),
        ("np.array([1.0, 2.0])", "np.array([1.0, np.inf])"),
    ],
)
def test_arrays_that_differ_are_told_whatever_they_are_of(one: str, other: str) -> None:
    notes = unfair_notes(run({"a": one, "b": other}, {**ODD, "np": np}, budget=0.02))
    assert notes["other-result"] == "The result of b differs from that of a."


def test_what_cannot_be_looked_at_is_not_called_equal() -> None:
    found = run({"a": "key", "b": "(key,)[0]"}, {"key": jax.random.key(0)}, budget=0.02)
    assert unfair_notes(found) == {
        "not-compared": "The results of a and b were not compared: they contain no readable"
        " numbers."
    }
    assert not any(word.startswith("same results") for word in found.equal)


def test_the_same_data_in_another_order_is_fair() -> None:
    names = {"x": X, "y": X + 1}
    assert unfair_notes(run({"a": "x * 2 + y", "b": "y + 2 * x"}, names)) == {}
