"""In which dtypes the peak of a device is measured, and what XLA tells of a program's work."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench.adapters.jax.graphs import compiled_work
from ipyjaxbench.adapters.jax.graphs.compiled_work import Works, cost_analysis

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
