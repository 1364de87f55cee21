"""Settings of Python's own and the form of arrays are put back as well."""

import contextvars
import decimal
import os
import sys
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

import ipyjaxbench
from ipyjaxbench.frameworks.state.interpreter_settings import (
    interpreter_settings,
    interpreter_states,
    read_environment,
    write_environment,
)


def codes(code: str, names: dict[str, Any]) -> set[str]:
    found = ipyjaxbench.measure_code(code, names, number=3, repeat=2)
    return {note.code for note in found.notes} & {"put-back", "state-advanced"}


@pytest.mark.parametrize("code", ["os.environ['FW_P'] += ':b'", "env['FW_P'] += ':b'", "add()"])
def test_the_environment_is_put_back(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setenv("FW_P", "a")
    names: dict[str, Any] = {"os": os, "env": os.environ}
    exec("def add(): os.environ['FW_P'] += ':b'", names)
    assert codes(code, names) == {"put-back"}
    assert os.environ["FW_P"] == "a:b"


def test_the_recursion_limit_is_put_back() -> None:
    before = sys.getrecursionlimit()
    try:
        code = "sys.setrecursionlimit(sys.getrecursionlimit() + 1)"
        assert codes(code, {"sys": sys}) == {"put-back"}
        assert sys.getrecursionlimit() == before + 1
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.parametrize("code", ["decimal.getcontext().prec += 1", "context.prec += 1"])
def test_the_precision_of_decimals_is_put_back(code: str) -> None:
    with decimal.localcontext() as context:
        context.prec = 20
        assert codes(code, {"decimal": decimal, "context": context}) == {"put-back"}
        assert context.prec == 21


def test_context_variables_and_what_a_mapping_proxy_shows_are_put_back() -> None:
    var = contextvars.ContextVar("var", default=0)
    token = var.set(1)
    held: list[int] = []
    names = {"var": var, "p": MappingProxyType({"a": held})}
    assert codes("var.set(var.get() + 1); p['a'].append(1)", names) == {"put-back"}
    assert (var.get(), held) == (2, [1])
    var.reset(token)


def test_variables_that_come_are_taken_away_and_those_that_go_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FW_P", "a")
    monkeypatch.setenv("FW_Q", "b")
    before = read_environment()
    assert before[before.index("FW_P") + 1] == "a"
    monkeypatch.setenv("FW_NEW", "c")
    monkeypatch.setenv("FW_P", "d")
    monkeypatch.delenv("FW_Q")
    write_environment(before)
    assert (os.environ["FW_P"], os.environ["FW_Q"], "FW_NEW" in os.environ) == ("a", "b", False)


def test_a_context_variable_that_was_not_set_cannot_be_put_back() -> None:
    def task() -> None:
        var = contextvars.ContextVar("var", default=0)
        (state,) = interpreter_states(var) or ()
        assert (state.can_restore, state.changed()) == (False, False)
        var.set(0)  # what it stands for without, and set nevertheless
        assert state.changed()
        (state,) = interpreter_states(var) or ()
        assert state.can_restore

    contextvars.copy_context().run(task)


def test_how_decimals_are_rounded_is_put_back() -> None:
    with decimal.localcontext() as context:
        of_module = [state for _, state in interpreter_settings("decimal")]
        for (state,) in (of_module, interpreter_states(context) or ()):
            before = context.copy()
            context.prec, context.rounding, context.Emax, context.Emin = 3, "ROUND_UP", 9, -9
            context.clamp, context.capitals = 1 - context.clamp, 1 - context.capitals
            assert state.changed()
            state.restore()
            assert repr(context) == repr(before)


@pytest.mark.parametrize("value", [3, {}, os.path, "a", SimpleNamespace()])
def test_other_values_are_no_settings(value: object) -> None:
    assert interpreter_states(value) is None


def test_a_view_of_a_dictionary_holds_the_dictionary() -> None:
    held = {"a": 1}
    (state,) = interpreter_states(MappingProxyType(held)) or ()
    assert [*map(id, state.parts)] == [id(held)]
