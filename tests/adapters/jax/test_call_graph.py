"""What a call leads to: which things are walked through, and how far."""

import argparse
import functools
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench.adapters.jax.diagnosis import call_graph
from ipyjaxbench.adapters.jax.diagnosis.call_graph import Step
from ipyjaxbench.usercode.call import Call

X = jnp.ones(3)


def helper(x: Any) -> Any:
    return x


def uses_global(x: Any) -> Any:
    def within(y: Any) -> Any:
        return helper(y)

    return within(x)


def steps(thing: Any) -> list[tuple[str, tuple[str, ...], str]]:
    """How a thing leads to functions, by their names."""
    return [(step.kind, step.path, step.to.__name__) for step in call_graph.steps(thing)
            if isinstance(step.to, Callable) and hasattr(step.to, "__name__")]  # type: ignore[arg-type]  # fmt: skip


class Base:
    def act(self, x: Any) -> Any:
        return x

    def other(self, x: Any) -> Any:
        return -x


class Derived(Base):
    def act(self, x: Any) -> Any:
        return 2 * x

    @staticmethod
    def fixed(x: Any) -> Any:
        return x

    @classmethod
    def made(cls, x: Any) -> Any:
        return x

    jitted = jax.jit(lambda self, x: x)


def test_functions_lead_to_the_globals_and_cells_that_their_code_names() -> None:
    assert steps(uses_global)[1:] == [("global", ("helper",), "helper")]  # behind Any
    made = lambda x: x  # noqa: E731

    def closing(x: Any) -> Any:
        return made(later(x))

    assert steps(closing) == [("cell", ("made",), "<lambda>")]  # nothing stands in `later` yet

    def later(x: Any) -> Any:
        return x

    assert {path for _, path, _ in steps(closing)} == {("made",), ("later",)}


def test_things_lead_to_what_they_wrap_and_classes_to_their_methods() -> None:
    assert sorted(steps(Derived)) == [
        ("method", ("act",), "act"), ("method", ("fixed",), "fixed"),
        ("method", ("jitted",), "<lambda>"), ("method", ("made",), "made"),
        ("method", ("other",), "other"),
    ]  # fmt: skip
    (act,) = (step.to for step in call_graph.steps(Derived()) if step.path == ("act",))
    assert act is Derived.act
    derived = Derived()
    partial = functools.partial(helper, derived, 3, key=uses_global)
    assert [*call_graph.steps(partial)] == [
        Step(helper), Step(derived), Step(3), Step(uses_global),
    ]  # fmt: skip
    assert [*call_graph.steps(derived.act)] == [Step(Derived.act), Step(derived)]
    assert [*call_graph.steps(jax.jit(helper))] == [Step(helper)]
    module = ModuleType("of_mine")
    module.helper = helper  # type: ignore[attr-defined]
    assert [*call_graph.steps(X)] == [*call_graph.steps(module)] == []


@pytest.mark.parametrize(
    ("make", "count", "is_entered"),
    [
        (argparse.Namespace, 20, True), (argparse.Namespace, 21, False),
        (SimpleNamespace, 21, True),
    ],
)  # fmt: skip
def test_an_object_of_a_librarys_class_is_entered_where_it_holds_few_things(
    make: Callable[..., Any], count: int, *, is_entered: bool
) -> None:
    thing = make(**{f"a{n}": helper for n in range(count)})
    held = [path for kind, path, _ in steps(thing) if kind == "held"]
    assert held == ([(f"a{n}",) for n in range(count)] if is_entered else [])
    other = SimpleNamespace(array=X, kind=Base, inner=Base())  # neither arrays nor classes
    assert [step.path for step in call_graph.steps(other) if step.kind == "held"] == [("inner",)]


def test_no_more_than_2000_things_are_looked_at() -> None:
    def functions(count: int) -> list[Any]:
        return [eval("lambda x: x") for _ in range(count)]

    assert len([*call_graph.walk(functions(1999))]) == 1999
    assert len([*call_graph.walk(functions(2001))]) == 2000
    same = functions(1) * 3
    assert [*call_graph.walk(same)] == same[:1]


def test_modules_within_modules_are_followed_three_levels_deep() -> None:
    names: dict[str, Any] = {}
    inner = names
    for level in "abcd":
        module = ModuleType(level)
        module.__file__ = __file__
        exec(f"def f{level}(x): return x", vars(module))
        inner[level] = module
        inner = vars(module)
    text = "lambda x: (a.fa(x), a.b.fb(x), a.b.c.fc(x), a.b.c.d.fd(x))"
    function = eval(compile(text, __file__, "eval"), names)
    assert [path for _, path, _ in steps(function)] == [
        ("a", "fa"), ("a", "b", "fb"), ("a", "b", "c", "fc"),
    ]  # fmt: skip


def test_the_function_that_holds_some_code_is_found_in_what_a_call_is_given() -> None:
    (code,) = (each for each in uses_global.__code__.co_consts if hasattr(each, "co_code"))
    for call in (
        Call.from_function(uses_global, X), Call.from_function(lambda x, f: f(x), X, uses_global),
        Call.from_function(lambda x, f=None: f(x), X, f=functools.partial(uses_global)),
    ):  # fmt: skip
        assert call_graph.find_function(call, code) is uses_global
    assert call_graph.find_function(Call.from_function(helper, X), code) is None


@pytest.mark.parametrize(
    ("function", "is_of_jax"),
    [
        (jnp.sin, True), (jax.nn.relu, True), (jax.lax.fori_loop, True), (helper, False),
        (jax.jit(helper), False), (jax.grad(helper), False), (functools.partial(jnp.sum), True),
        (len, False), (Base(), False), (Base().act, False),
    ],
)  # fmt: skip
def test_functions_of_jaxs_own_are_told_from_the_users(function: Any, *, is_of_jax: bool) -> None:
    assert call_graph.is_of_jax(function) is is_of_jax


def test_only_ways_to_jit_that_filter_hand_on_what_is_no_data() -> None:
    eqx = pytest.importorskip("equinox")
    assert call_graph.is_filtered(Call.from_function(eqx.filter_jit(helper), X))
    assert call_graph.is_filtered(Call.from_function(functools.partial(eqx.filter_jit(helper)), X))
    assert not call_graph.is_filtered(Call.from_function(jax.jit(helper), X))
    assert not call_graph.is_filtered(Call.from_function(helper, X))
