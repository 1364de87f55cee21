"""Which fault is told, and of which argument: behind flags, in libraries, in bodies of loops."""

import asyncio
import json
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import ipyjaxbench
from ipyjaxbench import Diagnosis, SnippetError, UntraceableError
from ipyjaxbench.adapters.jax.diagnosis import blame, diagnose
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.usercode.call import Call

X = jnp.arange(6.0) - 2
ONE = jnp.float32(1.0)
CLOCK = Clock.elapsed()


def why(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Diagnosis:
    with pytest.raises(UntraceableError) as caught:
        ipyjaxbench.graph(function, *args, **kwargs)
    return caught.value.diagnosis


def explained(function: Callable[..., Any], *args: Any) -> Diagnosis:
    with pytest.raises(Exception) as caught:  # noqa: PT011  any error of JAX's
        function(*args)
    return ipyjaxbench.explain(caught.value)


def behind_a_flag(x: Any, flag: Any) -> Any:
    if flag:
        x = x[x > 0]
    return x


def behind_one(x: Any, flag: Any) -> Any:
    if flag:
        x = x * 2
    return x[x > 0]


def behind_four(x: Any, a: Any, b: Any, c: Any, n: Any) -> Any:
    if a and b and c:
        for _ in range(n):
            x = x * 2
        return x[x > 0]
    return x


def test_a_flag_before_the_fault_is_not_blamed_for_it() -> None:
    found = why(behind_a_flag, X, True)
    assert (found.source, found.blamed, found.static) == ("x = x[x > 0]", ("x",), ("flag",))
    cost = why(behind_one, X, True).fixes[0].cost
    assert cost.endswith("; with static_argnames='flag'")
    found = why(behind_four, X, True, True, True, 2)
    assert (found.source, found.blamed) == ("return x[x > 0]", ("x",))
    assert found.static == ("a", "b", "c", "n")
    assert found.fixes[0].cost.endswith("with static_argnames=('a', 'b', 'c', 'n')")
    assert "a, b, c, n must be static too: their values are needed before that line" in " ".join(
        str(found).split()
    )


def test_a_flag_that_is_the_only_fault_makes_no_fault() -> None:
    assert ipyjaxbench.graph(behind_a_flag, X, False).static_argnames == ("flag",)


class Thing:
    pass


def rows(x: Any) -> Iterator[Any]:
    yield x


def word(x: Any) -> Any:
    return "done"


def tree(x: Any) -> Any:
    return {"a": x, "b": [Thing()]}


async def awaited(x: Any) -> Any:
    return x


def unawaited(x: Any) -> Any:
    return awaited(x)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (rows, "the result is a generator"),
        (word, "the result is a str"),
        (tree, "result['b'][0] is a Thing"),
        (awaited, "the result is a coroutine: the function is async"),
        (unawaited, "the result is a coroutine"),
    ],
)
def test_a_result_that_is_no_array_is_called_so(function: Callable[..., Any], message: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as where a coroutine was never awaited
        found = why(function, X)
    assert (found.error, found.message, found.blamed) == ("TypeError", message, ())
    assert found.because.startswith("The function must return arrays")
    assert found.line
    assert asyncio.run(awaited(1)) == 1


class Labeler:
    kind = "done"

    def label(self, x: Any) -> Any:
        x = x + 1
        return self.kind


def test_the_line_of_a_methods_return_is_shown() -> None:
    found = why(Labeler().label, X)
    assert (found.message, found.source) == ("the result is a str", "return self.kind")


def encoded(x: Any) -> Any:
    text = json.dumps({"a": x})
    return text, x


def through_a_library(x: Any) -> Any:
    return jnp.linalg.norm(x.reshape(jnp.sum(x).astype(int), -1))


def test_the_users_own_line_is_told_where_a_library_fails() -> None:
    assert why(encoded, X).source == 'text = json.dumps({"a": x})'
    assert why(through_a_library, X).source.startswith("return jnp.linalg.norm")
    optax = pytest.importorskip("optax")

    def loss(x: Any) -> Any:
        return optax.softmax_cross_entropy_with_integer_labels(x, x[:3])

    assert why(loss, jnp.ones((3, 4))).source.startswith("return optax.softmax")


@dataclass(order=True)
class Ranked:
    rank: Any


def ordered(x: Any) -> Any:
    return x if Ranked(x[0]) < Ranked(x[1]) else -x


def test_code_that_is_generated_is_not_told_as_the_users_line() -> None:
    assert why(ordered, X).source == "return x if Ranked(x[0]) < Ranked(x[1]) else -x"


def caught_by_user(x: Any) -> Any:
    try:
        return x[x > 0] + 1
    except Exception:
        raise RuntimeError("no") from None


def test_an_error_that_the_code_turns_into_another_is_seen() -> None:
    assert why(caught_by_user, X).error == "NonConcreteBooleanIndexError"


def in_vmap(x: Any, y: Any) -> Any:
    return x + jax.vmap(lambda a: a if a > 0 else -a)(y)


def in_grad(x: Any) -> Any:
    return jax.grad(lambda a: a if a > 0 else -a)(x)


def in_scan(x: Any, y: Any) -> Any:
    def body(c: Any, a: Any) -> Any:
        if a > 0:
            c = c + a
        return c, a

    return jax.lax.scan(body, x, y)


def in_jit(x: Any, y: Any) -> Any:
    @jax.jit
    def inner(q: Any) -> Any:
        return q if q.sum() > 0 else -q

    return inner(y) + x


@pytest.mark.parametrize(
    ("function", "args", "inside", "blamed", "code"),
    [
        (in_vmap, (ONE, X), "in_vmap.<lambda>", "y",
         "return x + jax.vmap(lambda a: jnp.where(a > 0, a, -a))(y)"),
        (in_grad, (ONE,), "in_grad.<lambda>", "x",
         "return jax.grad(lambda a: jnp.where(a > 0, a, -a))(x)"),
        (in_scan, (ONE, X), "in_scan.body", "y", "c = jnp.where(a > 0, c + a, c)"),
        (in_jit, (ONE, X), "in_jit.inner", "y", "return jnp.where(q.sum() > 0, q, -q)"),
    ],
)  # fmt: skip
def test_in_a_body_its_line_is_told_and_the_argument_of_the_call(
    function: Callable[..., Any], args: tuple, inside: str, blamed: str, code: str
) -> None:
    found = why(function, *args)
    assert (found.inside, found.blamed) == (inside, (blamed,))
    assert found.fixes[0].code == code


def asserting(x: Any) -> Any:
    assert x > 0
    return x


def test_an_assertion_gets_its_own_advice() -> None:
    found = why(asserting, ONE)
    assert found.because.startswith("assert needs a concrete value")
    assert "checkify" in found.advice
    assert found.fixes == ()


def raising(x: Any) -> Any:
    if (x < 0).any():
        raise ValueError("negative")
    return x


def looked_up(x: Any) -> Any:
    return {0: "a"}[x]


def shaped(x: Any, n: Any) -> Any:
    return x + jnp.zeros((n, "a"))


@pytest.mark.parametrize(
    ("function", "args", "because", "advice"),
    [
        (raising, (X,), "Whether to raise depends on a value", "checkify.check(condition"),
        (looked_up, (X[0],), "Looking something up in a dict", "jax.lax.switch"),
        (
            shaped,
            (X, jnp.array(3)),
            "A shape depends on a value",
            "a Python number, and make it static",
        ),
    ],
)
def test_what_cannot_be_mended_by_rewriting_gets_fitting_advice(
    function: Callable[..., Any], args: tuple, because: str, advice: str
) -> None:
    found = why(function, *args)
    if found.error == "FutureWarning":
        pytest.skip("this version of JAX looks tracers up, and warns")
    assert found.because.startswith(because)
    assert advice in found.advice
    assert found.fixes == ()


def cast(x: Any) -> Any:
    if bool(x > 0) or x < -5:
        return x
    return jnp.zeros(x.shape, "float16")


def test_code_that_fails_without_jit_too_is_said_to() -> None:
    def elementwise(x: Any) -> Any:
        return x if x > 0 else -x

    found = why(elementwise, X)
    assert found.eager.startswith("ValueError: The truth value of an array")
    assert "without jit fails the same way" in " ".join(str(found).split())
    assert why(cast, ONE).eager == ""


@jax.jit
def plain_jit(x: Any, neg: Any) -> Any:
    return -x if neg else x


static_jit = jax.jit(plain_jit.__wrapped__, static_argnames="neg")


@pytest.mark.parametrize(("args", "kwargs"), [((X, True), {}), ((X,), {"neg": True})])
def test_what_a_function_has_static_already_is_not_told_again(args: tuple, kwargs: dict) -> None:
    found = ipyjaxbench.graph(static_jit, *args, **kwargs)
    assert (found.static_argnames, found.fixed) == ((), ("neg",))
    assert "static_argnames" not in str(found)
    fixes = why(plain_jit, *args, **kwargs).fixes
    assert fixes[0].code == "@partial(jax.jit, static_argnames='neg')"


# What tracing leaves behind

LAST: Any = None
SEEN: list[Any] = []
BY_NAME: dict[str, Any] = {"old": 1}
QUEUE: deque[Any] = deque(maxlen=2)


def keeps(x: Any) -> Any:
    global LAST
    LAST = x * 2
    SEEN.append(x)
    BY_NAME["new"] = (x, 1)
    QUEUE.append(x)
    return x


class Counter:
    made = 0
    latest: Any = None

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.last: Any = "old"

    def __call__(self, x: Any) -> Any:
        self.last = x
        self.values.append(x)
        self.more = x
        Counter.latest = x
        Counter.made += 1
        return x * 2


def test_tracers_that_the_code_keeps_are_taken_out_again_and_told() -> None:
    counter = Counter()

    def both(x: Any) -> Any:
        return keeps(x) + counter(x)

    note, other = ipyjaxbench.graph(both, X).notes
    assert (LAST, SEEN, BY_NAME, [*QUEUE]) == (None, [], {"old": 1}, [])
    assert vars(counter) == {"values": [], "last": "old"}
    assert Counter.latest is None
    assert Counter.made == 0
    assert (other.code, "Counter.made" in other.text) == ("changed-while-traced", True)
    assert note.code == "tracer-kept"
    for name in ("LAST", "SEEN", "BY_NAME", "QUEUE", "counter.last", "counter.more"):
        assert name in note.text


def test_a_later_stage_leaves_no_tracer_either() -> None:
    found = ipyjaxbench.graph(keeps, X)
    found.text("stablehlo")
    assert found.memory is not None
    assert (LAST, SEEN) == (None, [])


def test_what_refuses_to_be_put_back_is_told() -> None:
    class Key:
        is_broken = False

        def __hash__(self) -> int:
            if self.is_broken:
                raise TypeError
            return 1

    by_key, key = {Key(): 0}, Key()

    def fills(x: Any) -> Any:
        by_key[key] = x
        key.is_broken = True
        return x

    note, _ = ipyjaxbench.graph(fills, X).notes
    assert "by_key" in note.text
    assert note.text.endswith("It could not be restored.")


def test_a_metaclass_does_not_keep_a_class_from_being_put_back() -> None:
    class Sealed(type):
        def __setattr__(cls, name: str, value: Any) -> None:
            if value is None:
                raise AttributeError(name)
            super().__setattr__(name, value)

    class Cache(metaclass=Sealed):
        value = None

    def fills(x: Any) -> Any:
        Cache.value = x
        return x

    (note,) = ipyjaxbench.graph(fills, X).notes
    assert note.text.endswith("The old value is restored.")
    assert Cache.value is None


# How long it takes

TRIED: list[int] = []


def many(x: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any) -> Any:
    TRIED.append(1)
    return x[x > 0] + jnp.sort(x[x < 0])


def test_no_more_than_32_choices_are_tried_and_they_leave_nothing() -> None:
    TRIED.clear()
    found = why(many, X, *range(7))
    assert found.tries == 32
    assert TRIED == []


def repeated(x: Any, n: Any) -> Any:
    for _ in range(n):
        x = x * 1.5
    return x


def test_a_loop_that_would_be_unrolled_without_an_end_is_given_up() -> None:
    found = why(repeated, X, 3_000_000)
    assert found.stopped
    assert found.blamed == ("n",)
    assert "then stopped: it took too long" in str(found)
    assert found.fixes[0].code.startswith("x = jax.lax.fori_loop(0, n")


def slowly(x: Any, flag: Any) -> Any:
    end = CLOCK.now() + 3e8
    while CLOCK.now() < end:
        pass
    return x * 2 if flag else x


def test_what_jax_names_may_take_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "_MOST_SECONDS", 0.1)
    monkeypatch.setattr(tracing, "_MOST_TURNS", 10**9)
    assert ipyjaxbench.graph(slowly, X, True).static_argnames == ("flag",)


def leaks_then_fails(x: Any, a: Any, b: Any) -> Any:
    TRIED.append(1)
    return x + STALE[0]


STALE: list[Any] = []


def test_a_tracer_of_an_earlier_trace_ends_the_search() -> None:
    STALE.clear()
    jax.jit(lambda x: STALE.append(x) or x)(X)
    TRIED.clear()
    found = why(leaks_then_fails, X, 1, 2)
    assert (found.error, found.tries) == ("UnexpectedTracerError", 1)


# Errors that were raised before


def test_what_is_no_error_is_refused_in_one_line() -> None:
    with pytest.raises(SnippetError, match="explain needs an exception, not 3"):
        ipyjaxbench.explain(3)  # type: ignore[arg-type]


def closing(k: Any) -> Callable[..., Any]:
    def inner(x: Any, *rest: Any, scale: Any = 1.0, **more: Any) -> Any:
        y = x * scale * k
        return y if y.sum() > 0 else -y

    return inner


class Holder:
    def run(self, x: Any) -> Any:
        return x if x.sum() > 0 else -x


@pytest.mark.parametrize(
    ("function", "args", "code"),
    [
        (jax.jit(closing(2.0)), (X, X), "return jnp.where(y.sum() > 0, y, -y)"),
        (jax.jit(Holder().run), (X,), "return jnp.where(x.sum() > 0, x, -x)"),
        (jax.jit(in_scan), (ONE, X), "c = jnp.where(a > 0, c + a, c)"),
        (plain_jit, (X, True), "@partial(jax.jit, static_argnames='neg')"),
    ],
)
def test_an_error_is_explained_from_its_traceback(
    function: Callable[..., Any], args: tuple, code: str
) -> None:
    assert code in [fix.code for fix in explained(function, *args).fixes]


def test_code_whose_source_is_gone_is_explained_without_a_line() -> None:
    names: dict[str, Any] = {}
    exec("def gone(x):\n    return x if x.sum() > 0 else -x\n", names)
    found = why(names["gone"], X)
    assert (found.source, found.blamed, found.fixes) == ("", ("x",), ())
    assert "2: (source not available)" in str(found)
    assert explained(jax.jit(names["gone"]), X).error == "TracerBoolConversionError"


TURNS: list[int] = []


def fails_once(x: Any, y: Any) -> Any:
    TURNS.append(1)
    return x[y > 0] if len(TURNS) == 1 else x


def test_an_error_that_does_not_come_again_is_explained_as_it_was() -> None:
    TURNS.clear()
    found = explained(jax.jit(fails_once), X, X)
    assert (found.error, found.tries) == ("NonConcreteBooleanIndexError", 1)
    assert found.source.startswith("return x[y > 0]")


def sliced(x: Any, n: Any) -> Any:
    return x[:n]


def test_an_argument_that_is_to_be_static_is_tried_with_a_value_that_it_could_have() -> None:
    fixes = explained(jax.jit(sliced), X, 3).fixes
    (fix,) = (fix for fix in fixes if "static_argnames='n'" in fix.code)
    assert fix.cost == "compiles once per value; verified with 2"
    (fix,) = (fix for fix in explained(plain_jit, X, True).fixes if "'neg'" in fix.code)
    assert fix.cost == "compiles once per value; verified with True"


def test_what_the_code_itself_raises_while_it_is_traced_is_left_to_python() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        jax.jit(lambda x: x * (1 / 0))(X)
    with pytest.raises(SnippetError, match="ZeroDivisionError did not come from tracing"):
        ipyjaxbench.explain(caught.value)


def assigned(x: Any, i: Any, v: Any) -> Any:
    x[i] = v
    return x


def test_the_array_that_is_assigned_to_is_to_blame_and_not_what_is_assigned() -> None:
    assert why(assigned, X, 1, X[0]).blamed == ("x",)


def test_only_integers_of_64_bits_are_numbers_of_jax() -> None:
    for value, is_number in (
        (2**63 - 1, True), (2**63, False), (-(2**63), True), (-(2**63) - 1, False), (2.5, True),
        (X, True), ([1, "a"], True), (len, True), ("a", False), (None, False), ([], False),
    ):  # fmt: skip
        assert blame._is_no_number(value) is not is_number


def test_a_function_is_named_where_it_is_another_than_the_one_that_was_called() -> None:
    call = Call.from_function(in_jit, X, X)
    (inner,) = (each for each in in_jit.__code__.co_consts if hasattr(each, "co_code"))
    assert diagnose._inside(call, in_jit.__code__) == ""
    assert diagnose._inside(call, inner) == "in_jit.inner"
    elsewhere = compile("def f(): pass", "/some/where/other.py", "exec").co_consts[0]
    assert diagnose._inside(call, elsewhere) == "f (other.py)"
    assert diagnose._inside(call, compile("1", "<cell>", "exec")) == ""
