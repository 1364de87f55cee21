"""What a call leads to: which things are walked through, and how far."""

import argparse
import functools
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp

from ipyjaxbench.adapters.jax.diagnosis import call_graph
from ipyjaxbench.adapters.jax.diagnosis.call_graph import Step

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
    partial = functools.partial(helper, derived, key=uses_global)
    assert [*call_graph.steps(partial)] == [Step(helper), Step(derived), Step(uses_global)]
    assert [*call_graph.steps(derived.act)] == [Step(Derived.act), Step(derived)]
    assert [*call_graph.steps(jax.jit(helper))] == [Step(helper)]
    module = ModuleType("of_mine")
    module.helper = helper  # type: ignore[attr-defined]
    assert [*call_graph.steps(X)] == [*call_graph.steps(module)] == []


def test_an_object_of_a_librarys_class_is_entered_where_it_holds_few_things() -> None:
    for make, count, entered in (
        (argparse.Namespace, 20, 20), (argparse.Namespace, 21, 0), (SimpleNamespace, 21, 21),
    ):  # fmt: skip
        thing = make(**{f"a{n}": helper for n in range(count)})
        held = [path for kind, path, _ in steps(thing) if kind == "held"]
        assert held == [(f"a{n}",) for n in range(entered)]
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


def test_functions_of_jaxs_own_are_told_from_the_users() -> None:
    assert all(map(call_graph.is_of_jax, (jnp.sin, jax.nn.relu, functools.partial(jnp.sum))))
    for function in (helper, jax.jit(helper), jax.grad(helper), len, Base(), Base().act):
        assert not call_graph.is_of_jax(function)
