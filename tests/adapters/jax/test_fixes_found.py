"""Where a fix of JAX's is found, and in which words it is told."""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import equinox
import flax.linen
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


def two_below(x: Any) -> Any:
    return below(x) * 2


@jax.jit
def jitted(x: Any) -> Any:
    return x if x.sum() > 0 else -x


def called(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


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

    def of_static(self, x: Any) -> Any:
        return self.layer.fixed(x)


MODEL = Model()


def apply_model(model: Any, x: Any) -> Any:
    return model(x)


class Signed(flax.linen.Module):  # type: ignore[misc]
    @flax.linen.compact
    def __call__(self, x: Any) -> Any:
        x = flax.linen.Dense(3)(x)
        return x if x.sum() > 0 else -x


class Scaled(equinox.Module):  # type: ignore[misc]
    w: Any

    def sign(self, x: Any) -> Any:
        return x if x.sum() > 0 else -x

    def __call__(self, x: Any) -> Any:
        return self.sign(x * self.w)


KERNELS = {"params": {"Dense_0": {"kernel": jnp.ones((6, 3)), "bias": X[:3]}}}


@pytest.mark.parametrize(
    ("function", "args", "inside"),
    [
        (two_below, (X,), "sign"),
        (written("x", "return jitted(x) + 1", jitted=jitted), (X,), "jitted (test_fixes_found.py)"),
        (called(called(sign)), (X,), ""),
        (MODEL, (X,), "Layer.act"),
        (MODEL.of_static, (X,), "Layer.fixed"),
        (lambda x: MODEL(x) + 1, (X,), "Layer.act"),
        (lambda x: Model()(x) + 1, (X,), "Layer.act"),
        (apply_model, (MODEL, X), "Layer.act"),
        (functools.partial(apply_model, MODEL), (X,), "Layer.act"),
        (lambda x: x if x.sum() > 0 else -x, (X,), ""),
        (Signed().apply, (KERNELS, X), None),
        (Scaled(X), (X,), None),
        (Scaled(X).sign, (X,), None),
    ],
)
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


@pytest.mark.parametrize(
    ("names", "code"),
    [
        ({"jax": jax}, "jax.numpy.where("),
        ({"where": jnp.where}, "where("),
        ({"np": jnp}, "np.where("),
    ],
)
def test_a_fix_is_spelled_in_the_names_that_the_code_has(
    names: dict[str, Any], code: str, tmp_path: Any
) -> None:
    found = spelled_with(names, tmp_path, "return x if x.sum() > 0 else -x")
    assert found.fixes[0].code == f"return {code}x.sum() > 0, x, -x)"
    assert "import" not in found.fixes[0].cost


def test_a_name_that_is_missing_is_told_in_full_with_its_import(tmp_path: Any) -> None:
    found = spelled_with({}, tmp_path, "return x if x.sum() > 0 else -x")
    assert found.fixes[0].code == "return jax.numpy.where(x.sum() > 0, x, -x)"
    assert found.fixes[0].cost.endswith("import jax")
    advice = spelled_with({"jay": jax}, tmp_path, "return 1 if x.sum() > 0 else 'a'").advice
    assert advice == (
        "Use jay.numpy.where or jay.lax.cond instead of if, and jay.lax.while_loop instead of"
        " while."
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("return jnp.nonzero(x > 0)", "return jnp.nonzero(x > 0, size=N)"),
        ("return jnp.unique(x)", "return jnp.unique(x, size=N)"),
        ("return jnp.argwhere(x > 0)", "return jnp.argwhere(x > 0, size=N)"),
        ("return x.nonzero()", "return jnp.nonzero(x, size=N)"),
        ("return jnp.where(x > 0)", "return jnp.where(x > 0, size=N)"),
        ("return jnp.repeat(x, x.astype(int))",
         "return jnp.repeat(x, x.astype(int), total_repeat_length=N)"),
        ("return jnp.bincount(x.astype(int))", "return jnp.bincount(x.astype(int), length=N)"),
        ('print(f"at {x.sum():.2f} {{}}")', "jax.debug.print('at {:.2f} {{}}', x.sum())"),
        ('print("at %.2f" % x.sum())', "jax.debug.print('at {:.2f}', x.sum())"),
    ],
)  # fmt: skip
def test_what_jax_has_for_it_is_tried(line: str, code: str) -> None:
    assert [fix.code for fix in why(written("x", line), X).fixes] == [code]
