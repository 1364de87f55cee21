"""Which fault is told, and of which argument or result: behind flags, in libraries, in loops."""

import asyncio
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import ipyjaxbench
from ipyjaxbench import Diagnosis, SnippetError
from ipyjaxbench.adapters.jax.diagnosis import blame, diagnose, return_types
from ipyjaxbench.adapters.jax.diagnosis.return_types import NoDataError
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.usercode.call import Call
from tests.adapters.jax.written import why, written

X = jnp.arange(6.0) - 2
ONE = jnp.float32(1.0)
CLOCK = Clock.elapsed()


def explained(function: Callable[..., Any], *args: Any) -> Diagnosis:
    with pytest.raises(Exception) as caught:  # noqa: PT011  any error of JAX's
        function(*args)
    return ipyjaxbench.explain(caught.value)


BEHIND_A_FLAG = written("x, flag", "if flag:\n    x = x[x > 0]\nreturn x")
BEHIND_FOUR = """\
if a and b and c:
    for _ in range(n):
        x = x * 2
    return x[x > 0]
return x"""


def test_who_is_to_blame_is_no_flag_and_nothing_that_is_assigned() -> None:
    found = why(BEHIND_A_FLAG, X, True)
    assert (found.source, found.blamed, found.static) == ("x = x[x > 0]", ("x",), ("flag",))
    behind_one = written("x, flag", "if flag:\n    x = x * 2\nreturn x[x > 0]")
    assert why(behind_one, X, True).fixes[0].cost.endswith("; with static_argnames='flag'")
    found = why(written("x, a, b, c, n", BEHIND_FOUR), X, True, True, True, 2)
    assert (found.source, found.blamed) == ("return x[x > 0]", ("x",))
    assert found.static == ("a", "b", "c", "n")
    assert found.fixes[0].cost.endswith("with static_argnames=('a', 'b', 'c', 'n')")
    told = "a, b, c, n must be static too: their values are needed before that line"
    assert told in " ".join(str(found).split())
    assert ipyjaxbench.graph(BEHIND_A_FLAG, X, False).static_argnames == ("flag",)
    assert why(written("x, i, v", "x[i] = v\nreturn x"), X, 1, X[0]).blamed == ("x",)


class Owl:
    pass


async def awaited(x: Any) -> Any:
    return x


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (written("x", "yield x"), "the result is a generator"),
        (written("x", "return 'done'"), "the result is a str"),
        (
            written("x", "return {'a': x, 'b': [Owl()]}", Owl=Owl),
            "result['b'][0] is an Owl",
        ),
        (awaited, "the result is a coroutine: the function is async"),
        (written("x", "return awaited(x)", awaited=awaited), "the result is a coroutine"),
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


@dataclass(order=True)
class Ranked:
    rank: Any


CAUGHT = "try:\n    return x[x > 0] + 1\nexcept Exception:\n    raise RuntimeError('no') from None"


def test_the_users_own_line_is_told() -> None:
    found = why(Labeler().label, X)
    assert (found.message, found.source) == ("the result is a str", "return self.kind")
    assert why(written("x", CAUGHT), X).error == "NonConcreteBooleanIndexError"
    names = {"Ranked": Ranked, "json": json}
    for line in (
        'text = json.dumps({"a": x})',
        "return jnp.linalg.norm(x.reshape(jnp.sum(x).astype(int), -1))",
        "return x if Ranked(x[0]) < Ranked(x[1]) else -x",  # compared by code that is generated
    ):
        assert why(written("x", line, **names), X).source == line
    optax = pytest.importorskip("optax")
    line = "return optax.softmax_cross_entropy_with_integer_labels(x, x[:3])"
    assert why(written("x", line, optax=optax), X).source == line


BY_VMAP = "return x + jax.vmap(lambda a: a if a > 0 else -a)(y)"
BY_GRAD = "return jax.grad(lambda a: a if a > 0 else -a)(x)"
IN_SCAN = """\
def body(c, a):
    if a > 0:
        c = c + a
    return c, a
return jax.lax.scan(body, x, y)"""
IN_JIT = """\
@jax.jit
def inner(q):
    return q if q.sum() > 0 else -q
return inner(y) + x"""


@pytest.mark.parametrize(
    ("lines", "inside", "blamed", "code"),
    [
        (BY_VMAP, "f.<lambda>", "y", BY_VMAP.replace("a if a > 0 else -a",
                                                     "jnp.where(a > 0, a, -a)")),
        (BY_GRAD, "f.<lambda>", "x", BY_GRAD.replace("a if a > 0 else -a",
                                                     "jnp.where(a > 0, a, -a)")),
        (IN_SCAN, "f.body", "y", "c = jnp.where(a > 0, c + a, c)"),
        (IN_JIT, "f.inner", "y", "return jnp.where(q.sum() > 0, q, -q)"),
    ],
)  # fmt: skip
def test_in_a_body_its_line_is_told_and_the_argument_of_the_call(
    lines: str, inside: str, blamed: str, code: str
) -> None:
    found = why(written("x, y", lines), ONE, X)
    assert (found.inside, found.blamed) == (inside, (blamed,))
    assert found.fixes[0].code == code


@pytest.mark.parametrize(
    ("lines", "args", "because", "advice"),
    [
        ("assert x > 0\nreturn x", (ONE,), "assert needs a concrete value", "checkify"),
        ("if (x < 0).any():\n    raise ValueError('negative')\nreturn x", (X,),
         "Whether to raise depends on a value", "checkify.check(condition"),
        ("return {0: 'a'}[x]", (X[0],), "Looking something up in a dict", "jax.lax.switch"),
        ("return x + jnp.zeros((n, 'a'))", (X, jnp.array(3)), "A shape depends on a value",
         "a Python number, and make it static"),
    ],
)  # fmt: skip
def test_what_cannot_be_mended_by_rewriting_gets_fitting_advice(
    lines: str, args: tuple[Any, ...], because: str, advice: str
) -> None:
    found = why(written("x, n" if len(args) > 1 else "x", lines), *args)
    if found.error == "FutureWarning":
        pytest.skip("this version of JAX looks tracers up, and warns")
    assert found.because.startswith(because)
    assert advice in found.advice
    assert found.fixes == ()


def test_code_that_fails_without_jit_too_is_said_to() -> None:
    found = why(written("x", "return x if x > 0 else -x"), X)
    assert found.eager.startswith("ValueError: The truth value of an array")
    assert "without jit fails the same way" in " ".join(str(found).split())
    cast = "if bool(x > 0) or x < -5:\n    return x\nreturn jnp.zeros(x.shape, 'float16')"
    assert why(written("x", cast), ONE).eager == ""


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


def keeps(x: Any) -> Any:
    global LAST
    LAST = x * 2
    SEEN.append(x)
    return x


class Keeper:
    latest: Any = None

    def __init__(self) -> None:
        self.last: Any = "old"

    def __call__(self, x: Any) -> Any:
        self.last = self.more = Keeper.latest = x
        return x


def test_tracers_that_the_code_keeps_are_taken_out_again_and_told() -> None:
    keeper = Keeper()
    found = ipyjaxbench.graph(lambda x: keeps(x) + keeper(x), X)
    (note,) = found.notes
    assert (LAST, SEEN, vars(keeper), Keeper.latest) == (None, [], {"last": "old"}, None)
    assert note.code == "tracer-kept"
    for name in ("LAST", "SEEN", "keeper.last", "keeper.more"):
        assert name in note.text
    found.text("stablehlo")  # a later stage leaves none either
    assert found.memory is not None
    assert (LAST, SEEN) == (None, [])


# How long it takes


def test_a_search_ends_at_loops_without_an_end_and_at_earlier_tracers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tracing, "_MOST_SECONDS", 1.0)
    monkeypatch.setattr(tracing, "_MOST_TURNS", 500)
    repeated = written("x, n", "for _ in range(n):\n    x = x * 1.5\nreturn x")
    found = why(repeated, X, 3_000_000)
    assert found.stopped
    assert found.blamed == ("n",)
    assert "then stopped: it took too long" in str(found)
    assert found.fixes[0].code.startswith("x = jax.lax.fori_loop(0, n")
    stale: list[Any] = []
    jax.jit(lambda x: stale.append(x) or x)(X)
    found = why(written("x, a, b", "return x + stale[0]", stale=stale), X, 1, 2)
    assert (found.error, found.tries) == ("UnexpectedTracerError", 1)


def slowly(x: Any, flag: Any) -> Any:
    end = CLOCK.now() + 3e8
    while CLOCK.now() < end:
        pass
    return x * 2 if flag else x


def test_what_jax_names_may_take_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "_MOST_SECONDS", 0.1)
    monkeypatch.setattr(tracing, "_MOST_TURNS", 10**9)
    assert ipyjaxbench.graph(slowly, X, True).static_argnames == ("flag",)


# Errors that were raised before


def test_what_did_not_come_from_tracing_is_refused_in_one_line() -> None:
    with pytest.raises(SnippetError, match="explain needs an exception, not 3"):
        ipyjaxbench.explain(3)  # type: ignore[arg-type]
    for function in (lambda x: 1 / 0, jax.jit(lambda x: x * (1 / 0))):
        with pytest.raises(ZeroDivisionError) as caught:
            function(X)
        with pytest.raises(SnippetError, match="ZeroDivisionError did not come from tracing"):
            ipyjaxbench.explain(caught.value)


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
        (jax.jit(written("x, y", IN_SCAN)), (ONE, X), "c = jnp.where(a > 0, c + a, c)"),
        (plain_jit, (X, True), "@partial(jax.jit, static_argnames='neg')"),
    ],
)
def test_an_error_is_explained_from_its_traceback(
    function: Callable[..., Any], args: tuple, code: str
) -> None:
    assert code in [fix.code for fix in explained(function, *args).fixes]


def test_errors_of_before_are_explained_also_without_source() -> None:
    names: dict[str, Any] = {}
    exec("def gone(x):\n    return x if x.sum() > 0 else -x\n", names)
    found = why(names["gone"], X)
    assert (found.source, found.blamed, found.fixes) == ("", ("x",), ())
    assert "2: (source not available)" in str(found)
    assert explained(jax.jit(names["gone"]), X).error == "TracerBoolConversionError"
    TURNS.clear()
    found = explained(jax.jit(fails_once), X, X)
    assert (found.error, found.tries) == ("NonConcreteBooleanIndexError", 1)
    assert found.source.startswith("return x[y > 0]")


TURNS: list[int] = []


def fails_once(x: Any, y: Any) -> Any:
    TURNS.append(1)
    return x[y > 0] if len(TURNS) == 1 else x


def test_an_argument_that_is_to_be_static_is_tried_with_a_value_that_it_could_have() -> None:
    sliced = jax.jit(written("x, n", "return x[:n]"))
    for function, name, value in ((sliced, "n", 2), (plain_jit, "neg", True)):
        fixes = explained(function, X, 3 if name == "n" else True).fixes
        (fix,) = (fix for fix in fixes if f"static_argnames='{name}'" in fix.code)
        assert fix.cost == f"compiles once per value; verified with {value}"


def test_only_arguments_that_have_to_be_static_are_listed() -> None:
    sized = jax.jit(written("a, k", "return jax.lax.dynamic_slice(a, (0,), (k,))"))
    found = explained(sized, X, 3)
    assert found.blamed == ("k",)
    assert [fix.code for fix in found.fixes] == ["jax.jit(f, static_argnames='k')"]


def test_only_integers_of_64_bits_are_numbers_of_jax() -> None:
    for value, is_number in (
        (2**63 - 1, True), (2**63, False), (-(2**63), True), (-(2**63) - 1, False), (2.5, True),
        (X, True), ([1, "a"], True), (len, True), ("a", False), (None, False), ([], False),
    ):  # fmt: skip
        assert blame._is_no_number(value) is not is_number


def test_a_function_is_named_where_it_is_another_than_the_one_that_was_called() -> None:
    function = written("x, y", IN_JIT)
    call = Call.from_function(function, X, X)
    (inner,) = (each for each in function.__code__.co_consts if hasattr(each, "co_code"))
    assert diagnose._inside(call, function.__code__) == ""
    assert diagnose._inside(call, inner) == "f.inner"
    elsewhere = compile("def f(): pass", "/some/where/other.py", "exec").co_consts[0]
    assert diagnose._inside(call, elsewhere) == "f (other.py)"
    assert diagnose._inside(call, compile("1", "<cell>", "exec")) == ""


owl = written("x", "return Owl()", Owl=Owl)


@pytest.mark.parametrize(
    ("lines", "message", "line"),
    [
        ("return Owl()", "the result is an Owl", 2),
        ("return x, [Owl()]", "result[1][0] is an Owl", 2),
        # That of the function, as there are several.
        ("if x is None:\n    return 'none'\nreturn 'some'", "the result is a str", 1),
    ],
)
def test_what_is_no_data_is_told_with_the_line_that_returns_it(
    lines: str, message: str, line: int
) -> None:
    found = why(written("x", lines, Owl=Owl), X)
    assert (found.message, found.line) == (message, line)


def test_a_shape_that_is_returned_computes_nothing() -> None:
    shape = written("x", "return {'a': jax.ShapeDtypeStruct(x.shape, x.dtype)}")
    with pytest.raises(
        ipyjaxbench.SnippetError, match="is only the shape of an array and computes"
    ):
        ipyjaxbench.graph(shape, X)


def test_what_was_made_says_of_which_package_it_is() -> None:
    with pytest.raises(NoDataError) as caught:
        return_types.refuse_other_than_data(owl, [Owl()])
    assert caught.value.package == "tests"
    assert not return_types.is_of_another_framework(caught.value)
    for package, is_other in (("torch", True), ("tensorflow", True), ("numpy", False)):
        error = NoDataError("", owl, package)
        assert return_types.is_of_another_framework(error) is is_other
    assert not return_types.is_of_another_framework(TypeError())


def test_results_that_are_no_data_are_refused_and_others_handed_on() -> None:
    for result in (X, 3, (X, {"a": 2.0}), None, ()):
        return_types.refuse_other_than_data(owl, [result])
        return_types.refuse_shapes(owl, [result])
    assert return_types.keep_data({"a": X, "b": "word", "c": 2}) == {"a": X, "b": None, "c": 2}
    assert return_types.explain_result("f", NoDataError("", owl, whole=[X, "a"])) == ""
    assert return_types.explain_result("f", ValueError()) == ""
    told = return_types.explain_result("f", NoDataError("", owl, whole=owl))
    assert told == "'f' is not called. Call it:  f(...)"


def test_a_function_whose_source_is_gone_has_its_first_line() -> None:
    names: dict[str, Any] = {}
    exec(compile("\n\ndef gone(x):\n    return 'a'\n", "<gone one>", "exec"), names)
    assert NoDataError("", names["gone"]).place == ("<gone one>", 3)
    assert NoDataError("", jnp.sin).place == ("", 0)
    assert NoDataError("", Owl()).place == ("", 0)
