"""Where a fix of JAX's is found, and in which words it is told."""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import equinox
import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench import Diagnosis
from tests.adapters.jax.written import why, written

X = jnp.arange(6.0) - 2
WHERE = "return jnp.where(x.sum() > 0, x, -x)"


def sign(x: Any) -> Any:
    return x if x.sum() > 0 else -x


def below(x: Any) -> Any:
    return sign(x) + 1


@jax.jit
def jitted(x: Any) -> Any:
    return x if x.sum() > 0 else -x


class Layer:
    def act(self, x: Any) -> Any:
        return x if x.sum() > 0 else -x

    @staticmethod
    def fixed(x: Any) -> Any:
        return x if x.sum() > 0 else -x


class Model:
    def __init__(self) -> None:
        self.layer = Layer()

    def __call__(self, x: Any) -> Any:
        return self.layer.act(x) * 2


class Scaled(equinox.Module):  # type: ignore[misc]
    w: Any

    def sign(self, x: Any) -> Any:
        return x if x.sum() > 0 else -x


@pytest.mark.parametrize(("function", "args", "inside"), [
    (lambda x: below(x) * 2, (X,), "sign"),
    (written("x", "return jitted(x) + 1", jitted=jitted), (X,), "jitted (test_fixes_found.py)"),
    (lambda x: Layer().fixed(x) + 1, (X,), "Layer.fixed"),
    (functools.partial(lambda model, x: model(x), Model()), (X,), "Layer.act"),
    (lambda x: x if x.sum() > 0 else -x, (X,), ""),
    (Scaled(X).sign, (X,), None),
])  # fmt: skip
def test_the_line_and_a_fix_are_found_in_what_a_function_uses(
    function: Callable[..., Any], args: tuple, inside: str | None
) -> None:
    found = why(function, *args)
    is_lambda = found.source.startswith("(lambda x: x if")
    assert [f.code for f in found.fixes] == [WHERE.removeprefix("return ") if is_lambda else WHERE]
    assert found.fixes[0].same
    if inside is not None:
        assert found.inside == inside
        place = f"{found.line}{f' in {inside}' if inside else ''}: "
        assert place in " ".join(str(found).split())


WITHIN = """\
def a(y):
    def b(z):
        return z if z.sum() > 0 else -z
    return b(y)
return a(x)"""


def test_a_function_within_a_function_is_named_after_both_and_one_elsewhere_with_its_file(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = why(written("x", WITHIN), X)
    assert (found.inside, found.blamed) == ("f.a.b", ("x",))
    assert found.fixes[0].code == "return jnp.where(z.sum() > 0, z, -z)"
    text = "import jax.numpy as nup\n\ndef inner(z):\n    return z if z.sum() > 0 else -z\n\n\n"
    (tmp_path / "my_helpers.py").write_text(text + "def outer(z):\n    return inner(z) + 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    helpers = __import__("my_helpers")

    found = why(lambda x: helpers.outer(x * 1), X)
    assert found.inside == "inner (my_helpers.py)"
    assert found.fixes[0].code == "return nup.where(z.sum() > 0, z, -z)"


def spelled_with(names: dict[str, Any], tmp_path: Any, line: str) -> Diagnosis:
    file = tmp_path / "spelled.py"
    file.write_text(f"def f(x):\n    {line}\n")
    module = ModuleType("spelled")
    vars(module).update(names)
    exec(compile(file.read_text(), str(file), "exec"), vars(module))
    return why(module.f, X)


def test_a_name_that_is_missing_is_told_in_full_with_its_import(tmp_path: Any) -> None:
    for names, is_missing in ({"jax": jax}, False), ({}, True):
        (fix, *_) = spelled_with(names, tmp_path, "return x if x.sum() > 0 else -x").fixes
        assert fix.code == "return jax.numpy.where(x.sum() > 0, x, -x)"
        assert ("import jax" in fix.cost) is is_missing
    advice = spelled_with({"jay": jax}, tmp_path, "return 1 if x.sum() > 0 else 'a'").advice
    assert advice.startswith("Use jay.numpy.where or jay.lax.cond instead of if, and jay.lax.while")
