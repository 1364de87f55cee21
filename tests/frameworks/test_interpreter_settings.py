"""Settings of Python's own and the form of arrays are put back as well."""

import contextvars
import decimal
import os
import sys
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import ipyjaxbench


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


def test_a_context_variable_is_put_back() -> None:
    var = contextvars.ContextVar("var", default=0)
    token = var.set(1)
    assert codes("var.set(var.get() + 1)", {"var": var}) == {"put-back"}
    assert var.get() == 2
    var.reset(token)


def test_what_a_mapping_proxy_shows_is_put_back() -> None:
    held: list[int] = []
    assert codes("p['a'].append(1)", {"p": MappingProxyType({"a": held})}) == {"put-back"}
    assert held == [1]


def test_the_shape_of_an_array_is_put_back() -> None:
    a = np.zeros((2, 6))
    assert codes("a.shape = a.shape[1] // 2, a.shape[0] * 2", {"a": a}) == {"put-back"}
    assert a.shape == (3, 4)


def test_the_shape_of_a_view_is_put_back() -> None:
    v = np.zeros((2, 8)).reshape(-1)[4:]
    assert codes("v.shape = (*v.shape, 1)", {"v": v}) == {"put-back"}
    assert v.shape == (12, 1)


def test_whether_an_array_is_written_is_put_back() -> None:
    a = np.zeros(3)
    code = "a.flags.writeable = not a.flags.writeable"
    assert codes(code, {"a": a}) == {"put-back"}
    assert not a.flags.writeable
