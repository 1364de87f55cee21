"""What JAX programs really compute, what is built in every call, and the peak of a device."""

import functools
import logging
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import ipyjaxbench
from ipyjaxbench.adapters.jax.compilation import JaxCompilation
from ipyjaxbench.adapters.jax.graphs import compiled_work
from ipyjaxbench.adapters.jax.graphs.compiled_work import Works, cost_analysis
from ipyjaxbench.frameworks import Compilation
from ipyjaxbench.timing.validity.compiled_work import CompiledCall, check_work
from tests.loads import named

ABOUT = {"built-each-call", "constant-folded", "work-removed", "impossible-speed", "recompiles",
         "value-cached", "copy-kept", "used-up", "grows", "slows-down", "no-work",
         "not-called"}  # fmt: skip
SIDE = 128
PRODUCT = 2.0 * SIDE**3
BIG = jnp.ones((600, 600))


def compilation() -> JaxCompilation:
    return named("jax").capability(Compilation)  # type: ignore[return-value]


def run(code: str, names: dict[str, Any]) -> dict[str, Any]:
    result = ipyjaxbench.measure_code(code, names, budget=0.05)
    return {note.code: note for note in result.notes if note.code in ABOUT}


def work(function: Any, *args: Any) -> Any:
    """What a call of a jitted function does that was made before."""
    jax.block_until_ready(function(*args))
    return compilation().work(function, args, {})


def left_out(function: Any, *args: Any) -> list[str]:
    """What is told of the work that the program of a function leaves out."""
    done = work(jax.jit(function), *args)
    return [note.code for note in check_work([CompiledCall("f", done)] if done else [], 1.0)]


@pytest.fixture
def x() -> Any:
    return jnp.ones((SIDE, SIDE)) / SIDE


def sine(x: Any) -> Any:
    return jnp.sin(x) + 1


# What is built in every call


OUTSIDE = "run  g = %s  once, outside, and time  g(...)"


@pytest.mark.parametrize(
    ("code", "built", "advice"),
    [
        ("jax.jit(f)(x)", "jax.jit", OUTSIDE % "jax.jit(f)"),
        ("jax.grad(loss)(x)", "jax.grad", OUTSIDE % "jax.jit(jax.grad(loss))"),
        ("partial(jit)(f)(x)", "jit", "create it once, outside, and time its call"),
    ],
)
def test_what_is_built_in_every_call_is_told(code: str, built: str, advice: str, x: Any) -> None:
    names = {"jax": jax, "jit": jax.jit, "partial": functools.partial, "f": sine, "x": x,
             "loss": lambda x: sine(x).sum()}  # fmt: skip
    found = run(code, names)
    assert list(found) == ["built-each-call"]
    assert found["built-each-call"].text.startswith(f"Every call runs {built}(...)")
    assert found["built-each-call"].advice == advice


# What the program leaves out


def folded(x: Any) -> Any:
    return x[0] + jnp.tanh(BIG).sum()


def test_work_on_constants_is_told(x: Any) -> None:
    found = run("f(x)", {"f": jax.jit(lambda x: folded(x) + 1), "x": x})
    assert list(found) == ["constant-folded"]
    assert found["constant-folded"].text.startswith(
        "f closes over 1.37 MiB of arrays. What depends on them alone was computed at"
        " compile time (constant folding): 720 kFLOP as written, "
    )


@pytest.mark.parametrize(("code", "name"), [("y = f(x=x)", "f"), ("o.f(o.x)", "o.f")])
def test_work_that_nothing_uses_is_told(code: str, name: str, x: Any) -> None:
    f = jax.jit(lambda x: (x @ x @ x, x + 1)[1])
    found = run(code, {"f": f, "x": x, "o": SimpleNamespace(f=f, x=x)})
    assert list(found) == ["work-removed"]
    told = f"The compiler removed work from {name} because its result is unused: 8.40 MFLOP as"
    assert found["work-removed"].text == f"{told} written, 16.4 kFLOP in each call."


@pytest.mark.parametrize(
    "derived",
    [
        jax.grad(lambda x: (x**2).sum()),
        jax.grad(jax.jit(lambda x: (x**2).sum())),
    ],
)
def test_a_value_beside_its_derivative_is_no_work_that_is_missing(derived: Any) -> None:
    assert left_out(derived, BIG) == []
    assert left_out(lambda x: (derived(x), x + 1)[1], BIG) == ["work-removed"]


def step(c: Any, _: Any) -> tuple[Any, Any]:
    return jnp.tanh(c @ c), c.sum()


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda x: jnp.where(True, x, x @ x), ["work-removed"]),
        (lambda x: jax.jit(folded)(x) + 1, ["constant-folded"]),
        (lambda x: jax.lax.scan(step, x, None, length=5)[0], []),
        (lambda x: jax.lax.while_loop(lambda c: c.sum() < 0, lambda c: c @ c, x), []),
        (lambda x: jax.lax.cond(x[0, 0] > 0, lambda a: a @ a, lambda a: a, x), []),
        (jax.grad(jax.checkpoint(lambda x: jnp.tanh(x @ x).sum())), []),
        (lambda x: BIG[:SIDE, :SIDE] @ x, []),  # a large constant that takes part in the work
        (lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(SIDE)), []),
        (lambda x: x + jax.random.normal(jax.random.key(0), x.shape), []),
        (lambda x: (x @ x)[0], []),
        (jnp.sort, []),
    ],
)
def test_only_what_a_program_leaves_out_is_told(function: Any, told: list[str], x: Any) -> None:
    assert left_out(function, x) == told


@pytest.mark.parametrize("code", ["f(x, n=3)", "f(g(x), 2)", "x2 = x + 1; f(x2, 3)"])
def test_ordinary_calls_are_left_alone_and_compile_nothing_more(code: str, x: Any) -> None:
    traces: list[int] = []

    def function(x: Any, n: float) -> Any:
        traces.append(1)
        return x * n

    names = {"f": jax.jit(function), "g": jax.jit(sine), "x": x}
    assert run(code, names) == {}
    before = len(traces)
    exec(code, names)
    assert len(traces) == before <= 2


# How it is looked at


def test_unused_work_and_work_on_constants_are_told_apart(
    x: Any, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilation()._works, "_peaks", {})
    found = work(jax.jit(lambda x: (x @ x, x + jnp.tanh(BIG).sum())[1]), x)
    assert (found.unused, found.constant) == (PRODUCT, 2 * BIG.size)
    assert found.constant_bytes == BIG.nbytes
    assert found.compiled == SIDE**2
    assert found.peak() == 1e12
    assert measured == ["float32"]


def test_looking_compiles_and_logs_nothing(x: Any, caplog: pytest.LogCaptureFixture) -> None:
    f = jax.jit(lambda x: x @ x + 2)
    jax.block_until_ready(f(x))
    size = f._cache_size()
    with compilation().watch([]) as watch:
        assert compilation().work(f, (x,), {}) is not None
    assert "lower" not in watch.phases()
    assert (watch.compilations(), f._cache_size()) == (0, size)
    f = jax.jit(lambda x: x @ x + 5)
    with jax.log_compiles(), caplog.at_level(logging.DEBUG, logger="jax"):
        jax.block_until_ready(f(x))
        caplog.clear()
        assert compilation().work(f, (x,), {}) is not None
        assert [r.message for r in caplog.records if r.levelno >= logging.WARNING] == []


def test_only_programs_that_were_compiled_here_are_told(x: Any) -> None:
    f = jax.jit(lambda x: x @ x + 3)
    assert compilation().work(f, (x,), {}) is None
    assert f._cache_size() == 0
    for function in (jax.jit(sine).lower(x).compile(), sine):
        assert compilation().work(function, (x,), {}) is None
    with jax.disable_jit():
        assert compilation().work(jax.jit(sine), (x,), {}) is None
    f, given = jax.jit(lambda x: x @ x, donate_argnums=0), jnp.ones((SIDE, SIDE))
    jax.block_until_ready(f(given))
    assert given.is_deleted()
    assert compilation().work(f, (given,), {}).written == PRODUCT


CPU = jax.devices()[0]
FLOAT32 = {"float32": 1.0}
TAKEN = "ipyjaxbench.host.conditions.Conditions.taken"


@pytest.fixture
def works() -> Works:
    probe = SimpleNamespace(
        sides=(512,), in_a_row=1, default_settings=nullcontext, product=jnp.matmul
    )
    return Works(lambda _: probe)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The dtypes that were measured, each with the figure it gives."""
    dtypes: list[str] = []
    rates = {"bfloat16": 3e12, "float16": 4e12, "float32": 1e12, "int8": 9e12}

    def fastest(product: Any, *_: object) -> tuple[float, int]:
        dtypes.append(*product.args)
        return rates[product.args[0]], 512

    monkeypatch.setattr(compiled_work, "fastest_product", fastest)
    monkeypatch.setattr(TAKEN, 0.0)
    return dtypes


@pytest.mark.parametrize(
    ("products", "dtypes", "peak"),
    [
        ({}, ["float32"], 1e12),
        ({"bfloat16": 98.9, "float32": 1.1}, ["bfloat16", "float32"], 3e12),
        ({"bfloat16": 99.0, "int8": 1.0}, ["bfloat16"], 3e12),  # no more than one percent
        ({"float16": 50.0, "bfloat16": 50.0}, ["bfloat16", "float16"], 4e12),
    ],
)
def test_the_peak_is_that_of_the_fastest_dtype_that_matters(
    products: dict[str, float], dtypes: list[str], peak: float, measured: list[str], works: Works
) -> None:
    assert works._peak(CPU, products) == works._peak(CPU, products) == peak
    assert sorted(measured) == dtypes


@pytest.mark.parametrize(
    ("platform", "taken", "is_known"),
    [("cpu", 0.1, True), ("cpu", 0.11, False), ("gpu", 0.5, True)],
)
def test_a_peak_counts_unless_others_had_the_cpus_that_it_is_of(
    platform: str, taken: float, *, is_known: bool, measured: list[str], works: Works,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(TAKEN, taken)
    device = type("Device", (), {"platform": platform})()  # it can be hashed
    for _ in range(2):
        assert works._peak(device, FLOAT32) == (1e12 if is_known else None)
    assert len(measured) == (1 if is_known else 2)


def test_a_peak_is_never_below_what_was_seen_and_not_known_where_one_dtype_is_not(
    measured: list[str], works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = iter([3e12, 1e12, 1e12])
    monkeypatch.setattr(compiled_work, "fastest_product", lambda *_: (next(rates), 512))
    for taken, products, peak in (
        (0.2, FLOAT32, None), (0.05, FLOAT32, 3e12),
        (0.5, FLOAT32 | {"int8": 1.0}, None), (0.5, FLOAT32, 3e12),
    ):  # fmt: skip
        monkeypatch.setattr(TAKEN, taken)
        assert works._peak(CPU, products) == peak


@pytest.mark.parametrize(
    ("told", "cost"),
    [(None, {}), ({"flops": 2.0}, {"flops": 2.0}), ([{"flops": 2.0}], {"flops": 2.0})],
)
def test_what_xla_counts_is_read_in_all_versions(told: Any, cost: dict[str, float]) -> None:
    assert cost_analysis(SimpleNamespace(cost_analysis=lambda: told)) == cost


def test_operations_of_both_kinds_are_those_that_were_compiled() -> None:
    x = jnp.ones((8, 8))
    for function, compiled in ((jnp.tanh, 64.0), (lambda x: x + 1, 64.0), (lambda x: x @ x, 1024)):
        assert work(jax.jit(function), x).compiled == compiled
    found = work(jax.jit(lambda x: x), x)  # a program without operations
    assert found is None or found.compiled == 0
