"""Which fault is told, and of which argument or result: behind flags, in libraries, in loops."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import ipyjaxbench
from ipyjaxbench import Diagnosis, SnippetError, UntraceableError
from ipyjaxbench.adapters.jax.diagnosis import blame, eager_check
from ipyjaxbench.adapters.jax.graphs import tracing
from tests.adapters.jax.written import why, written
from tests.shell import Shell

X = jnp.arange(6.0) - 2
ONE = jnp.float32(1.0)


def explained(function: Callable[..., Any], *args: Any) -> Diagnosis:
    with pytest.raises(Exception) as caught:  # noqa: PT011  any error of JAX's
        function(*args)
    return ipyjaxbench.explain(caught.value)


def test_what_has_no_hash_or_is_no_data_is_told_of_calls_that_failed() -> None:
    scaled = jax.jit(lambda x, cfg: x * cfg["a"], static_argnums=1)
    found = explained(scaled, X, {"a": 1})
    assert found.because == "Static arguments must be hashable; lists, dicts and arrays are not."
    assert found.source == "function(*args)"
    found = why(jax.jit(lambda d: d["x"]), {"x": X, "name": "n"})
    assert found.because.startswith("A part of an argument is not data")
    assert found.advice.startswith("Pass that part as an argument of its own")


BEHIND_FOUR = """\
if a and b and c:
    for _ in range(n):
        x = x * 2
    return x[x > 0]
return x"""


def test_who_is_to_blame_is_no_flag_and_nothing_that_is_assigned() -> None:
    behind_one = written("x, flag", "if flag:\n    x = x * 2\nreturn x[x > 0]")
    assert why(behind_one, X, True).fixes[0].cost.endswith("; with static_argnames='flag'")
    found = why(written("x, a, b, c, n", BEHIND_FOUR), X, True, True, True, 2)
    assert (found.source, found.blamed) == ("return x[x > 0]", ("x",))
    assert found.static == ("a", "b", "c", "n")
    assert found.fixes[0].cost.endswith("with static_argnames=('a', 'b', 'c', 'n')")
    assert why(written("x, i, v", "x[i] = v\nreturn x"), X, 1, X[0]).blamed == ("x",)


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


BY_VMAP = "return x + jax.vmap(lambda a: a if a > 0 else -a)(y)"
IN_SCAN = """\
def body(c, a):
    if a > 0:
        c = c + a
    return c, a
return jax.lax.scan(body, x, y)"""


def test_in_a_body_its_line_is_told_and_the_argument_of_the_call() -> None:
    chosen = BY_VMAP.replace("a if a > 0 else -a", "jnp.where(a > 0, a, -a)")
    for lines, inside, code in (
        (BY_VMAP, "f.<lambda>", chosen), (IN_SCAN, "f.body", "c = jnp.where(a > 0, c + a, c)"),
    ):  # fmt: skip
        found = why(written("x, y", lines), ONE, X)
        assert (found.inside, found.blamed) == (inside, ("y",))
        assert found.fixes[0].code == code


def test_what_cannot_be_mended_by_rewriting_gets_fitting_advice() -> None:
    raises = "if (x < 0).any():\n    raise ValueError('no')\nreturn x"
    for lines, x, because, advice in (
        ("assert x > 0\nreturn x", ONE, "assert needs a concrete value", "checkify"),
        (raises, X, "Whether to raise depends on a value", "checkify.check(condition"),
        ("return X + jnp.zeros((x, 'a'))", jnp.array(3), "A shape depends on a value", "static"),
    ):
        found = why(written("x", lines, X=X), x)
        assert found.because.startswith(because)
        assert advice in found.advice
        assert found.fixes == ()


def test_code_that_fails_without_jit_too_is_said_to() -> None:
    found = why(written("x", "return x if x > 0 else -x"), X)
    assert found.eager.startswith("ValueError: The truth value of an array")
    cast = "if bool(x > 0) or x < -5:\n    return x\nreturn jnp.zeros(x.shape, 'float16')"
    assert why(written("x", cast), ONE).eager == ""


@jax.jit
def plain_jit(x: Any, neg: Any) -> Any:
    return -x if neg else x


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
    assert found.memory is not None  # a later stage leaves none either
    assert (LAST, SEEN) == (None, [])


# How long it takes


def test_a_search_ends_at_loops_without_an_end_and_at_earlier_tracers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tracing, "_MOST_SECONDS", 2.0)
    monkeypatch.setattr(tracing, "_MOST_TURNS", 500)
    monkeypatch.setattr(eager_check, "MAX_SECONDS", 0.2)
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


LEAKING = """
kept = []
{}
@jax.jit
def f(x):
    y = x * 2
    {}
f(x)
"""
BODY = "def body(c, _):\n    kept.append(c * 3)\n    return c, None"


@pytest.mark.parametrize(
    ("code", "told", "typed"),
    [
        (LEAKING.format("", "kept.append(y); return y"),
         "`f` computed while it was traced ({}, line 5: y = x * 2)",
         "`return result, y` in `f`, and `result, y = f(...)`"),
        (LEAKING.format(BODY, "return jax.lax.scan(body, y, None, length=2)[0]"),
         "`body` computed while it was traced ({}, line 3: kept.append(c * 3))",
         "`return carry, value` at the end of the body"),
        (LEAKING.format("", "return jax.lax.scan(lambda c, _: (kept.append(c) or c, 0), y, None, "
         "length=2)[0]"), "a lambda computed while it was traced", "`return carry, value`"),
    ],
)  # fmt: skip
def test_who_let_a_tracer_out_is_told_with_the_cell_and_the_line(
    shell: Shell, code: str, told: str, typed: str
) -> None:
    shell.run("pass")  # after a cell in which JAX is there, cells are known
    shell.names |= {"jax": jax, "jnp": jnp, "x": X}
    cell = f"cell In[{shell.shell.execution_count}]"
    shell.run(code, counted=True)
    with pytest.raises(jax.errors.UnexpectedTracerError) as raised:
        shell.run("[each + 1 for each in kept]")
    with pytest.raises(UntraceableError) as caught:
        ipyjaxbench.graph(lambda x: x + shell.names["kept"][0], X)
    for found in (ipyjaxbench.explain(raised.value), caught.value.diagnosis):
        assert found.because.startswith(f"A tracer leaked: a value that {told.format(cell)}")
        assert typed in found.advice
        assert ("float32[6] of" in found.message, found.fixes) == (True, ())
    assert ipyjaxbench.explain(raised.value).code == "the cell"


# Errors that were raised before


def test_what_did_not_come_from_tracing_is_refused_in_one_line() -> None:
    for function in (lambda x: 1 / 0, jax.jit(lambda x: x * (1 / 0))):
        with pytest.raises(ZeroDivisionError) as caught:
            function(X)
        with pytest.raises(SnippetError, match="ZeroDivisionError did not come from tracing"):
            ipyjaxbench.explain(caught.value)


@pytest.mark.parametrize(
    ("line", "because"),
    [
        ("return jax.lax.cond(x[0] > 0, lambda a: a, lambda a: a.sum(), x)", "The branches of "),
        ("return jax.lax.scan(lambda c, _: (c.sum(), 0), x, None, length=2)", "The body of a loop"),
        ("return jax.lax.cond(x[0] > 0, lambda a: (a, a), lambda a: (a,), x)", "What all branches"),
        ("return jax.lax.scan(lambda c, _: ((c, c), 0), x, None, length=2)", "What all branches"),
        ("return jax.lax.scan(lambda c, _: c, x, None, length=2)", "The body of scan must return"),
        ("m = np.zeros(6); m[0] = x[0]; return m", "m[0] needs a concrete value"),
        (
            "return x @ jnp.ones((4, 4))",
            "The code ",
        ),  # fails without jit too, where values are there
    ],
)
def test_what_jax_refuses_while_it_traces_is_explained_as_jaxpr_does(
    line: str, because: str
) -> None:
    function = jax.jit(written("x", line))
    for found in (explained(function, X), why(function, X)):
        assert found.because.startswith(because)
        assert (found.source, found.line) == (line, 2)


def closing(k: Any) -> Callable[..., Any]:
    def inner(x: Any, *rest: Any, scale: Any = 1.0, **more: Any) -> Any:
        y = x * scale * k
        return y if y.sum() > 0 else -y

    return inner


def test_an_error_is_explained_from_its_traceback() -> None:
    for function, args, code in (
        (closing(2.0), (X, X), "return jnp.where(y.sum() > 0, y, -y)"),
        (written("x, y", IN_SCAN), (ONE, X), "c = jnp.where(a > 0, c + a, c)"),
    ):
        assert code in [fix.code for fix in explained(jax.jit(function), *args).fixes]


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
    sized = jax.jit(written("a, k", "return jax.lax.dynamic_slice(a, (0,), (k,))"))
    for function, name, value in ((sized, "k", 2), (plain_jit, "neg", True)):
        found = explained(function, X, 3 if name == "k" else True)
        assert found.blamed == (name,)
        (fix,) = (fix for fix in found.fixes if f"static_argnames='{name}'" in fix.code)
        assert fix.cost == f"compiles once per value; verified with {value}"


def test_only_integers_of_64_bits_are_numbers_of_jax() -> None:
    for value, is_number in (
        (2**63 - 1, True), (2**63, False), (-(2**63), True), (-(2**63) - 1, False), (2.5, True),
        (X, True), ([1, "a"], True), (len, True), ("a", False), (None, False), ([], False),
    ):  # fmt: skip
        assert blame._is_no_number(value) is not is_number
