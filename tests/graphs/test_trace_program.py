"""Whose call it is, and what is done with the program that its framework makes."""

import json
from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest

from ipyjaxbench.errors import SnippetError, called_from
from ipyjaxbench.graphs import GraphOptions, trace_call, trace_program
from ipyjaxbench.usercode import Call, Source
from tests.graphs.conftest import Frameworks
from tests.graphs.fake import FakeArray, OtherArray
from tests.graphs.test_components import Handle, a_graph


def f(a: object = None, b: object = None, *, k: object = None) -> None:
    """A function that uses nothing."""


def using(*values: object) -> Callable[..., object]:
    """A function of the user's that closes over some values."""
    return lambda *_: values


def calling(inner: Callable[..., object]) -> Callable[..., object]:
    """A function that calls another one."""
    return lambda: inner()  # noqa: PLW0108


def chain(length: int, value: object) -> Callable[..., object]:
    """As many functions, each of which calls the next one; the last one uses a value."""
    return reduce(lambda inner, _: calling(inner), range(length - 1), using(value))


def refusal(call: Call, framework: str | None = None) -> str:
    with pytest.raises(SnippetError) as raised:
        trace_call(call, GraphOptions(), framework)
    return str(raised.value)


@pytest.fixture
def x(frameworks: Frameworks) -> FakeArray:
    return FakeArray(frameworks.one.device, 0)


def test_what_is_nearer_to_the_call_is_asked_first(frameworks: Frameworks, x: FakeArray) -> None:
    """Its own function, its arguments, then what its functions use: arrays, and modules last."""
    dumps, other = json.dumps, OtherArray()

    def both() -> object:
        return dumps, x

    def module() -> object:
        return json

    def near() -> object:
        return inner()

    def inner() -> object:
        return x, far()

    def far() -> object:
        return other

    def asked(function: Callable[..., object], *args: object, **kwargs: object) -> list[str]:
        frameworks.asked.clear()
        refusal(Call.from_function(function, *args, **kwargs))
        return [*frameworks.asked]

    assert asked(f, x) == ["one"]
    assert asked(f, k=[other]) == ["two"]
    assert asked(f, x, other) == ["one", "two"]
    assert asked(dumps, x) == ["two", "one"]
    assert asked(using(x), other) == ["two", "one"]
    assert asked(both) == ["one", "two"]
    assert asked(module) == ["two"]
    assert asked(near) == ["one"]  # what is far says less
    # Functions are followed six steps deep; where nothing is found all are asked.
    assert [asked(chain(length, x)) for length in (2, 6, 7)] == [["one"], ["one"], ["one", "two"]]


def test_why_there_is_no_program_is_said(
    frameworks: Frameworks, x: FakeArray, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = "'f(...)' has no program: "
    assert refusal(Call.from_function(f, x)) == (
        f"{begin}it computes no array. Pass a call that does, such as  f(x)"
    )
    assert refusal(Call.from_function(f, x), "torch") == f"{begin}torch is not imported"
    assert refusal(Call.from_function(f, x), "two") == (
        f"{begin}it has no two arrays: pass a call with some, such as  f(x)"
    )
    assert refusal(Call.from_function(sorted, [x])) == (  # it makes a function
        "'sorted(...)' is not called. Call it:  sorted(...)(...)"
    )
    assert frameworks.asked == ["one"]
    for each in (frameworks.one, frameworks.two):
        monkeypatch.setattr(each, "name", "python")
    begin = f"{begin}NumPy and Python code has none. Import jax, and"
    assert refusal(Call.from_function(f, 1)) == f"{begin} write it with jax.numpy"
    with called_from("%jaxpr"):
        shown = refusal(Call.from_function(f, 1))
    assert shown == f"{begin} use %jaxpr --np to see it as JAX's"
    assert frameworks.asked == ["one"]


def test_the_first_program_is_taken(frameworks: Frameworks, x: FakeArray) -> None:
    graph = a_graph()
    frameworks.one.traces = lambda _: graph
    assert trace_call(Call.from_function(f, x, OtherArray()), GraphOptions()) is graph
    frameworks.two.traces = lambda _: a_graph("other")
    assert (
        trace_call(Call.from_function(f, x, OtherArray()), GraphOptions(), "two").program == "other"
    )
    assert frameworks.asked == ["one", "two"]


def test_what_tracing_changes_is_put_back(frameworks: Frameworks, x: FakeArray) -> None:
    items, handle = [1], Handle()

    def trace(call: Call) -> Any:
        items.append(2)
        return a_graph().attach(handle)

    frameworks.one.traces = trace
    handle.checks = lambda: items.append(3) or ()  # type: ignore[func-returns-value, assignment]
    graph = trace_call(Call.from_function(f, x, items), GraphOptions())
    assert items == [1]
    assert graph.notes == ()
    assert graph.checks == ()
    assert items == [1]


def test_what_cannot_be_put_back_is_told(frameworks: Frameworks, x: FakeArray) -> None:
    numbers = (n for n in range(9))
    frameworks.one.traces = lambda _: a_graph() if next(numbers) == 0 else None
    graph = trace_call(Call.from_function(f, x, numbers), GraphOptions())
    (note,) = graph.notes
    assert note.code == "changed-while-traced"
    assert note.text.startswith("The code modifies b. ")
    assert note.text.endswith(" It could not be restored.")


def test_code_before_the_call_is_run_not_the_call(frameworks: Frameworks, x: FakeArray) -> None:
    calls: list[Call] = []
    frameworks.one.traces = lambda call: calls.append(call) or a_graph()  # type: ignore[func-returns-value]
    names: dict[str, Any] = {"f": f, "x": x, "n": 3, "items": [3, 1]}

    def traced(code: str, **options: Any) -> Call:
        trace_program(Source.plain(code), names, GraphOptions(**options), "one")
        return calls[-1]

    call = traced("y = 2\nf(x, y)")
    assert (call.text.splitlines()[-1], call.args, names["y"]) == ("f(x, y)", (x, 2), 2)
    (shape,) = traced("f", shapes=(("float32", (3,)),)).args
    assert (shape.dtype, shape.shape) == ("float32", (3,))
    assert traced("f(x, items.pop())").args == (x, 1)
    assert names["items"] == [3, 1]  # what is called for an argument is put back
    expression = traced("(x, n)")  # a function of the arrays in it
    assert (expression.labels, expression.args) == (("x",), (x,))
