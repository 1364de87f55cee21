"""Whose call it is, and what is done with the program that its framework makes."""

import json
from collections.abc import Callable
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


def chain(length: int, value: object) -> Callable[..., object]:
    """As many functions, each of which calls the next one; the last one uses a value."""

    def last() -> object:
        return value

    def calling(inner: Callable[..., object]) -> Callable[..., object]:
        def function() -> object:
            return inner()

        return function

    functions = [last]
    for _ in range(length - 1):
        functions.append(calling(functions[-1]))
    return functions[-1]


def refusal(call: Call, framework: str | None = None) -> str:
    with pytest.raises(SnippetError) as raised:
        trace_call(call, GraphOptions(), framework)
    return str(raised.value)


@pytest.fixture
def x(frameworks: Frameworks) -> FakeArray:
    return FakeArray(frameworks.one.device, 0)


def test_the_framework_of_the_arrays_is_asked(frameworks: Frameworks, x: FakeArray) -> None:
    refusal(Call.from_function(f, x))
    refusal(Call.from_function(f, k=[OtherArray()]))
    refusal(Call.from_function(f, x, OtherArray()))
    assert frameworks.asked == ["one", "two", "one", "two"]


def test_what_is_nearer_to_the_call_is_asked_first(frameworks: Frameworks, x: FakeArray) -> None:
    """Its own function, its arguments, then what its functions use: arrays, and modules last."""
    dumps = json.dumps

    def both() -> object:
        return dumps, x

    def module() -> object:
        return json

    refusal(Call.from_function(dumps, x))
    refusal(Call.from_function(using(x), OtherArray()))
    refusal(Call.from_function(both))
    refusal(Call.from_function(module))
    assert frameworks.asked == ["two", "one", "two", "one", "one", "two", "two"]


def test_what_functions_near_the_call_use_says_more_than_what_is_far(
    frameworks: Frameworks, x: FakeArray
) -> None:
    def near() -> object:
        return inner()

    def inner() -> object:
        return x, far()

    def far() -> object:
        return other

    other = OtherArray()
    refusal(Call.from_function(near))
    assert frameworks.asked == ["one"]


@pytest.mark.parametrize(("length", "asked"), [(2, ["one"]), (6, ["one"]), (7, ["one", "two"])])
def test_where_nothing_is_found_all_are_asked(
    frameworks: Frameworks, x: FakeArray, length: int, asked: list[str]
) -> None:
    """Functions are followed six steps deep."""
    refusal(Call.from_function(chain(length, x)))
    assert frameworks.asked == asked


def test_why_there_is_no_program_is_said(frameworks: Frameworks, x: FakeArray) -> None:
    begin = "'f(...)' has no program: "
    assert refusal(Call.from_function(f, x)) == (
        f"{begin}it computes no array. Pass a call that does, such as  f(x)"
    )
    assert refusal(Call.from_function(f, x), "torch") == f"{begin}torch is not imported"
    assert refusal(Call.from_function(f, x), "two") == (
        f"{begin}it has no two arrays: pass a call with some, such as  f(x)"
    )
    assert frameworks.asked == ["one"]


def test_numpy_and_python_make_none(
    frameworks: Frameworks, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (frameworks.one, frameworks.two):
        monkeypatch.setattr(each, "name", "python")
    begin = "'f(...)' has no program: NumPy and Python code has none. Import jax, and"
    assert refusal(Call.from_function(f, 1)) == f"{begin} write it with jax.numpy"
    with called_from("%jaxpr"):
        shown = refusal(Call.from_function(f, 1))
    assert shown == f"{begin} use %jaxpr --np to see it as JAX's"
    assert frameworks.asked == []


def test_what_makes_a_function_is_to_be_called_itself(frameworks: Frameworks, x: FakeArray) -> None:
    words = "'sorted(...)' is not called. Call it:  sorted(...)(...)"
    assert refusal(Call.from_function(sorted, [x])) == words
    assert frameworks.asked == []


def test_the_first_program_is_taken(frameworks: Frameworks, x: FakeArray) -> None:
    graph = a_graph()
    frameworks.one.traces = lambda _: graph
    assert trace_call(Call.from_function(f, x, OtherArray()), GraphOptions()) is graph
    frameworks.two.traces = lambda _: a_graph("other")
    assert (
        trace_call(Call.from_function(f, x, OtherArray()), GraphOptions(), "two").program == "other"
    )
    assert frameworks.asked == ["one", "two"]


def test_what_tracing_changes_is_put_back_then_and_later(
    frameworks: Frameworks, x: FakeArray
) -> None:
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


def test_code_before_the_call_is_run_and_the_call_is_not(
    frameworks: Frameworks, x: FakeArray
) -> None:
    calls: list[Call] = []
    frameworks.one.traces = lambda call: calls.append(call) or a_graph()  # type: ignore[func-returns-value]
    names: dict[str, Any] = {"f": f, "x": x}
    trace_program(Source.plain("y = 2\nf(x, y)"), names, GraphOptions())
    trace_program(Source.plain("f"), names, GraphOptions(shapes=(("float32", (3,)),)), "one")
    first, second = calls
    assert (first.text.splitlines()[-1], first.args, names["y"]) == ("f(x, y)", (x, 2), 2)
    assert [(shape.dtype, shape.shape) for shape in second.args] == [("float32", (3,))]


def test_what_is_called_for_an_argument_is_put_back(frameworks: Frameworks, x: FakeArray) -> None:
    items = [3, 1]
    frameworks.one.traces = lambda _: a_graph()
    names: dict[str, Any] = {"f": f, "x": x, "items": items}
    trace_program(Source.plain("f(x, items.pop())"), names, GraphOptions())
    assert items == [3, 1]


def test_an_expression_is_a_function_of_the_arrays_in_it(
    frameworks: Frameworks, x: FakeArray
) -> None:
    calls: list[Call] = []
    frameworks.one.traces = lambda call: calls.append(call) or a_graph()  # type: ignore[func-returns-value]
    trace_program(Source.plain("(x, n)"), {"x": x, "n": 3}, GraphOptions())
    assert (calls[0].labels, calls[0].args) == (("x",), (x,))
