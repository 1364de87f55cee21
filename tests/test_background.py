"""Threads and processes that code leaves running are told; pools that wait for work are not."""

import concurrent.futures
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.pool import ThreadPool
from typing import Any

import pytest

import ipyjaxbench

_SECONDS = 0.3


def work() -> None:
    time.sleep(_SECONDS)


def start_thread() -> None:
    threading.Thread(target=work).start()


def start_without_python() -> None:
    threading.Thread(target=time.sleep, args=(_SECONDS,)).start()


def wait_for_thread() -> None:
    thread = threading.Thread(target=time.sleep, args=(0.001,))
    thread.start()
    thread.join()


def start_process() -> None:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.5)"])


def wait_for_process() -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


@pytest.fixture
def pool() -> Iterator[concurrent.futures.ThreadPoolExecutor]:
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        yield executor


def told(code: str, **names: Any) -> tuple[list[str], str]:
    result = ipyjaxbench.measure_code(code, {**globals(), **names}, number=2, repeat=2)
    texts = [note.text for note in result.notes if note.code == "left-running"]
    return texts, result.verdict


@pytest.mark.parametrize("code", ["start_thread()", "start_without_python()"])
def test_a_thread_that_is_not_waited_for_is_told(code: str) -> None:
    texts, verdict = told(code)
    assert texts == [
        "The code starts a thread that still runs after the call: only the start was timed."
    ]
    assert verdict == "INVALID"
    time.sleep(2 * _SECONDS)


def test_what_a_pool_was_given_is_told_also_where_it_has_its_threads(pool: Any) -> None:
    for _ in range(2):
        assert len(told("pool.submit(work); None", pool=pool)[0]) == 1
        time.sleep(3 * _SECONDS)


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the children of a process")
def test_a_process_that_is_not_waited_for_is_told() -> None:
    texts, verdict = told("start_process()")
    assert texts == [
        "The code starts a process that still runs after the call: only the start was timed."
    ]
    assert verdict == "INVALID"


@pytest.mark.parametrize("code", ["wait_for_thread()", "wait_for_process()"])
def test_what_is_waited_for_is_not(code: str) -> None:
    assert told(code)[0] == []


def test_pools_that_wait_for_work_are_not_told() -> None:
    executor, threads = concurrent.futures.ThreadPoolExecutor(2), ThreadPool(2)
    assert told("executor.submit(abs, 3).result()", executor=executor)[0] == []
    assert told("threads.map(abs, [3])", threads=threads)[0] == []
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
        assert told("sum([1, 2])")[0] == []
    finally:
        stop.set()
        thread.join()
