"""What of JAX's settings changes what a figure means: told where it is so, and only there."""

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench.adapters.jax import caveats
from ipyjaxbench.adapters.jax.float64_literals import makes_doubles
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.reports.note import Note
from ipyjaxbench.timing.validity.code_facts import CodeFacts
from tests.cautions import cautions

WIDE, NARROW, ON_DEVICE = np.ones((8, 8)), np.ones((8, 8), np.float32), jnp.ones((8, 8))
NAMES: dict[str, Any] = {
    "jax": jax, "jnp": jnp, "np": np, "f": jax.jit(lambda x: x + 1), "x": WIDE, "y": NARROW,
    "a": ON_DEVICE, "product": jax.jit(lambda x: x @ x), "rate": np.array(0.5), "few": np.ones(2),
    "cast": lambda x: jnp.asarray(x, jnp.float32) + 1, "index": np.arange(4),
    "rng": np.random.default_rng(0), "params": {"w": ON_DEVICE, "layers": [ON_DEVICE, WIDE]},
    "model": SimpleNamespace(w=ON_DEVICE, scale=WIDE),
}  # fmt: skip


def caution_notes(code: str) -> list[Note]:
    return cautions(code, NAMES)


@pytest.mark.parametrize(
    ("code", "wide", "narrow"),
    [
        ("z = f(x)", "x is float64", "float32"), ("a * x", "x is float64", "float32"),
        ("f(model.scale) + f(params['w'])", "model.scale is float64", "float32"),
        ("f(params['layers'][1], )", "params['layers'][1] is float64", "float32"),
        ("f(rng.random((4, 4)))", "rng.random((4, 4)) is float64", "float32"),
        ("v = np.linspace(0, 1)\nf(v)", "v is float64", "float32"),
        ("jnp.sum(index)", "index is int64", "int32"),
    ],
)  # fmt: skip
def test_data_that_becomes_narrower_is_told_as_it_is_typed(
    code: str, wide: str, narrow: str
) -> None:
    (note,) = caution_notes(code)
    assert note.text == f"{wide}; JAX converts it to {narrow} because x64 is off."
    jax.config.update("jax_enable_x64", True)
    try:
        assert caution_notes(code) == []
    finally:
        jax.config.update("jax_enable_x64", False)


@pytest.mark.parametrize(
    "code",
    ["f(y)", "f(a); np.sum(x)", "jnp.ones(len(x))", "cast(x)", "a * rate", "f(x.astype('float32'))",
     "f(params['layers'][0] + model.w)", "f(jnp.bfloat16(x))", "jnp.sum(few)", "f(np.ones(2))",
     "f(np.ones(3, dtype='float32'))", "np.sum(np.ones(3)); f(a)", "v = np.asarray(f(a))",
     "jnp.take(a, index)"],
)  # fmt: skip
def test_nothing_is_told_of_types_that_stay_or_were_chosen(code: str) -> None:
    assert caution_notes(code) == []


def test_products_that_lose_bits_are_told_with_the_error_that_was_measured() -> None:
    with jax.default_matmul_precision("F16_F16_F16"):  # the one that a CPU obeys
        (note,) = caution_notes("product(a)")
    assert note.text == (
        "float16: float32 matrix products on cpu:0 are computed in it"
        ' (relative error 3e-04, not 1e-07): jax_default_matmul_precision is "F16_F16_F16".'
    )
    assert note.advice == 'jax.config.update("jax_default_matmul_precision", "float32")'


def rounded(device: str, left: Any, right: Any) -> Any:
    """As a GPU does that keeps ten bits of the fraction."""
    left, right = ((each.view(np.uint32) >> 13 << 13).view(np.float32) for each in (left, right))
    return left @ right


def test_what_a_gpu_rounds_by_default_is_another_note_than_what_was_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(caveats, "_multiply", rounded)
    placed = Placement("a", "jax", 1, "float32", (2, 2), ("gpu:0",), 16)
    facts = CodeFacts(inputs=(placed,), statements=tuple(ast.parse("a @ a").body))
    was_set = 'jax_default_matmul_precision is "tensorfloat32"'
    for setting, code, cause in (
        (None, "default-precision", "JAX's default"),
        ("tensorfloat32", "reduced-precision", was_set),
    ):
        with jax.default_matmul_precision(setting):
            (note,) = caveats._note_rounding(facts)
        assert note.code == code
        assert note.text.startswith("TF32: float32 matrix products on gpu:0 are")
        assert note.text.endswith(f": {cause}.")


@pytest.mark.parametrize(
    ("setting", "code"),
    [(None, "product(a)"), ("bfloat16", "product(a)"), ("F16_F16_F16", "f(a)"),
     ("F16_F16_F16", "jnp.matmul(a, a, precision='highest')")],
)  # fmt: skip
def test_a_setting_without_effect_on_this_device_or_code_is_not_told(
    setting: str | None, code: str
) -> None:
    with jax.default_matmul_precision(setting):
        assert caution_notes(code) == []


def test_looking_compiles_nothing_into_the_users_cache() -> None:
    traces: list[int] = []
    f = jax.jit(lambda x: (traces.append(1), x @ x)[1])
    with jax.default_matmul_precision("F16_F16_F16"):
        ipyjaxbench.measure_code("f(a)", {"f": f, "a": ON_DEVICE}, number=2, repeat=2)
    assert traces == [1]


WAITS = "every result is waited for and checked before the call returns"
FIRST = "tracing and compiling take longer, in the first call"


@pytest.mark.parametrize(
    ("option", "mark", "effect"),
    [("jax_debug_nans", "!", WAITS), ("jax_log_compiles", "·", FIRST),
     ("jax_disable_jit", "!", "nothing is compiled, operations run one by one")],
)  # fmt: skip
def test_options_for_finding_errors_are_told(option: str, mark: str, effect: str) -> None:
    jax.config.update(option, True)
    try:
        (note,) = caution_notes("f(a)")
        assert caution_notes("np.sort(y)") == []  # no work of JAX's
    finally:
        jax.config.update(option, False)
    advice = f'jax.config.update("{option}", False)'
    assert note == Note("setting-on", f"{option} is on: {effect}.", advice, mark)
    assert caution_notes("f(a)") == []


@pytest.mark.parametrize(
    ("code", "is_off", "compilations"),
    [("f(a)", True, None), ("f", False, None), ("f(a)", False, 0)],
)
def test_what_is_not_compiled_is_not_said_to_be(
    code: str, is_off: bool, compilations: int | None
) -> None:
    with jax.disable_jit(is_off):
        jax.block_until_ready(NAMES["f"](NAMES["a"]))  # and the operations that it runs
        found = ipyjaxbench.measure_code(code, NAMES, number=1, repeat=2)
    assert found.compilations == compilations


def test_flags_of_the_compiler_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_dump_to=/nowhere")
    assert [note.text for note in caution_notes("f(a)")] == [
        "xla_backend_optimization_level=0 is on: programs are barely optimized.",
        "xla_dump_to is on: every program is written to disk, in the first call.",
    ]
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=3")
    assert caution_notes("f(a)") == []


def test_a_profiler_is_told_while_it_runs(tmp_path: Path) -> None:
    with jax.profiler.trace(str(tmp_path)):
        (note,) = caution_notes("f(a)")
    assert note.text.startswith("jax.profiler is active")
    assert caution_notes("f(a)") == []


def makes(code: str) -> bool:
    def is_numpys(node: ast.expr) -> bool:
        return ast.unparse(node).startswith(("np.", "rng."))

    return makes_doubles(ast.parse(code, mode="eval").body, is_numpys)


DOUBLES = (
    "np.ones(3)", "np.zeros((3,))", "np.ones((1, 3))", "np.empty(n)", "np.ones(shape=(n, 2))",
    "np.random.rand(1, 3)", "rng.random(size=4)", "np.linspace(0, 1)", "np.eye(2)",
    "np.random.normal(size=3)", "rng.normal(0, 1, size=(2, 2))", "np.array([1.0, 2, 3])",
    "np.asarray([[1, 2.5], [3, 4]])", "2 * np.ones(3)", "x + np.ones(3) * y", "np.ones(3).T",
    "np.ones(6).reshape(2, 3)", "np.arange(3.0)", "np.arange(0, 1, 0.1)", "np.arange(n, 1.0)",
    "np.sin(np.ones(3)).copy()",
)  # fmt: skip
#: Also where there are few.
NO_DOUBLES = (
    "np.ones(2)", "np.ones(0)", "np.ones((1, 2))", "np.ones((2, 1), order='C')", "jnp.ones(3)",
    "ones(3)", "np.arange(3)", "np.arange(2.0)", "np.arange(0, 1, 0.5)", "np.arange(n)",
    "np.random.normal()", "np.random.normal(0, 1, 3)",
    "np.random.normal(size=2)", "np.array([1, 2, 3])", "np.array([1.0, 2.0])", "np.array()",
    "np.array(x)", "np.sin(x)", "np.argsort(np.ones(3))", "np.ones(3).shape", "np.ones(3)[0]",
    "np.ones(3) > 0", "x * y", "x.T", "3.0",
)  # fmt: skip


def test_several_doubles_are_told_from_few_and_from_other_data() -> None:
    assert [code for code in DOUBLES if not makes(code)] == []
    assert [code for code in NO_DOUBLES if makes(code)] == []
