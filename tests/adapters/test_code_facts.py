"""What is read from code before an adapter is asked."""

import ast
from typing import Any

import numpy as np
import pytest

from ipyjaxbench.adapters.shared.matmul_precision import example, lost, may_multiply, note_rounding
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.timing.validity.code_facts import CodeFacts
from ipyjaxbench.usercode.objects import package_of


def code_facts(code: str, written: tuple[Any, ...] = (), **values: object) -> CodeFacts:
    packages = {n: package_of(v) or type(v).__module__ for n, v in values.items()}
    return CodeFacts(statements=tuple(ast.parse(code).body), packages=packages, written=written)


def users_function(*values: object) -> None:
    """A function of the user's."""


X = np.ones(3)


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        *((code, {"x"}) for code in (
            "f(1, [x])", "f(k=x)", "f(*x)", "f({'a': x})", "f.g(x)", "f(1)(x)", "y = f(x)",
            "f(2) * x", "x @ f(2)", "[f(x) for _ in range(3)]")),
        # Parts of them as they are typed.
        ("f(x[0])", {"x", "x[0]"}), ("f(x.w)", {"x.w"}), ("x.w @ f(2)", {"x.w"}),
        ("x.shape[0] * f(2)", {"x.shape[0]"}), ("f([x['a'].w])", {"x['a'].w"}),
        # What NumPy and Python are given is none of it.
        *((code, set()) for code in (
            "np.sort(x)", "x.sum()", "len(x)", "x * 2", "x + x", "f(2); np.sum(x)", "f(len(x))",
            "f(x.astype('float32'))", "f(np.float32(x))", "x.dot(x)", "x")),
    ],
)  # fmt: skip
def test_names_are_handed_on_to_calls_and_operators_of_others(code: str, parts: set[str]) -> None:
    assert code_facts(code, f=users_function, x=X, np=np).handed_on == parts


def product(a: Any, b: Any) -> Any:
    return (lambda c: c @ b)(a)


def doubled(a: Any) -> Any:
    return a.sum(keepdims=True) * 2


def test_products_are_seen_in_the_code_and_in_functions() -> None:
    for code in ("a @ b", "a @= b", "np.dot(a, b)", "F.conv2d(a)", "f(einsum)"):
        assert code_facts(code).multiplies
    assert code_facts("f(x)", (product,)).multiplies
    assert not code_facts("f(x) * 2; a.converted(inner_part)", (doubled,)).multiplies


def test_words_are_names_keywords_and_strings() -> None:
    words = code_facts("f(x.y, k='text')", (doubled,)).words
    assert {"f", "x", "y", "k", "text", "sum", "keepdims"} <= words


def test_devices_are_those_of_arrays_of_a_type() -> None:
    def at(framework: str, dtype: str, *devices: str) -> Placement:
        return Placement("", framework, 1, dtype, (2,), devices, 8)

    found = CodeFacts(
        inputs=(at("jax", "float32", "gpu:0", "gpu:1"), at("jax", "int32", "cpu:0")),
        outputs=(at("torch", "float32", "cuda:0"), at("jax", "mixed", "gpu:1", "gpu:2")),
    )
    assert found.devices("jax", "float32") == ["gpu:0", "gpu:1", "gpu:2"]


def rounded(numbers: Any, bits: int) -> Any:
    """As a unit does that keeps so many bits of the fraction."""
    drop = 23 - bits
    whole = numbers.view(np.uint32) + np.uint32(1 << (drop - 1))
    return (whole >> drop << drop).view(np.float32)


def test_lost_bits_are_measured_and_what_is_no_product_tells_nothing() -> None:
    left, right, exact = example()
    for bits, error in ((10, 2.3e-4), (7, 1.9e-3)):
        found = lost(rounded(left, bits) @ rounded(right, bits))
        assert found == pytest.approx(error, rel=0.1)
    assert lost(left @ right) is lost(exact) is lost(exact * (1 + 0.9e-5)) is None
    assert lost(exact * (1 + 1.1e-5)) == pytest.approx(1.1e-5)
    assert lost(exact * np.nan) is lost(exact[0]) is None
    # It is large enough for the usual kernels, and exact in float64.
    assert left.shape == right.shape == exact.shape == (64, 64)
    assert (left.dtype, right.dtype, exact.dtype) == ("float32", "float32", "float64")
    assert np.array_equal(exact, left.astype(float) @ right.astype(float))
    assert abs(np.linalg.matrix_rank(left) - 64) <= 1  # it has no pattern


def test_each_setting_of_a_device_is_tried_once_and_one_that_fails_says_nothing() -> None:
    tried = []

    def multiply(device: str, left: Any, right: Any) -> Any:
        tried.append(device)
        if device == "gpu:1":
            raise RuntimeError("it cannot multiply")
        return rounded(left, 11) @ rounded(right, 11)

    for _ in range(2):
        (note,) = note_rounding(multiply, "gpu:0", "TF32 is on", "turn it off")
        assert note.code == "reduced-precision"
        assert "TF32 is on" in note.text
        assert note.advice == "turn it off"
        (default,) = note_rounding(multiply, "gpu:0", "TF32 is on", "off", by_default=True)
        assert (default.code, default.text) == ("default-precision", note.text)
        assert not [*note_rounding(multiply, "gpu:1", "TF32 is on", "turn it off")]
    assert tried == ["gpu:0", "gpu:1"]
    assert [*note_rounding(multiply, "gpu:0", "another setting", "")]
    assert tried == ["gpu:0", "gpu:1", "gpu:0"]


class Module:
    """Stands for the modules of a framework."""


def test_code_may_multiply_where_it_does_or_uses_modules_of_the_framework() -> None:
    assert may_multiply(code_facts("a @ b"), Module)
    assert may_multiply(CodeFacts(functions=(len, Module())), Module)
    assert not may_multiply(CodeFacts(functions=(len, Module)), Module)
    assert not may_multiply(code_facts("a + b"), Module)
