"""Which expressions make an array of several doubles, by their code alone."""

import ast

import pytest

from ipyjaxbench.adapters.jax.float64_literals import makes_doubles


def makes(code: str) -> bool:
    def is_numpys(node: ast.expr) -> bool:
        return ast.unparse(node).startswith(("np.", "rng."))

    return makes_doubles(ast.parse(code, mode="eval").body, is_numpys)


@pytest.mark.parametrize(
    "code",
    [
        "np.ones(3)", "np.zeros((3,))", "np.ones((1, 3))", "np.empty(n)", "np.ones(shape=(n, 2))",
        "np.random.rand(1, 3)", "rng.random(size=4)", "np.linspace(0, 1)", "np.eye(2)",
        "np.random.normal(size=3)", "rng.normal(0, 1, size=(2, 2))", "np.array([1.0, 2, 3])",
        "np.asarray([[1, 2.5], [3, 4]])", "np.ones(3) * 2", "2 * np.ones(3)",
        "x + np.ones(3) * y", "np.ones(3).T", "np.ones(6).reshape(2, 3)", "np.sin(np.ones(3))",
        "np.sin(np.ones(3)).copy()",
    ],
)  # fmt: skip
def test_several_doubles_are_made(code: str) -> None:
    assert makes(code)


@pytest.mark.parametrize(
    "code",
    [
        "np.ones(2)", "np.ones(0)", "np.ones((1, 2))", "np.ones((2, 1), order='C')",
        "jnp.ones(3)", "ones(3)", "np.arange(3)", "np.random.normal()", "np.random.normal(0, 1, 3)",
        "np.random.normal(size=2)", "np.array([1, 2, 3])", "np.array([1.0, 2.0])", "np.array()",
        "np.array(x)", "np.sin(x)", "np.argsort(np.ones(3))", "np.ones(3).shape", "np.ones(3)[0]",
        "np.ones(3) > 0", "x * y", "x.T", "3.0",
    ],
)  # fmt: skip
def test_none_or_few_or_no_doubles_are_made(code: str) -> None:
    assert not makes(code)
