"""Which results count as the same, and which calls are made to find out."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ipyjaxbench.adapters.jax.diagnosis import eager_check
from ipyjaxbench.adapters.jax.diagnosis.eager_check import EagerCall
from ipyjaxbench.usercode.call import Call
from tests.adapters.jax.written import written

X = jnp.ones(3)
KEY = jax.random.key(0)


class Broken:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (1.0, 1.0 + 6e-4, True),  # the square root of what float32 tells apart, twice
        (1.0, 1.0 + 8e-4, False),
        (jnp.float16(1), jnp.float16(1.05), True),
        (jnp.float16(1), jnp.float16(1.08), False),
        (0.0, 3e-4, True), (0.0, 4e-4, False),
        (3, 3, True), (3, 4, False), (True, False, False), (3, 3.0, False),
        (X, X + 0, True), (X, X[:2], False), (X, X.astype("float16"), False),
        (np.float32(1), jnp.float32(1), True), (np.arange(3), jnp.arange(3), True),
        (X * jnp.nan, X * jnp.nan, True), (X, X * jnp.nan, False), (X / 0, X / 0, True),
        (1j, 1j, True), (1j, 1.1j, False),
        (KEY, jax.random.key(0), True), (KEY, jax.random.key(1), False),
        ("a", "a", True), ("a", "b", False), ("a", 1, False), (1, "a", False),
        (Broken(), Broken(), False),
    ],
)  # fmt: skip
def test_results_are_the_same_as_far_as_their_dtype_goes(
    one: Any, other: Any, *, is_same: bool
) -> None:
    assert eager_check._is_same(one, other) is is_same


def call_of(lines: str, value: Any = X) -> Call:
    return Call.from_function(written("x", lines), value)


DOUBLED, ASSIGNS = "return x * 2", "x[0] = 5\nreturn x"
ENDLESS = "while True:\n    x = x + 0"
HALF = np.zeros(2**19, np.int8)
WRITES = "with open('/nowhere/at/all', 'w'):\n    return x * 2"


@pytest.mark.parametrize(
    ("other", "agrees"),
    [("return x + x", True), ("return x * 3", False), ("return [x * 2]", False),
     ("raise KeyError('no')", False)],
)  # fmt: skip
def test_another_function_agrees_where_it_gives_the_same(other: str, *, agrees: bool) -> None:
    eager = EagerCall(call_of(DOUBLED))
    assert eager.agrees(call_of(other)) is agrees
    assert eager.failure is None
    assert eager.how == "without jit"


def test_what_a_call_raises_is_kept_and_what_it_changes_is_a_copy() -> None:
    eager = EagerCall(call_of("raise KeyError('no')"))
    assert isinstance(eager.failure, KeyError)
    assert eager.agrees(call_of("raise KeyError('no')")) is None
    eager = EagerCall(call_of(ASSIGNS))
    assert eager.agrees(Call.from_function(lambda x: x.at[0].set(5), X)) is True
    assert eager.how == "with arrays of NumPy"
    assert X.tolist() == [1, 1, 1]
    mine = np.ones(3)
    EagerCall(call_of(ASSIGNS, mine)).agrees(call_of(DOUBLED, mine))
    assert mine.tolist() == [1, 1, 1]


def test_what_takes_too_long_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    jax.block_until_ready(X * 2)  # is compiled
    monkeypatch.setattr(eager_check, "MAX_SECONDS", 0.2)
    assert EagerCall(call_of(ENDLESS)).failure is None
    assert EagerCall(call_of(ENDLESS)).agrees(call_of(DOUBLED)) is None
    assert EagerCall(call_of(DOUBLED)).agrees(call_of(ENDLESS)) is None


@pytest.mark.parametrize(
    ("call", "is_made"),
    [
        (call_of(DOUBLED), True),
        (call_of(DOUBLED, jax.ShapeDtypeStruct((3,), "float32")), False),
        (call_of(WRITES), False),
        (call_of(DOUBLED, np.zeros(2**20, np.int8)), True),
        (call_of(DOUBLED, np.zeros(2**20 + 1, np.int8)), False),
        (Call.from_function(lambda x, y: x, HALF, y=np.zeros(2**19 + 1, np.int8)), False),
    ],
)
def test_a_call_is_made_where_it_is_small_known_and_acts_on_nothing(
    call: Call, *, is_made: bool
) -> None:
    assert eager_check._may_be_made(call) is is_made
