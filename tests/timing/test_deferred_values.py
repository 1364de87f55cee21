"""Values whose work is done later, in whatever library: said with what to write instead."""

import asyncio
import concurrent.futures
import itertools
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.pool import ThreadPool
from types import ModuleType
from typing import Any

import pytest

from ipyjaxbench.timing.validity.deferred_values import find_deferred


class _OfALibrary:
    """What some library calls a future."""

    def result(self) -> int:
        return 3

    def done(self) -> bool:
        return True

    def add_done_callback(self, call: Callable[..., Any]) -> None: ...


class _OfTorch:
    """What PyTorch calls a future."""

    def wait(self) -> int:
        return 3

    def done(self) -> bool:
        return True

    def then(self, call: Callable[..., Any]) -> None: ...


class _AnEvent(_OfTorch):
    """It can be waited for, and stands for no value."""

    then = None  # type: ignore[assignment]


def _named(module: str, name: str) -> object:
    return type(name, (), {"__module__": module})()


def advice(value: object, code: str = "f(x)") -> str | None:
    found = find_deferred(value)
    return None if found is None else found.instead_of(code)


def test_futures_of_pools_are_told() -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as executor, ThreadPool(1) as pool:
        assert advice(executor.submit(abs, 3)) == "f(x).result()"
        assert advice([executor.submit(abs, 3)]) == "[each.result() for each in f(x)]"
        assert advice(executor.map(abs, [3])) == "list(f(x))"
        assert advice(pool.apply_async(abs, (3,))) == "f(x).get()"
        assert advice(pool.imap(abs, [3])) == "list(f(x))"
    with subprocess.Popen(["true"]) as process:
        assert advice(process) == "f(x).wait()"


def test_coroutines_and_tasks_are_told() -> None:
    async def work() -> None: ...

    async def task() -> str | None:
        return advice(asyncio.create_task(work()))

    coroutine = work()
    assert advice(coroutine) == "await f(x)"
    coroutine.close()
    assert asyncio.run(task()) == "await f(x)"


@pytest.mark.parametrize(
    ("module", "name", "instead"),
    [
        ("polars.lazyframe.frame", "LazyFrame", "f(x).collect()"),
        ("pyspark.sql.dataframe", "DataFrame", "f(x).collect()"),
        ("duckdb", "DuckDBPyRelation", "f(x).fetchall()"),
        ("ray._raylet", "ObjectRef", "ray.get(f(x))"),
        ("pandas", "DataFrame", None),
        ("polars", "DataFrame", None),
    ],
)
def test_libraries_that_are_known_are_told_by_name(
    module: str, name: str, instead: str | None
) -> None:
    assert advice(_named(module, name)) == instead


def test_futures_of_libraries_that_are_not_known_are_told_by_what_they_can_do() -> None:
    assert advice(_OfALibrary()) == "f(x).result()"
    assert advice(_OfTorch()) == "f(x).wait()"
    assert advice(_AnEvent()) is None


@pytest.mark.parametrize(
    ("value", "kind", "instead"),
    [
        ([map(abs, [1]), 2], "list of maps", "[list(each) for each in f(x)]"),
        ((_OfTorch(),), "tuple of futures", "[each.wait() for each in f(x)]"),
        ({1: filter(None, [1])}, "dict of filters", "[list(each) for each in f(x).values()]"),
        ({1: 2, 3: map(abs, [1])}, None, None),  # the first value stands for all
    ],
)
def test_what_holds_such_values_is_told_by_its_first_one(
    value: object, kind: str | None, instead: str | None
) -> None:
    found = find_deferred(value)
    assert (found and found.kind) == kind
    assert advice(value) == instead


def test_a_dask_collection_is_told_and_what_only_can_be_one_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Array:
        def __init__(self, graph: object) -> None:
            self.graph = graph

        def __dask_graph__(self) -> object:
            return self.graph

    assert advice(Array({})) is None  # Dask is not imported
    base: Any = ModuleType("dask.base")
    base.is_dask_collection = lambda value: value.__dask_graph__() is not None
    monkeypatch.setitem(sys.modules, "dask.base", base)
    assert advice(Array({}), "d + 1") == "(d + 1).compute()"
    assert advice(Array(None)) is None
    assert advice(3) is None


@pytest.mark.parametrize(
    "value", [3, "text", [], [1, 2], {}, {"a": 1}, range(3), zip([1], [2], strict=True), print,
              itertools.count(), iter([1]), object(), None],
)  # fmt: skip
def test_other_values_are_not(value: object) -> None:
    assert find_deferred(value) is None


@pytest.mark.parametrize(
    ("code", "instead"),
    [("a + b", "(a + b).result()"), ("f(x)", "f(x).result()"), ("a[0]", "a[0].result()"),
     ("lambda: 1", "(lambda: 1).result()"), ("y = 1\nf(y)", "y = 1 f(y).result()")],
)  # fmt: skip
def test_brackets_stand_where_a_method_needs_them(code: str, instead: str) -> None:
    assert advice(concurrent.futures.Future(), code) == instead
