"""Values of expressions that are known without running code, and those that are not."""

import ast
import functools
import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.retracing.static_evaluation import StaticValues, UnknownError
from ipyjaxbench.usercode.snippet import Source


class Array:
    shape, dtype = (2, 3), "float32"

    @property
    def ndim(self) -> int:
        return 2


class Jitted:
    """Binds as a jitted function does."""

    def __get__(self, owner: object, kind: type) -> Any:
        return partial(self, owner)

    def __call__(self, *args: object) -> tuple[object, ...]:
        return args


class Owner:
    __slots__ = ("width",)
    jitted = Jitted()

    def __init__(self) -> None:
        self.width = 5

    def method(self) -> str:
        return "method"

    @staticmethod
    def static() -> str:
        return "static"

    @classmethod
    def made(cls) -> type:
        return cls

    @property
    def computed(self) -> int:
        raise AssertionError("the user's code was run")


class Numbers(list[int]):
    def __getitem__(self, index: Any) -> Any:
        raise AssertionError("the user's code was run")

    __iter__ = __getitem__  # type: ignore[assignment]


NAMES: dict[str, Any] = {
    "x": Array(), "n": 3, "items": [1, 2, 3], "more": {"a": 1}, "o": Owner(), "Owner": Owner,
    "own": Numbers([1]), "math": math, "functools": functools,
    "space": SimpleNamespace(y=7), "len": "shadowed",
}  # fmt: skip


def values(**names: Any) -> StaticValues:
    code = Source.plain("0")
    return StaticValues(
        code, {**NAMES, **names}, lambda v: isinstance(v, Jitted), lambda v: isinstance(v, Array)
    )


def value_of(text: str) -> Any:
    return values().evaluate(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n", 3), ("len", "shadowed"), ("max", max), ("'a'", "a"), ("...", ...),
        ("(n, *items)", (3, 1, 2, 3)), ("[*items, n]", [1, 2, 3, 3]),
        ("{'b': n, **more}", {"b": 3, "a": 1}), ("{n: 1}", {3: 1}),
        ("-n", -3), ("+n", 3), ("not n", False), ("n + 1", 4), ("n - 1", 2), ("n * 2", 6),
        ("n / 2", 1.5), ("n // 2", 1), ("n % 2", 1),
        ("items[0]", 1), ("items[-1]", 3), ("items[1:]", [2, 3]), ("items[:n - 1]", [1, 2]),
        ("items[::2]", [1, 3]), ("more['a']", 1), ("math.pi", math.pi), ("space.y", 7),
        ("x.shape", (2, 3)), ("x.shape[0]", 2), ("x.dtype", "float32"), ("x.ndim", 2),
        ("o.width", 5), ("Owner.static", Owner.static), ("Owner.method", Owner.method),
    ],
)  # fmt: skip
def test_what_is_known(text: str, value: object) -> None:
    assert value_of(text) == value


def test_what_is_called_is_bound_as_python_binds_it() -> None:
    assert value_of("o.method")() == "method"
    assert value_of("o.static")() == "static"
    assert value_of("o.made")() is Owner
    assert value_of("Owner.made")() is Owner
    assert value_of("o.jitted")(1) == (NAMES["o"], 1)
    assert value_of("lambda x: x + n")(4) == 7


def test_partials_are_made_and_not_called() -> None:
    made = value_of("functools.partial(max, n, *items, key=n)")
    assert (made.func, made.args, made.keywords) == (max, (3, 1, 2, 3), {"key": 3})


@pytest.mark.parametrize(
    "text",
    [
        "functools.partial(max, o.computed)",
        "max(n, 1)", "o.computed", "o.missing", "own[0]", "[*own]", "{**own}", "x + 1", "x[0]",
        "items + items", "n ** 2", "'a' * 3", "-items", "items[9]", "items['a']", "more[x]",
        "n / 0", "x.other", "lambda a=n: a", "{x: 1}", "n if n else 0",
    ],
)  # fmt: skip
def test_what_would_have_to_be_run_is_unknown(text: str) -> None:
    with pytest.raises(UnknownError):
        value_of(text)


def test_the_innermost_unknown_part_is_named() -> None:
    with pytest.raises(UnknownError, match=r"^max\(n\)$") as error:
        value_of("(1, [max(n)])")
    assert ast.unparse(error.value.node) == "max(n)"


def test_names_that_are_bound_on_the_way() -> None:
    known = values()
    known.bind("n", ast.parse("n + 1", mode="eval").body)
    assert known.evaluate(ast.Name("n")) == 4
    known.bind("n", ast.parse("max(n)", mode="eval").body)
    with pytest.raises(UnknownError, match=r"^n$"):
        known.evaluate(ast.Name("n"))
    known.bind("items")
    with pytest.raises(UnknownError, match=r"^items$"):
        known.evaluate(ast.Name("items"))
    with pytest.raises(NameError, match="name 'nope' is not defined"):
        known.evaluate(ast.Name("nope"))
