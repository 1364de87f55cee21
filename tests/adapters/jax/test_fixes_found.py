"""Where a fix of JAX's is found, and in which words it is told."""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import jax
import jax.numpy as J  # as a user may call it
import pytest

import ipyjaxbench
from ipyjaxbench import Diagnosis, UntraceableError

X = J.arange(6.0) - 2


def why(function: Callable[..., Any], *args: Any) -> Diagnosis:
    with pytest.raises(UntraceableError) as caught:
        ipyjaxbench.graph(function, *args)
    return caught.value.diagnosis


def sign(x: Any) -> Any:
    return x if x.sum() > 0 else -x


def below(x: Any) -> Any:
    return sign(x) + 1


def two_below(x: Any) -> Any:
    return below(x) * 2


@jax.jit
def jitted(x: Any) -> Any:
    return x if x.sum() > 0 else -x


def with_jitted(x: Any) -> Any:
    return jitted(x) + 1


def called(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


@called
@called
def decorated(x: Any) -> Any:
    return x if x.sum() > 0 else -x


def within(x: Any) -> Any:
    def a(y: Any) -> Any:
        def b(z: Any) -> Any:
            return z if z.sum() > 0 else -z

        return b(y)

    return a(x)


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


def uses_model(x: Any) -> Any:
    return MODEL(x)


def makes_model(x: Any) -> Any:
    return Model()(x)


def apply_model(model: Any, x: Any) -> Any:
    return model(x)


class Models:
    """Models of libraries, whose methods are wrapped."""

    @staticmethod
    def linen() -> tuple[Any, ...]:
        linen = pytest.importorskip("flax.linen")

        class Signed(linen.Module):  # type: ignore[misc]
            @linen.compact
            def __call__(self, x: Any) -> Any:
                x = linen.Dense(3)(x)
                return x if x.sum() > 0 else -x

        return Signed().apply, {"params": {"Dense_0": {"kernel": J.ones((6, 3)), "bias": X[:3]}}}, X

    @staticmethod
    def equinox() -> tuple[Any, ...]:
        equinox = pytest.importorskip("equinox")

        class Scaled(equinox.Module):  # type: ignore[misc]
            w: Any

            def sign(self, x: Any) -> Any:
                return x if x.sum() > 0 else -x

            def __call__(self, x: Any) -> Any:
                return self.sign(x * self.w)

        return Scaled(X), X

    @staticmethod
    def method_of_equinox() -> tuple[Any, ...]:
        model, x = Models.equinox()
        return model.sign, x


@pytest.mark.parametrize("made", [Models.linen, Models.equinox, Models.method_of_equinox])
def test_a_fix_is_found_in_a_model_of_a_library(made: Callable[[], tuple[Any, ...]]) -> None:
    function, *args = made()
    found = why(function, *args)
    assert [fix.code for fix in found.fixes] == [WHERE]
    assert found.fixes[0].same


WHERE = "return J.where(x.sum() > 0, x, -x)"


@pytest.mark.parametrize(
    ("function", "args", "inside"),
    [
        (two_below, (X,), "sign"),
        (with_jitted, (X,), "jitted"),
        (decorated, (X,), ""),
        (MODEL, (X,), "Layer.act"),
        (MODEL.of_static, (X,), "Layer.fixed"),
        (uses_model, (X,), "Layer.act"),
        (makes_model, (X,), "Layer.act"),
        (apply_model, (MODEL, X), "Layer.act"),
        (functools.partial(apply_model, MODEL), (X,), "Layer.act"),
        (lambda x: x if x.sum() > 0 else -x, (X,), ""),
    ],
)
def test_the_line_and_a_fix_are_found_in_what_a_function_uses(
    function: Callable[..., Any], args: tuple, inside: str
) -> None:
    found = why(function, *args)
    assert found.inside == inside
    is_lambda = getattr(function, "__name__", "") == "<lambda>"
    assert [f.code for f in found.fixes] == [WHERE.removeprefix("return ") if is_lambda else WHERE]
    assert found.fixes[0].same
    assert f"{found.line}{f' in {inside}' if inside else ''}: " in " ".join(str(found).split())


def test_a_function_within_a_function_is_named_after_both() -> None:
    found = why(within, X)
    assert (found.inside, found.blamed) == ("within.a.b", ("x",))
    assert found.fixes[0].code == "return J.where(z.sum() > 0, z, -z)"


def test_a_fix_is_found_in_another_module_and_spelled_in_its_names(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        ({"jnp": J}, "jnp.where("),
        ({"jax": jax}, "jax.numpy.where("),
        ({"where": J.where}, "where("),
        ({"np": J}, "np.where("),
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
        ("return J.nonzero(x > 0)", "return J.nonzero(x > 0, size=N)"),
        ("return J.unique(x)", "return J.unique(x, size=N)"),
        ("return J.argwhere(x > 0)", "return J.argwhere(x > 0, size=N)"),
        ("return x.nonzero()", "return J.nonzero(x, size=N)"),
        ("return J.where(x > 0)", "return J.where(x > 0, size=N)"),
        ("return J.repeat(x, x.astype(int))",
         "return J.repeat(x, x.astype(int), total_repeat_length=N)"),
        ("return J.bincount(x.astype(int))", "return J.bincount(x.astype(int), length=N)"),
        ('print(f"at {x.sum():.2f} {{}}")', "jax.debug.print('at {:.2f} {{}}', x.sum())"),
        ('print("at %.2f" % x.sum())', "jax.debug.print('at {:.2f}', x.sum())"),
        ('print("at {:.2f}".format(x.sum()))', "jax.debug.print('at {:.2f}', x.sum())"),
    ],
)  # fmt: skip
def test_what_jax_has_for_it_is_tried(line: str, code: str, tmp_path: Any) -> None:
    found = spelled_with({"J": J, "jax": jax}, tmp_path, line)
    assert [fix.code for fix in found.fixes] == [code]
