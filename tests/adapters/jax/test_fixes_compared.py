"""A fix that gives something else under jit than the code without is none; what is the same."""

import logging
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.compilation_cache import compilation_cache

import ipyjaxbench
from ipyjaxbench.adapters.jax.diagnosis import eager_check
from ipyjaxbench.adapters.jax.diagnosis.eager_check import EagerCall
from ipyjaxbench.usercode.call import Call
from tests.adapters.jax.written import why, written

X = jnp.arange(1.0, 4.0)

TEXT_OF_A_NUMBER = "s = str(float(x[0]))\nreturn len(s)"
TEXT_WITH_A_NUMBER = 'return x * len(f"{float(x[0])}")'
HASHED = 'return x * (hash(str(float(x[0]))) == hash("1.0"))'
CHOSEN_BY_LIST = "n = x[0].item()\nreturn x * (n in [1.0, 2.0])"
DOUBLED = "if x.sum() > 0:\n    x = x * 2\n"
DIFFERENT = [
    TEXT_OF_A_NUMBER,
    TEXT_WITH_A_NUMBER,
    "return x * len(repr(x[0].item() * 1.0))",
    'return {"w": x}.get("w" + str(int(x[0]))[1:], -x)',
    HASHED,
    'n = float(x[0])\nreturn x * (2 if "Tracer" in type(n).__name__ else 3)',
    f"{DOUBLED}return -x if isinstance(x, jax.core.Tracer) else x",
    f"{DOUBLED}return x * len(str(x))",
    "y = x if x.sum() > 0 else -x\nreturn x * (2 if y is x else 3)",
    "y = x[x > 1]\nreturn len(str(y.sum()))",
    CHOSEN_BY_LIST,
]


@pytest.mark.parametrize("lines", DIFFERENT)
def test_code_that_gives_something_else_under_jit_is_not_advised(lines: str) -> None:
    function = written("x", lines)
    for each in (function, jax.jit(function)) if lines is HASHED else (function,):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = why(each, X)
        assert found.fixes == ()
        assert found.advice
        assert "✓ traces" not in str(found)


def test_advice_of_numbers_is_to_compute_them_outside_and_looking_warns_of_nothing() -> None:
    assert "outside jit" in why(written("x", TEXT_OF_A_NUMBER), X).advice
    assert "out of jit" in why(written("x", CHOSEN_BY_LIST), X).advice
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        why(written("x", "n = float(x[0])\nreturn x * n + len(str(np.float32))"), X)


@pytest.mark.parametrize("lines", [TEXT_OF_A_NUMBER, TEXT_WITH_A_NUMBER, HASHED])
def test_no_text_of_a_tracer_is_advised_where_there_are_no_values(lines: str) -> None:
    function = written("x", lines)
    with pytest.raises(jax.errors.ConcretizationTypeError) as caught:
        jax.jit(function)(X)
    assert ipyjaxbench.explain(caught.value).fixes == ()
    assert why(function, jax.ShapeDtypeStruct((3,), "float32")).fixes == ()


SEEN: list[Any] = []
COUNTS = {"calls": 0}
_DRAWN = np.random.default_rng(1)


@jax.jit
def inner(x: Any) -> Any:
    return x * 2


def changes_things(x: Any) -> Any:
    SEEN.append(x)
    COUNTS["calls"] += 1
    print("computed")
    jax.debug.print("at {}", x)
    jax.debug.callback(SEEN.append, x)
    return inner(x) * _DRAWN.random() if x.sum() > 0 else -x


def test_computing_under_jit_leaves_nothing_behind(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    inner(X)
    SEEN.clear()
    drawn = _DRAWN.bit_generator.state
    compiled = inner._cache_size()
    checked = jax.config.jax_disable_jit, jax.config.jax_log_compiles
    with caplog.at_level(logging.WARNING), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert why(changes_things, X).fixes[0].same
    jax.effects_barrier()
    assert (SEEN, COUNTS) == ([], {"calls": 0})
    assert _DRAWN.bit_generator.state == drawn
    assert inner._cache_size() == compiled
    assert (jax.config.jax_disable_jit, jax.config.jax_log_compiles) == checked
    assert capfd.readouterr().out == ""
    assert caplog.records == []


TURNED = "if n is None and x.sum() > 0:\n    x = jnp.sin(x) * 3\nreturn x * 7"


def test_nothing_is_written_to_the_disk_cache(tmp_path: Any) -> None:
    turned = written("x, n=None", TURNED)
    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
    before = {name: getattr(jax.config, name) for name in names}
    compilation_cache.reset_cache()  # that there is none was decided when it was first asked for
    jax.config.update(names[0], str(tmp_path))
    jax.config.update(names[1], 0.0)
    jax.clear_caches()  # or what compares may have been compiled by a test before
    try:
        assert why(turned, X).fixes[0].same
        assert not [*tmp_path.iterdir()]
        jax.jit(turned, static_argnames="n")(X, 1)
        assert [*tmp_path.iterdir()]
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()


ONES = jnp.ones(3)
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
        (ONES, ONES + 0, True), (ONES, ONES[:2], False), (ONES, ONES.astype("float16"), False),
        (np.float32(1), jnp.float32(1), True), (np.arange(3), jnp.arange(3), True),
        (ONES * jnp.nan, ONES * jnp.nan, True), (ONES, ONES * jnp.nan, False),
        (ONES / 0, ONES / 0, True),
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


def call_of(lines: str, value: Any = ONES) -> Call:
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
    assert eager.agrees(Call.from_function(lambda x: x.at[0].set(5), ONES)) is True
    assert eager.how == "with arrays of NumPy"
    assert ONES.tolist() == [1, 1, 1]
    mine = np.ones(3)
    EagerCall(call_of(ASSIGNS, mine)).agrees(call_of(DOUBLED, mine))
    assert mine.tolist() == [1, 1, 1]


def test_what_takes_too_long_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    jax.block_until_ready(ONES * 2)  # is compiled
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
