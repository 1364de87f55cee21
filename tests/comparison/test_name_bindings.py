"""Names of a session are afterwards what they were, and others' names stay."""

from typing import Any

import pytest

from ipyjaxbench.comparison.name_bindings import names_restored
from ipyjaxbench.usercode.snippet import Snippet, Source


def snippets(names: dict[str, Any], *codes: str) -> list[Snippet]:
    return [Snippet(Source.plain(code), names) for code in codes]


def test_what_any_of_the_snippets_binds_is_put_back_or_removed() -> None:
    names: dict[str, Any] = {"x": 1, "kept": 2}
    with names_restored(snippets(names, "x = 3", "y, z = 4, 5")):
        names |= {"x": 3, "y": 4, "z": 5}
    assert names == {"x": 1, "kept": 2}
    with names_restored(snippets(names, "del x")):
        del names["x"]
    assert names == {"x": 1, "kept": 2}
    with pytest.raises(ZeroDivisionError), names_restored(snippets(names, "x = 2")):
        exec("x = 2; 1 / 0", names)
    assert names == {"x": 1, "kept": 2}


def test_names_that_others_bind_are_removed_where_they_are_named() -> None:
    names: dict[str, Any] = {"x": 1}
    with names_restored(snippets(names, "f(x)"), "n", "k"):
        names |= {"n": 10, "__builtins__": {}, "__compiled_fn_1": len, "of_a_thread": 2}
    assert names == {"x": 1, "__compiled_fn_1": len, "of_a_thread": 2}


def test_what_others_change_is_put_back_and_what_they_remove_stays_removed() -> None:
    names: dict[str, Any] = {"x": 1, "changed": 2, "removed": 3}
    with names_restored(snippets(names, "f(x)")):
        names["changed"] = 4
        del names["removed"]
    assert names == {"x": 1, "changed": 2}


@pytest.mark.parametrize("code", ["exec('new = 1')", "globals().update(vars(o))"])
def test_code_that_looks_at_names_may_have_bound_any_of_them(code: str) -> None:
    names: dict[str, Any] = {"x": 1}
    with names_restored(snippets(names, code)):
        names |= {"new": 1, "_private": 2}
        del names["x"]
    assert names == {"x": 1, "_private": 2}


def test_names_that_called_functions_bind_are_removed() -> None:
    names: dict[str, Any] = {}
    exec("def count():\n    global n\n    n = 1", names)
    before = dict(names)
    with names_restored(snippets(names, "count()")):
        names["count"]()
        assert names["n"] == 1
    assert names == before
