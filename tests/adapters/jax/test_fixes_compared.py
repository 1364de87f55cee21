"""A fix that gives something else under jit than the code without is none; what is the same."""

import logging
import sys
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

TEXT_WITH_A_NUMBER = 'return x * len(f"{float(x[0])}")'
HASHED = 'return x * (hash(str(float(x[0]))) == hash("1.0"))'
CHOSEN_BY_LIST = "n = x[0].item()\nreturn x * (n in [1.0, 2.0])"
DOUBLED = "if x.sum() > 0:\n    x = x * 2\n"
DIFFERENT = [
    TEXT_WITH_A_NUMBER,
    'return {"w": x}.get("w" + str(int(x[0]))[1:], -x)',
    HASHED,
    'n = float(x[0])\nreturn x * (2 if "Tracer" in type(n).__name__ else 3)',
    f"{DOUBLED}return -x if isinstance(x, jax.core.Tracer) else x",
    "y = x if x.sum() > 0 else -x\nreturn x * (2 if y is x else 3)",
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


def test_no_text_of_a_tracer_is_advised_where_there_are_no_values() -> None:
    function = written("x", TEXT_WITH_A_NUMBER)
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
    print("computed", np.random.rand())
    jax.debug.print("at {}", x)
    jax.debug.callback(SEEN.append, x)
    return inner(x) * _DRAWN.random() if x.sum() > 0 else -x


def test_computing_under_jit_leaves_nothing_behind(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    inner(X)
    SEEN.clear()
    drawn, of_all = _DRAWN.bit_generator.state, np.random.get_state()[1].copy()
    compiled = inner._cache_size()
    with caplog.at_level(logging.WARNING), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert why(changes_things, X).fixes[0].same
    jax.effects_barrier()
    assert (SEEN, COUNTS) == ([], {"calls": 0})
    assert _DRAWN.bit_generator.state == drawn
    assert (np.random.get_state()[1] == of_all).all()
    assert inner._cache_size() == compiled
    assert not jax.config.jax_disable_jit
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


#: Floats may differ by the square root of what their dtype tells apart, twice.
SAME = (
    (1.0, 1.0 + 6e-4), (jnp.float16(1), jnp.float16(1.05)), (0.0, 3e-4), (3, 3), (ONES, ONES + 0),
    (np.arange(3), jnp.arange(3)), (ONES * jnp.nan, ONES * jnp.nan), (ONES / 0, ONES / 0),
    (1j, 1j), (KEY, jax.random.key(0)), ("a", "a"),
)  # fmt: skip
OTHER = (
    (1.0, 1.0 + 8e-4), (jnp.float16(1), jnp.float16(1.08)), (0.0, 4e-4), (3, 4), (True, False),
    (3, 3.0), (ONES, ONES[:2]), (ONES, ONES.astype("float16")), (ONES, ONES * jnp.nan), (1j, 1.1j),
    (KEY, jax.random.key(1)), ("a", "b"), ("a", 1), (1, "a"), (Broken(), Broken()),
)  # fmt: skip


def test_results_are_the_same_as_far_as_their_dtype_goes() -> None:
    assert [pair for pair in SAME if eager_check._is_same(*pair) is not True] == []
    assert [pair for pair in OTHER if eager_check._is_same(*pair) is not False] == []


def call_of(lines: str, value: Any = ONES) -> Call:
    return Call.from_function(written("x", lines), value)


DOUBLED, ASSIGNS = "return x * 2", "x[0] = 5\nreturn x"
ENDLESS = "while True:\n    x = x + 0"
WRITES = "with open('/nowhere/at/all', 'w'):\n    return x * 2"


def test_another_function_agrees_where_it_gives_the_same() -> None:
    eager = EagerCall(call_of(DOUBLED))
    assert eager.agrees(call_of("return x + x")) is True
    for other in ("return x * 3", "return [x * 2]", "raise KeyError('no')"):
        assert eager.agrees(call_of(other)) is False
    assert (eager.failure, eager.how) == (None, "without jit")


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
    assert sys.gettrace() is None
    assert EagerCall(call_of(ENDLESS)).agrees(call_of(DOUBLED)) is None
    assert EagerCall(call_of(DOUBLED)).agrees(call_of(ENDLESS)) is None


def test_a_call_is_made_where_it_is_small_known_and_acts_on_nothing() -> None:
    half = np.zeros(2**19, np.int8)
    for call, is_made in (
        (call_of(DOUBLED, np.zeros(2**20, np.int8)), True), (call_of(WRITES), False),
        (Call.from_function(jax.nn.softmax, ONES), True),
        (call_of(DOUBLED, jax.ShapeDtypeStruct((3,), "float32")), False),
        (Call.from_function(lambda x, y: x, half, y=np.zeros(2**19 + 1, np.int8)), False),
    ):  # fmt: skip
        assert eager_check._may_be_made(call) is is_made
