"""What JAX programs really compute, what is built in every call, and the peak of a device."""

import functools
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench.adapters.jax import Jax
from ipyjaxbench.adapters.jax.graphs import compiled_work
from ipyjaxbench.adapters.jax.graphs.compiled_work import Works, cost_analysis
from ipyjaxbench.frameworks import Compilation, loaded

ABOUT = {"built-each-call", "constant-folded", "work-removed", "impossible-speed", "recompiles",
         "value-cached", "copy-kept", "used-up", "grows", "slows-down", "no-work",
         "not-called"}  # fmt: skip
SIDE = 128
PRODUCT = 2.0 * SIDE**3


def _adapter() -> Jax:
    return next(f for f in loaded()[0] if isinstance(f, Jax))


def run(code: str, names: dict[str, Any], budget: float = 0.1) -> dict[str, Any]:
    result = ipyjaxbench.measure_code(code, names, budget=budget)
    return {note.code: note for note in result.notes if note.code in ABOUT}


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
        ("y = jit(jax.vmap(f))(x)", "jit", None),
        ("jax.grad(loss)(x)", "jax.grad", OUTSIDE % "jax.jit(jax.grad(loss))"),
        ("partial(jit)(f)(x)", "jit", "create it once, outside, and time its call"),
        ("for _ in range(2): jit(f)(x)", "jit", OUTSIDE % "jit(f)"),
    ],
)
def test_what_is_built_in_every_call_is_told(
    code: str, built: str, advice: str | None, x: Any
) -> None:
    names = {"jax": jax, "jit": jax.jit, "partial": functools.partial, "f": sine, "x": x,
             "loss": lambda x: sine(x).sum()}  # fmt: skip
    found = run(code, names)
    if "recompiles" in found:  # a fresh function inside of another one is a new one every time
        assert f"because {built}(...) is called inside the timed code" in found["recompiles"].text
        assert found["recompiles"].advice == f"create {built}(...) once, outside, and time its call"
        return
    assert list(found) == ["built-each-call"]
    assert found["built-each-call"].text.startswith(f"Every call runs {built}(...)")
    assert found["built-each-call"].advice == advice


@pytest.mark.usefixtures("real_clock")
def test_what_building_costs_is_measured() -> None:
    text = run("jax.jit(f)(x)", {"jax": jax, "f": sine, "x": jnp.ones(3)})["built-each-call"].text
    assert text.startswith("Every call runs jax.jit(...), which takes ")
    assert text.endswith(" µs.")


def test_where_it_recompiles_the_cause_is_named() -> None:
    found = run("@jax.jit\ndef f(a):\n    return a + 1\nf(x)", {"jax": jax, "x": jnp.ones(3)})
    assert list(found) == ["recompiles"]
    assert found["recompiles"].text.endswith(
        "because jax.jit(...) is called inside the timed code."
    )


def test_only_a_call_of_jaxs_own_functions_builds() -> None:
    """Only JAX's own functions build: here `jit` and `jax` are something else."""
    names = {"jit": lambda f: f, "jax": SimpleNamespace(jit=lambda f: f), "f": sine,
             "x": jnp.ones(3)}  # fmt: skip
    assert run("jit(f)(x)", names) == run("jax.jit(f)(x)", names) == {}
    (note,) = run("jax.jit(f)", {"jax": jax, "f": sine}).values()
    assert (
        note.text == "jax.jit(f) is a function, but it is not called: only creating it was timed."
    )
    (note,) = run("f", {"f": jax.jit(sine)}).values()
    assert (note.code, note.advice) == ("not-called", "f(...)")


# What the program leaves out

BIG = jnp.ones((600, 600))


def folded(x: Any) -> Any:
    return x[0] + jnp.tanh(BIG).sum()


@pytest.mark.parametrize("code", ["f(x)", "y = f(x=x)", "o.f(o.x)", "f(x).block_until_ready()"])
def test_work_that_nothing_uses_is_told(code: str, x: Any) -> None:
    f = jax.jit(lambda x: (x @ x @ x, x + 1)[1])
    found = run(code, {"f": f, "x": x, "o": SimpleNamespace(f=f, x=x)})
    assert list(found) == ["work-removed"]
    name = "o.f" if code.startswith("o.") else "f"
    assert found["work-removed"].text == (
        f"The compiler removed work from {name} because its result is unused:"
        " 8.40 MFLOP as written, 16.4 kFLOP in each call."
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jax.jit(lambda x: (x @ x, x + 1))(x)[1],
        jax.jit(lambda x: jnp.where(True, x, x @ x)),
        lambda x: ((x @ x).sum(), x)[1],
    ],
)
def test_work_within_that_nothing_uses_is_told(function: Any, x: Any) -> None:
    assert list(run("f(x)", {"f": jax.jit(function), "x": x})) == ["work-removed"]


@pytest.mark.parametrize("inner", [folded, jax.jit(folded)])
def test_work_on_constants_is_told(inner: Any, x: Any) -> None:
    found = run("f(x)", {"f": jax.jit(lambda x: inner(x) + 1), "x": x})
    assert list(found) == ["constant-folded"]
    assert found["constant-folded"].text.startswith(
        "f closes over 1.37 MiB of arrays. What depends on them alone was computed at"
        " compile time (constant folding): 720 kFLOP as written, "
    )


def test_the_same_work_on_an_argument_is_not(x: Any) -> None:
    masked = jax.jit(lambda x, mask: jnp.where(mask, x @ x, x))
    assert "work-removed" not in run("f(x, True)", {"f": masked, "x": x})
    f = jax.jit(lambda x, big: x[0] + jnp.tanh(big).sum())
    assert run("f(x, big)", {"f": f, "x": x, "big": BIG}) == {}
    used = jax.jit(lambda x: (x @ x @ x, x + 1))
    assert run("f(x)", {"f": used, "x": x}) == {}


def clean_twins() -> dict[str, Any]:
    def step(c: Any, _: Any) -> tuple[Any, Any]:
        return jnp.tanh(c @ c), c.sum()

    small = jnp.arange(5.0)
    table = jnp.ones((300, 300))  # a large constant that takes part in the work
    return {
        "scan": lambda x: jax.lax.scan(step, x, None, length=5)[0],
        "while": lambda x: jax.lax.while_loop(lambda c: c.sum() < 0, lambda c: c @ c, x),
        "cond": lambda x: jax.lax.cond(x[0, 0] > 0, lambda a: a @ a, lambda a: a, x),
        "remat": jax.grad(jax.checkpoint(lambda x: jnp.tanh(x @ x).sum())),
        "small constant": lambda x: x.sum() + small.sum(),
        "constant": lambda x: table[:SIDE, :SIDE] @ x,
        "cholesky": lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(SIDE)),
        "random": lambda x: x + jax.random.normal(jax.random.key(0), x.shape),
        "slice": lambda x: (x @ x)[0],
        "sort": jnp.sort,
    }


@pytest.mark.parametrize("name", clean_twins())
def test_ordinary_programs_are_left_alone(name: str, x: Any) -> None:
    assert run("f(x)", {"f": jax.jit(clean_twins()[name]), "x": x}, budget=0.05) == {}


@pytest.mark.parametrize(
    "code",
    ["f(x, n=3)", "f(o.x, -1.5)", "for _ in range(2): f(x, 1)", "f(*[x, 2])", "f(g(x), 2)",
     "x2 = x + 1; f(x2, 3)", "x @ x", "np.asarray(x)", "x.shape", "d['f'](x, 1)",
     "[f(x, n) for n in (1, 2)]", "jax.tree.map(jnp.sin, {'a': x})"],
)  # fmt: skip
def test_ordinary_calls_are_left_alone_and_compile_nothing_more(code: str, x: Any) -> None:
    traces: list[int] = []

    def function(x: Any, n: float) -> Any:
        traces.append(1)
        return x * n

    f = jax.jit(function)
    names = {"f": f, "g": jax.jit(sine), "x": x, "o": SimpleNamespace(x=x), "np": np, "jnp": jnp,
             "jax": jax, "d": {"f": f}}  # fmt: skip
    names["x"].block_until_ready()
    assert run(code, names) == {}
    before = len(traces)
    exec(code, names)
    assert len(traces) == before <= 2


# How it is looked at


def work(function: Any, *args: Any, **kwargs: Any) -> Any:
    jax.block_until_ready(function(*args, **kwargs))
    return _adapter().capability(Compilation).work(function, args, kwargs)


def test_unused_work_and_work_on_constants_are_told_apart(
    x: Any, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_adapter().capability(Compilation)._works, "_peaks", {})
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
    with _adapter().capability(Compilation).watch([]) as watch:
        assert _adapter().capability(Compilation).work(f, (x,), {}) is not None
    assert "lower" not in watch.phases()
    assert (watch.compilations(), f._cache_size()) == (0, size)
    f = jax.jit(lambda x: x @ x + 5)
    with jax.log_compiles(), caplog.at_level(logging.DEBUG, logger="jax"):
        jax.block_until_ready(f(x))
        caplog.clear()
        assert _adapter().capability(Compilation).work(f, (x,), {}) is not None
        assert [r.message for r in caplog.records if r.levelno >= logging.WARNING] == []


def test_only_programs_that_were_compiled_here_are_told(x: Any) -> None:
    f = jax.jit(lambda x: x @ x + 3)
    with _adapter().capability(Compilation).watch([]) as watch:
        assert _adapter().capability(Compilation).work(f, (x,), {}) is None
    assert watch.compilations() == 0
    assert f._cache_size() == 0
    compiled = jax.jit(sine).lower(x).compile()
    assert _adapter().capability(Compilation).work(compiled, (x,), {}) is None
    assert _adapter().capability(Compilation).work(sine, (x,), {}) is None
    with jax.disable_jit():
        assert _adapter().capability(Compilation).work(jax.jit(sine), (x,), {}) is None
    f, given = jax.jit(lambda x: x @ x, donate_argnums=0), jnp.ones((SIDE, SIDE))
    jax.block_until_ready(f(given))
    assert given.is_deleted()
    assert _adapter().capability(Compilation).work(f, (given,), {}).written == PRODUCT


CPU = jax.devices()[0]


class Probe:
    sides, in_a_row = (512,), 1

    @contextmanager
    def default_settings(self) -> Iterator[None]:
        yield

    def product(self, dtype: str, n: int) -> Any:
        raise AssertionError


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The dtypes that were measured, each with the figure it gives."""
    dtypes: list[str] = []
    rates = {"bfloat16": 3e12, "float16": 4e12, "float32": 1e12, "int8": 9e12}

    def fastest(product: Any, *_: object) -> tuple[float, int]:
        dtypes.append(*product.args)
        return rates[product.args[0]], 512

    monkeypatch.setattr(compiled_work, "fastest_product", fastest)
    monkeypatch.setattr("ipyjaxbench.host.conditions.Conditions.taken", 0.0)
    return dtypes


@pytest.mark.parametrize(
    ("products", "dtypes", "peak"),
    [
        ({"float32": 5.0}, ["float32"], 1e12),
        ({}, ["float32"], 1e12),
        ({"bfloat16": 98.9, "float32": 1.1}, ["bfloat16", "float32"], 3e12),
        ({"bfloat16": 99.0, "int8": 1.0}, ["bfloat16"], 3e12),  # no more than one percent
        ({"float16": 50.0, "bfloat16": 50.0}, ["bfloat16", "float16"], 4e12),
    ],
)
def test_the_peak_is_that_of_the_fastest_dtype_that_matters(
    products: dict[str, float], dtypes: list[str], peak: float, measured: list[str]
) -> None:
    works = Works(lambda _: Probe())
    assert works._peak(CPU, products) == peak
    assert works._peak(CPU, products) == peak
    assert sorted(measured) == dtypes


@pytest.mark.parametrize(
    ("platform", "taken", "is_known"),
    [("cpu", 0.1, True), ("cpu", 0.11, False), ("gpu", 0.5, True)],
)
def test_a_peak_counts_unless_others_had_the_cpus_that_it_is_of(
    platform: str, taken: float, *, is_known: bool, measured: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("ipyjaxbench.host.conditions.Conditions.taken", taken)
    works = Works(lambda _: Probe())
    device = type("Device", (), {"platform": platform})()  # it can be hashed
    assert works._peak(device, {"float32": 1.0}) == (1e12 if is_known else None)
    works._peak(device, {"float32": 1.0})
    assert len(measured) == (1 if is_known else 2)
    rates = iter([3e12, 1e12])
    monkeypatch.setattr(compiled_work, "fastest_product", lambda *_: (next(rates), 512))
    monkeypatch.setattr("ipyjaxbench.host.conditions.Conditions.taken", 0.2)
    works = Works(lambda _: Probe())
    works._peak(CPU, {"float32": 1.0})
    monkeypatch.setattr("ipyjaxbench.host.conditions.Conditions.taken", 0.05)
    assert works._peak(CPU, {"float32": 1.0}) == 3e12  # never below what was seen


def test_where_one_of_two_dtypes_is_not_known_the_peak_is_not(
    measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    works = Works(lambda _: Probe())
    works._peak(CPU, {"float32": 1.0})
    monkeypatch.setattr("ipyjaxbench.host.conditions.Conditions.taken", 0.5)
    assert works._peak(CPU, {"float32": 1.0, "int8": 1.0}) is None
    assert works._peak(CPU, {"float32": 1.0}) == 1e12


@pytest.mark.parametrize(
    ("told", "cost"),
    [(None, {}), ({}, {}), ({"flops": 2.0}, {"flops": 2.0}), ([{"flops": 2.0}], {"flops": 2.0})],
)
def test_what_xla_counts_is_read_in_all_versions(told: Any, cost: dict[str, float]) -> None:
    assert cost_analysis(SimpleNamespace(cost_analysis=lambda: told)) == cost


@pytest.mark.parametrize(
    ("function", "compiled"), [(jnp.tanh, 64.0), (lambda x: x + 1, 64.0), (lambda x: x @ x, 1024.0)]
)
def test_operations_of_both_kinds_are_those_that_were_compiled(
    function: Any, compiled: float
) -> None:
    jitted, x = jax.jit(function), jnp.ones((8, 8))
    jax.block_until_ready(jitted(x))
    work = Works(lambda _: Probe()).find_work(jitted, (x,), {})
    assert work is not None
    assert work.compiled == compiled


def test_a_program_without_operations_has_no_work() -> None:
    jitted, x = jax.jit(lambda x: x), jnp.ones((8, 8))
    jax.block_until_ready(jitted(x))
    works = Works(lambda _: Probe())
    found = works.find_work(jitted, (x,), {})
    assert found is None or found.compiled == 0
