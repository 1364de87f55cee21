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
    "jax": jax,
    "jnp": jnp,
    "np": np,
    "f": jax.jit(lambda x: x + 1),
    "product": jax.jit(lambda x: x @ x),
    "cast": lambda x: jnp.asarray(x, jnp.float32) + 1,
    "x": WIDE,
    "y": NARROW,
    "a": ON_DEVICE,
    "rate": np.array(0.5),
    "few": np.ones(2),
    "index": np.arange(4),
    "rng": np.random.default_rng(0),
    "n": 4,
    "params": {"w": ON_DEVICE, "scale": WIDE, "layers": [ON_DEVICE, WIDE]},
    "model": SimpleNamespace(w=ON_DEVICE, scale=WIDE),
}


def caution_notes(code: str) -> list[Note]:
    return cautions(code, NAMES)


@pytest.mark.parametrize("code", ["z = f(x)", "a * x", "jnp.concatenate([x, x])", "f(x); f(y)"])
def test_float64_that_becomes_float32_is_told(code: str) -> None:
    (note,) = caution_notes(code)
    assert note.text == "x is float64; JAX converts it to float32 because x64 is off."


@pytest.mark.parametrize("part", ["model.scale", "params['layers'][1]"])
def test_parts_that_become_float32_are_told_as_they_are_typed(part: str) -> None:
    (note,) = caution_notes(f"f({part}, ) + f(params['w'])")
    assert note.text.startswith(f"{part} is float64")


@pytest.mark.parametrize(
    "made", ["np.zeros((4, 4))", "rng.random((4, 4))", "np.ones(3) * 2", "np.sin(np.ones(3))"]
)
def test_doubles_that_numpy_makes_in_the_statement_are_told(made: str) -> None:
    (note,) = caution_notes(f"f({made})")
    assert note.text.startswith(f"{made} is float64; JAX converts it to float32")


def test_data_of_a_name_that_the_code_binds_or_computes_with_is_told() -> None:
    (note,) = caution_notes("v = np.linspace(0, 1)\nf(v)")
    assert note.text.startswith("v is float64")
    (note,) = caution_notes("jnp.sum(index)")
    assert note.text == "index is int64; JAX converts it to int32 because x64 is off."
    assert caution_notes("jnp.take(a, index)") == []
    jax.config.update("jax_enable_x64", True)
    try:
        assert caution_notes("f(x)") == []
    finally:
        jax.config.update("jax_enable_x64", False)


@pytest.mark.parametrize(
    "code",
    ["f(np.ones(3, dtype='float32'))", "f(np.ones(3).astype('float32'))", "f(np.ones(2))",
     "f(np.random.normal())", "np.sum(np.ones(3)); f(a)", "v = np.asarray(f(a))"],
)  # fmt: skip
def test_nothing_is_told_of_what_numpy_makes_otherwise(code: str) -> None:
    assert caution_notes(code) == []


@pytest.mark.parametrize(
    "code",
    ["f(y)", "f(a); np.sum(x)", "jnp.ones(len(x))", "cast(x)", "a * rate", "f(params['w'])",
     "f(params['layers'][0] + model.w)", "f(x.astype('float32'))",
     "jnp.asarray(x, dtype=jnp.float32)", "f(jnp.bfloat16(x))", "jnp.sum(few)"],
)  # fmt: skip
def test_nothing_is_told_of_types_that_stay_or_were_chosen(code: str) -> None:
    assert caution_notes(code) == []


@pytest.mark.parametrize("code", ["product(a)", "a @ a", "jnp.dot(a, a)"])
def test_products_that_lose_bits_are_told_with_the_error_that_was_measured(code: str) -> None:
    with jax.default_matmul_precision("F16_F16_F16"):  # the one that a CPU obeys
        (note,) = caution_notes(code)
    assert note.text == (
        "float16: float32 matrix products on cpu:0 are computed in it"
        ' (relative error 3e-04, not 1e-07): jax_default_matmul_precision is "F16_F16_F16".'
    )
    assert note.advice == 'jax.config.update("jax_default_matmul_precision", "float32")'


def rounded(device: str, left: Any, right: Any) -> Any:
    """As a GPU does that keeps ten bits of the fraction."""
    left, right = ((each.view(np.uint32) >> 13 << 13).view(np.float32) for each in (left, right))
    return left @ right


@pytest.mark.parametrize(
    ("setting", "code", "cause"),
    [
        (None, "default-precision", "JAX's default"),
        ("tensorfloat32", "reduced-precision",
         'jax_default_matmul_precision is "tensorfloat32"'),
    ],
)  # fmt: skip
def test_what_a_gpu_rounds_by_default_is_another_note_than_what_was_set(
    monkeypatch: pytest.MonkeyPatch, setting: str | None, code: str, cause: str
) -> None:
    monkeypatch.setattr(caveats, "_multiply", rounded)
    placed = Placement("a", "jax", 1, "float32", (2, 2), ("gpu:0",), 16)
    facts = CodeFacts(inputs=(placed,), statements=tuple(ast.parse("a @ a").body))
    with jax.default_matmul_precision(setting):
        (note,) = caveats._note_rounding(facts)
    assert note.code == code
    assert note.text.startswith("TF32: float32 matrix products on gpu:0 are")
    assert note.text.endswith(f": {cause}.")


@pytest.mark.parametrize("setting", [None, "bfloat16", "highest"])
def test_a_setting_without_effect_on_this_device_is_not_told(setting: str | None) -> None:
    with jax.default_matmul_precision(setting):
        assert caution_notes("product(a)") == []


@pytest.mark.parametrize("code", ["f(a)", "jnp.matmul(a, a, precision='highest')"])
def test_lost_bits_are_not_told_of_code_that_they_do_not_concern(code: str) -> None:
    with jax.default_matmul_precision("F16_F16_F16"):
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
    [("jax_debug_nans", "!", WAITS), ("jax_debug_infs", "!", WAITS),
     ("jax_disable_jit", "!", "nothing is compiled, operations run one by one"),
     ("jax_check_tracer_leaks", "·", FIRST), ("jax_enable_checks", "·", FIRST),
     ("jax_log_compiles", "·", FIRST), ("jax_explain_cache_misses", "·", FIRST)],
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
