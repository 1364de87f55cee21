"""What of JAX's settings changes what a figure means: told where it is so, and only there."""

import ast
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench.adapters.jax import caveats
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.reports.note import Note
from ipyjaxbench.timing.validity.code_facts import CodeFacts
from tests.adapters.pair import run_pair
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
    "index": np.arange(4),
    "rng": np.random.default_rng(0),
    "n": 4,
    "params": {"w": ON_DEVICE, "scale": WIDE, "layers": [ON_DEVICE, WIDE]},
    "model": SimpleNamespace(w=ON_DEVICE, scale=WIDE),
}


def caution_notes(code: str) -> list[Note]:
    return cautions(code, NAMES)


@pytest.mark.parametrize(
    "code", ["f(x)", "z = f(x)", "jnp.sin(x)", "a * x", "jnp.concatenate([x, x])", "f(x); f(y)"]
)
def test_float64_that_becomes_float32_is_told(code: str) -> None:
    (note,) = caution_notes(code)
    assert note.text == "x is float64; JAX converts it to float32 because x64 is off."


@pytest.mark.parametrize("part", ["params['scale']", "model.scale", "params['layers'][1]"])
def test_parts_that_become_float32_are_told_as_they_are_typed(part: str) -> None:
    (note,) = caution_notes(f"f({part}, ) + f(params['w'])")
    assert note.text.startswith(f"{part} is float64")


@pytest.mark.parametrize(
    "made",
    ["np.ones(3)", "np.zeros((4, 4))", "np.linspace(0, 1)", "np.eye(n)", "np.random.rand(4, 4)",
     "np.random.normal(size=(4, 4))", "rng.random((4, 4))", "np.array([0.5, 1, 2])",
     "np.ones(3) * 2", "np.ones((4, 4)).T", "np.sin(np.ones(3))"],
)  # fmt: skip
def test_doubles_that_numpy_makes_in_the_statement_are_told(made: str) -> None:
    (note,) = caution_notes(f"f({made})")
    assert note.text.startswith(f"{made} is float64; JAX converts it to float32")


def test_doubles_of_a_name_that_the_code_binds_are_told() -> None:
    (note,) = caution_notes("v = np.linspace(0, 1)\nf(v)")
    assert note.text.startswith("v is float64")


@pytest.mark.parametrize(
    "code",
    ["f(np.ones(3, dtype='float32'))", "f(np.ones(3).astype('float32'))", "f(np.ones(2))",
     "f(np.arange(3))", "f(np.array([1, 2, 3]))", "f(np.float32(1))", "f(np.random.normal())",
     "f(np.ones(3) > 0)", "f(np.argsort(np.ones(3)))", "np.sum(np.ones(3)); f(a)",
     "v = np.asarray(f(a))", "f(np.ones(3).shape[0])"],
)  # fmt: skip
def test_nothing_is_told_of_what_numpy_makes_otherwise(code: str) -> None:
    assert caution_notes(code) == []


def test_integers_are_told_where_they_are_what_is_computed() -> None:
    (note,) = caution_notes("jnp.sum(index)")
    assert note.text == "index is int64; JAX converts it to int32 because x64 is off."
    assert caution_notes("jnp.take(a, index)") == []


@pytest.mark.parametrize(
    "code",
    ["f(y)", "f(a)", "np.sort(x)", "f(a); np.sum(x)", "jnp.ones(len(x))", "cast(x)",
     "a * rate", "f(rate)",
     "f(params['w'])", "f(model.w)", "f(params['layers'][0])", "f(params['w'] + model.w)",
     "f(x.astype('float32'))", "jnp.asarray(x, dtype=jnp.float32)", "f(jnp.bfloat16(x))"],
)  # fmt: skip
def test_nothing_is_told_of_types_that_stay_or_were_chosen(code: str) -> None:
    assert caution_notes(code) == []


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_two_numbers_are_a_rate_or_a_scale_and_three_are_data(dtype: str) -> None:
    for count in (2, 3):
        notes = cautions("jnp.sum(few)", {"jnp": jnp, "few": np.ones(count, dtype)})
        assert len(notes) == count - 2


def test_with_x64_nothing_becomes_narrower() -> None:
    jax.config.update("jax_enable_x64", True)
    try:
        assert caution_notes("f(x)") == []
    finally:
        jax.config.update("jax_enable_x64", False)


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
    [
        ("jax_debug_nans", "!", WAITS),
        ("jax_debug_infs", "!", WAITS),
        ("jax_disable_jit", "!", "nothing is compiled, operations run one by one"),
        ("jax_check_tracer_leaks", "·", FIRST),
        ("jax_enable_checks", "·", FIRST),
        ("jax_log_compiles", "·", FIRST),
        ("jax_explain_cache_misses", "·", FIRST),
    ],
)
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


def in_a_process(flags: str) -> str:
    """The Notes of JAX in a fresh process that starts with these flags."""
    setting = f"os.environ['XLA_FLAGS'] = '{flags}'"
    code = (
        "import os\n"
        f"{setting}\n"
        "import jax.numpy as jnp, ipyjaxbench\n"
        "x = jnp.ones(3)\n"
        "r = ipyjaxbench.measure_code('jnp.sin(x)', dict(jnp=jnp, x=x), number=1, repeat=2)\n"
        "print([n.text for n in r.notes if n.code == 'setting-on'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_flags_of_the_compiler_are_told(tmp_path: Path) -> None:
    flags = f"--xla_backend_optimization_level=0 --xla_dump_to={tmp_path}"
    assert in_a_process(flags) == str(
        [
            "xla_backend_optimization_level=0 is on: programs are barely optimized.",
            "xla_dump_to is on: every program is written to disk, in the first call.",
        ]
    )
    assert in_a_process("--xla_backend_optimization_level=3") == "[]"


def test_a_profiler_is_told_while_it_runs(tmp_path: Path) -> None:
    with jax.profiler.trace(str(tmp_path)):
        (note,) = caution_notes("f(a)")
    assert note.text.startswith("jax.profiler is active")
    assert caution_notes("f(a)") == []


def test_several_processes_are_told_where_arrays_lie_on_all_of_them() -> None:
    printed = run_pair(
        "import sys, jax, numpy as np\n"
        "jax.config.update('jax_cpu_collectives_implementation', 'gloo')\n"
        "jax.distributed.initialize(f'localhost:{sys.argv[2]}', 2, int(sys.argv[1]))\n"
        "import jax.numpy as jnp, ipyjaxbench\n"
        "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\n"
        "mesh = Mesh(np.array(jax.devices()), 'd')\n"
        "parts = NamedSharding(mesh, P('d'))\n"
        "x = jax.make_array_from_callback((8,), parts, lambda i: np.ones(8, 'f4')[i])\n"
        "total = jax.jit(jnp.sum, out_shardings=NamedSharding(mesh, P()))\n"
        "names = dict(jnp=jnp, f=total, x=x, y=jnp.ones(3))\n"
        "def told(code):\n"
        "    r = ipyjaxbench.measure_code(code, names, number=3, repeat=2)\n"
        "    return [n.text for n in r.notes if n.code == 'processes']\n"
        "print(told('f(x)') + told('jnp.sin(y)'))"
    )
    assert printed == [
        f"['This is the time of process {i} of 2; the others may differ.']" for i in (0, 1)
    ]
