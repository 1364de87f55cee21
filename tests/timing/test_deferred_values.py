"""Work that is done later or elsewhere, and what watches the code."""

import asyncio
import concurrent.futures
import cProfile
import functools
import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.pool import ThreadPool
from types import ModuleType
from typing import Any

import pytest

import ipyjaxbench
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.timing.validity import tracers
from ipyjaxbench.timing.validity.deferred_values import find_deferred
from tests.bench import recorder
from tests.cautions import cautions
from tests.waiting import wait_until

# Values whose work is done later, in whatever library


def able(*methods: str, **more: Any) -> object:
    """An object of a class of some library, which has these methods."""
    return type("_OfALibrary", (), {name: lambda self, *_: 3 for name in methods} | more)()


PROMISE = able("wait", "done", "then")  # what PyTorch calls a future


def advice(value: object, code: str = "f(x)") -> str | None:
    found = find_deferred(value)
    return None if found is None else found.instead_of(code)


def test_futures_of_pools_and_processes_are_told() -> None:
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
    [("polars.lazyframe.frame", "LazyFrame", "f(x).collect()"),
     ("pyspark.sql.dataframe", "DataFrame", "f(x).collect()"),
     ("duckdb", "DuckDBPyRelation", "f(x).fetchall()"),
     ("ray._raylet", "ObjectRef", "ray.get(f(x))"),
     ("pandas", "DataFrame", None), ("polars", "DataFrame", None)],
)  # fmt: skip
def test_known_libraries_are_told_by_name(module: str, name: str, instead: str | None) -> None:
    assert advice(type(name, (), {"__module__": module})()) == instead


@pytest.mark.parametrize(
    ("value", "kind", "instead"),
    [
        (able("result", "done", "add_done_callback"), "future", "f(x).result()"),
        (PROMISE, "future", "f(x).wait()"),
        (able("wait", "done", then=None), None, None),  # it stands for no value, as an event
        ([map(abs, [1]), 2], "list of maps", "[list(each) for each in f(x)]"),
        ((PROMISE,), "tuple of futures", "[each.wait() for each in f(x)]"),
        ({1: filter(None, [1])}, "dict of filters", "[list(each) for each in f(x).values()]"),
        ({1: 2, 3: map(abs, [1])}, None, None),  # the first value stands for all
        *((value, None, None) for value in [3, "text", [], [1, 2], {}, {"a": 1}, range(3), print,
          zip([1], [2], strict=True), itertools.count(), iter([1]), object(), None]),
    ],
)  # fmt: skip
def test_values_are_told_by_what_they_can_do_and_what_holds_some_by_its_first_one(
    value: object, kind: str | None, instead: str | None
) -> None:
    found = find_deferred(value)
    assert (found and found.kind, advice(value)) == (kind, instead)


def test_a_dask_collection_is_told_if_it_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy, done = (able(__dask_graph__=lambda self, graph=graph: graph) for graph in ({}, None))
    assert advice(lazy) is None  # Dask is not imported
    base: Any = ModuleType("dask.base")
    base.is_dask_collection = lambda value: value.__dask_graph__() is not None
    monkeypatch.setitem(sys.modules, "dask.base", base)
    assert advice(lazy, "d + 1") == "(d + 1).compute()"
    assert advice(done) is advice(3) is None


@pytest.mark.parametrize(
    ("code", "instead"),
    [("a + b", "(a + b).result()"), ("f(x)", "f(x).result()"), ("a[0]", "a[0].result()"),
     ("lambda: 1", "(lambda: 1).result()"), ("y = 1\nf(y)", "y = 1 f(y).result()")],
)  # fmt: skip
def test_brackets_stand_where_a_method_needs_them(code: str, instead: str) -> None:
    assert advice(concurrent.futures.Future(), code) == instead


# Threads and processes that code leaves running; pools that wait for work are not told

begun, ended = threading.Event(), threading.Event()
STARTS = "The code starts a {} and does not wait for it: only the start was timed."


@pytest.fixture
def _goes_on() -> Iterator[None]:
    """Work goes on until the test ends."""
    before = threading.active_count()
    begun.clear()
    ended.clear()
    yield
    ended.set()
    wait_until(lambda: threading.active_count() <= before)


def work() -> None:
    begun.set()
    ended.wait()


def start_thread(target: Callable[..., object], *args: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=args)
    thread.start()
    return thread


def left_running(code: str, times: int = 2, **names: Any) -> tuple[list[str], str]:
    names |= {"os": os, "start_thread": start_thread, "work": work, "begun": begun}
    result = ipyjaxbench.measure_code(code, names, number=times, repeat=times)
    texts = [note.text for note in result.notes if note.code == "left-running"]
    return texts, result.verdict


@pytest.mark.usefixtures("_goes_on")
@pytest.mark.parametrize("code", ["start_thread(work)", "start_thread(os.read, file, 1)"])
def test_a_thread_that_is_not_waited_for_is_told(code: str) -> None:
    file, end = os.pipe()
    try:
        found = left_running(f"{code}; 1", file=file)
    finally:
        os.close(end)
    assert found == ([STARTS.format("thread")], "INVALID")
    assert len(left_running("start_thread(work); 1", 1)[0]) == 1


@pytest.mark.usefixtures("_goes_on")
def test_what_a_pool_was_given_is_told_also_where_it_has_its_threads() -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            begun.clear()
            ended.clear()
            keep, given = recorder()
            code = "keep(pool.submit(work)); begun.wait()"
            try:
                texts, _ = left_running(code, pool=pool, keep=keep)
            finally:
                ended.set()  # or the pool would wait for ever
            concurrent.futures.wait(given)
            assert len(texts) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the children of a process")
@pytest.mark.parametrize(
    ("once", "times", "is_told"),  # a pool starts its processes once; of one call nobody knows that
    [(False, 2, True), (True, 1, True), (True, 2, False)],
)
def test_a_process_that_is_not_waited_for_is_told(once: bool, times: int, is_told: bool) -> None:
    keep, started = recorder()
    start = lambda: keep(subprocess.Popen(["cat"], stdin=subprocess.PIPE))  # noqa: E731
    texts, verdict = left_running("start()", times, start=functools.cache(start) if once else start)
    for process in started:
        process.stdin.close()
        process.wait()
    assert texts == [STARTS.format("process")] * is_told
    assert verdict == "INVALID" or not is_told
    assert len(started) == (1 if once else times**2)


def test_what_is_waited_for_is_not_told_nor_threads_of_pools_and_of_the_session() -> None:
    stop = threading.Event()

    def turn() -> None:
        while not stop.wait(0.001):
            pass

    of_session = start_thread(turn)
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as executor, ThreadPool(2) as threads:
            names = {"executor": executor, "threads": threads, "sleep": time.sleep}
            for code in ("start_thread(sleep, 0.001).join()", "threads.map(abs, [3])",
                         "executor.submit(abs, 3).result()"):  # fmt: skip
                assert left_running(code, **names)[0] == [], code
    finally:
        stop.set()
        of_session.join()


# What is around the code: seen where it is active, and only there

COST = "the time includes its overhead."


def caution_texts() -> list[str]:
    return [note.text for note in cautions("1 + 1", {})]


def tracer(*_: object) -> None:
    return None


def test_a_tracer_is_told_by_its_name() -> None:
    before, of_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(tracer)
    try:
        assert caution_texts() == []  # that of another thread is not ours
        sys.settrace(tracer)
        found = caution_texts()
    finally:
        threading.settrace(of_threads)
        sys.settrace(before)
    assert f"A tracer or debugger ({__name__}.tracer) is active: {COST}" in found


def test_a_profiler_is_told_by_its_name() -> None:
    who = "A tool (cProfile)" if sys.version_info >= (3, 12) else "A profiler (cProfile.Profile)"
    profile = cProfile.Profile()
    profile.enable()
    try:
        found = caution_texts()
    finally:
        profile.disable()
    assert found == [f"{who} is active: {COST}"]
    assert caution_texts() == []


@pytest.mark.parametrize("device", ["cuda:0", "gpu:1"])
def test_waiting_for_kernels_is_told_on_gpus(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu, cpu = (Placement("x", "torch", 1, "float32", (2,), (each,), 8) for each in (device, "cpu"))
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    (note,) = tracers.environment_settings([cpu, gpu])
    assert note.text == "CUDA_LAUNCH_BLOCKING is on: Python waits for every kernel to finish."
    assert list(tracers.environment_settings([cpu])) == []
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "0")
    assert list(tracers.environment_settings([gpu])) == []
