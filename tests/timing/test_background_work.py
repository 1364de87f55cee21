"""Threads and processes that code leaves running are told; pools that wait for work are not."""

import concurrent.futures
import functools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.pool import ThreadPool
from typing import Any

import pytest

import ipyjaxbench
from tests.bench import recorder
from tests.waiting import wait_until

begun, ended = threading.Event(), threading.Event()


@pytest.fixture(autouse=True)
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


def start_thread() -> None:
    threading.Thread(target=work).start()


def start_without_python(file: int) -> None:
    threading.Thread(target=os.read, args=(file, 1)).start()


def wait_for_thread() -> None:
    thread = threading.Thread(target=time.sleep, args=(0.001,))
    thread.start()
    thread.join()


def start_process(keep: Callable[[object], None]) -> None:
    keep(subprocess.Popen(["cat"], stdin=subprocess.PIPE))


@pytest.fixture
def pool() -> Iterator[concurrent.futures.ThreadPoolExecutor]:
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        yield executor


def measure_left_running(code: str, times: int = 2, **names: Any) -> tuple[list[str], str]:
    result = ipyjaxbench.measure_code(code, {**globals(), **names}, number=times, repeat=times)
    texts = [note.text for note in result.notes if note.code == "left-running"]
    return texts, result.verdict


@pytest.mark.parametrize("code", ["start_thread()", "start_without_python(file)"])
def test_a_thread_that_is_not_waited_for_is_told(code: str) -> None:
    file, end = os.pipe()
    try:
        texts, verdict = measure_left_running(code, file=file)
    finally:
        os.close(end)
    assert texts == ["The code starts a thread and does not wait for it: only the start was timed."]
    assert verdict == "INVALID"
    assert len(measure_left_running("start_thread()", 1)[0]) == 1


def test_what_a_pool_was_given_is_told_also_where_it_has_its_threads(pool: Any) -> None:
    for _ in range(2):
        begun.clear()
        ended.clear()
        keep, given = recorder()
        code = "keep(pool.submit(work)); begun.wait()"
        assert len(measure_left_running(code, pool=pool, keep=keep)[0]) == 1
        ended.set()
        concurrent.futures.wait(given)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the children of a process")
def test_a_process_that_is_not_waited_for_is_told() -> None:
    keep, started = recorder()
    texts, verdict = measure_left_running("start_process(keep)", keep=keep)
    for process in started:
        process.stdin.close()
        process.wait()
    assert texts == [
        "The code starts a process and does not wait for it: only the start was timed."
    ]
    assert verdict == "INVALID"


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the children of a process")
@pytest.mark.parametrize(("times", "running"), [(1, 1), (2, 0)])
def test_what_only_the_first_of_several_calls_starts_is_not_told(times: int, running: int) -> None:
    """As a pool does; of a single call nobody knows that."""
    keep, started = recorder()
    once = functools.cache(lambda: start_process(keep))
    texts, _ = measure_left_running("once()", times, once=once)
    for process in started:
        process.stdin.close()
        process.wait()
    assert (len(started), len(texts)) == (1, running)


def test_what_is_waited_for_is_not() -> None:
    assert measure_left_running("wait_for_thread()")[0] == []


def test_pools_that_wait_for_work_are_not_told() -> None:
    executor, threads = concurrent.futures.ThreadPoolExecutor(2), ThreadPool(2)
    assert measure_left_running("executor.submit(abs, 3).result()", executor=executor)[0] == []
    assert measure_left_running("threads.map(abs, [3])", threads=threads)[0] == []
    executor.shutdown()
    threads.terminate()


def test_threads_of_the_session_are_not_told() -> None:
    stop = threading.Event()

    def turn() -> None:
        while not stop.wait(0.001):
            pass

    thread = threading.Thread(target=turn)
    thread.start()
    try:
        assert measure_left_running("sum([1, 2])")[0] == []
    finally:
        stop.set()
        thread.join()
