"""Expressions that stand side by side behind a magic."""

from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.errors import OptionError
from ipyjaxbench.usercode.expressions import evaluate_expressions

NAMES: dict[str, Any] = {
    "x": 1, "params": {"w b": 2, "v": [3, 4]}, "model": SimpleNamespace(fc=5), "f": max,
}  # fmt: skip


@pytest.mark.parametrize(
    ("code", "values"),
    [
        ("x", {"x": 1}), ("x model.fc", {"x": 1, "model.fc": 5}),
        ("params['w b'] x", {"params['w b']": 2, "x": 1}),
        ("f(2, 3) params['v'][0]", {"f(2, 3)": 3, "params['v'][0]": 3}),
        ("x, model.fc", {"x": 1, "model.fc": 5}),
        ("x,model.fc f(2, 3)", {"x": 1, "model.fc": 5, "f(2, 3)": 3}),
        ("(x, 2)", {"(x, 2)": (1, 2)}), ("  ", {}),
        ("x, (x + 1), model.fc", {"x": 1, "x + 1": 2, "model.fc": 5}),
        ("(x, 2), model.fc", {"(x, 2)": (1, 2), "model.fc": 5}),
    ],
)  # fmt: skip
def test_each_has_its_value_under_its_text(code: str, values: dict[str, Any]) -> None:
    before = dict(NAMES)
    assert evaluate_expressions(NAMES, code) == values
    assert before == NAMES


@pytest.mark.parametrize(("code", "like", "told"), [
    ("parms", None, "parms: name 'parms' is not defined. Did you mean params?"),
    ("parms[0]", None, "parms[0]: name 'parms' is not defined. Did you mean params?"),
    ("parms", ["x"], "parms: name 'parms' is not defined."),
    ("parms", [], "parms: name 'parms' is not defined."),
    ("nothing_like_it", None, "nothing_like_it: name 'nothing_like_it' is not defined."),
    ("x f(", None, "x f(: type names or expressions, separated by spaces"),
])  # fmt: skip
def test_what_cannot_be_read_is_said(code: str, like: list[str] | None, told: str) -> None:
    with pytest.raises(OptionError) as raised:
        evaluate_expressions(NAMES, code, like=like)
    assert str(raised.value) == told
    ran: list[int] = []
    with pytest.raises(OptionError):
        evaluate_expressions({"ran": ran}, "ran.append(1) f(")
    assert ran == []
