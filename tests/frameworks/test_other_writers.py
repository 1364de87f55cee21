"""What others write while calls are made is neither lost nor taken for the code's."""

import _thread
import asyncio
import collections
import contextlib
import functools
import logging
import logging.handlers
import mmap
import multiprocessing
import queue
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
from typing import Any

import numpy as np
import pytest
import torch

from ipyjaxbench.frameworks import Checkpoint, CopyBudget, OtherWriters, loaded
from tests import user_module as um

WORKER = "thread 'worker'"


def _log() -> tuple[object, Callable[[], object], Callable[[], object]]:
    log = logging.Logger("worker")
    log.addHandler(handler := um.Kept())
    return log, lambda: log.error("x"), lambda: len(handler.records)


def _view() -> tuple[object, Callable[[], object], Callable[[], object]]:
    numbers = np.zeros(8)
    return numbers, lambda: numbers[2:].__iadd__(1), numbers.tolist


def _model() -> tuple[object, Callable[[], object], Callable[[], object]]:
    model = torch.nn.Linear(1, 1)
    torch.nn.init.zeros_(model.weight)
    return model, lambda: torch.nn.init.ones_(model.weight), lambda: float(model.weight.detach())


def _made(value: Any, write: Callable[[Any], object], read: Callable[[Any], object]) -> Any:
    return value, lambda: write(value), lambda: read(value)


KINDS: dict[str, Callable[[], Any]] = {
    "a dictionary": lambda: _made({"n": 0}, lambda d: d.update(n=1), lambda d: d["n"]),
    "a list": lambda: _made([], lambda x: x.append(1), len),
    "a deque": lambda: _made(collections.deque(), lambda x: x.append(1), len),
    "an attribute": lambda: _made(um.Counting(), lambda c: setattr(c, "n", 3), lambda c: c.n),
    "inside of others": lambda: _made({"a": [[]]}, lambda d: d["a"][0].append(1),
                                      lambda d: len(d["a"][0])),
    "a queue": lambda: _made(queue.Queue(), lambda q: q.put(1), queue.Queue.qsize),
    "a view of an array": _view,
    "a model": _model,
    "records of a logger": _log,
}  # fmt: skip


@contextlib.contextmanager
def beside(start: Callable[[Callable[[], object]], object]) -> Iterator[None]:
    """Code that waits on a thread that `start` gives it to."""
    ready, end, ended = threading.Event(), threading.Event(), threading.Event()

    def wait() -> None:
        ready.set()
        end.wait()
        ended.set()

    start(wait)
    ready.wait()
    try:
        yield
    finally:
        end.set()
        ended.wait()


def holding(value: object) -> contextlib.AbstractContextManager[None]:
    """A thread of the user's that holds a value."""

    def run(value: object, wait: Callable[[], object]) -> None:
        wait()

    def start(wait: Callable[[], object]) -> None:
        threading.Thread(target=run, args=(value, wait), name="worker").start()

    return beside(start)


@pytest.mark.parametrize("kind", KINDS)
def test_what_another_thread_reaches_stays_and_is_told(kind: str) -> None:
    value, write, read = KINDS[kind]()
    before = read()
    with holding(value):
        checkpoint = Checkpoint({"x": value}, loaded()[0], {})
        write()
        written = read()
        checkpoint.restore()
    assert read() == written != before
    assert {*checkpoint.meanwhile} == {"x"}
    assert (checkpoint.meanwhile["x"], checkpoint.restored) == (WORKER, [])


def test_memory_that_it_knows_by_another_object_stays() -> None:
    numbers, tensor = np.zeros(8), torch.zeros(8)
    for mine, theirs in ((tensor, tensor[2:]), (torch.from_numpy(numbers), numbers)):
        with holding(theirs):
            checkpoint = Checkpoint({"x": mine}, loaded()[0], {})
            theirs[:] = 1
            checkpoint.restore()
        assert (float(theirs[0]), {*checkpoint.meanwhile}) == (1, {"x"})


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_thread_it_is_put_back_or_known_to_have_changed(kind: str) -> None:
    value, write, read = KINDS[kind]()
    before = read()
    checkpoint = Checkpoint({"x": value}, loaded()[0], {})
    write()
    checkpoint.restore()
    assert (read(), {*checkpoint.restored}, checkpoint.meanwhile) == (before, {"x"}, {})


def test_where_nothing_is_to_be_put_back_it_has_changed_as_all_else_has() -> None:
    theirs = [0]
    with holding(theirs):
        checkpoint = Checkpoint({"x": theirs}, loaded()[0], {}, budget=CopyBudget(0))
        theirs.append(1)
        checkpoint.restore()
    assert (checkpoint.failed, checkpoint.meanwhile) == (["x"], {})


def test_of_what_is_too_large_to_look_at_all_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ipyjaxbench.frameworks.state.other_writers._MOST", 100)
    rows: list[list[int]] = [[] for _ in range(400)]
    names = {"rows": rows}
    with holding(rows):
        checkpoint = Checkpoint(names, loaded()[0], names)
        rows[-1].append(1)
        checkpoint.restore()
    assert (rows[-1], checkpoint.meanwhile) == ([1], {"rows": WORKER})


def test_threads_of_one_kind_are_looked_at_once() -> None:
    value: list[int] = []
    gate, end = threading.Barrier(3), threading.Event()

    def wait() -> None:
        gate.wait()
        end.wait()

    threads = [threading.Thread(target=_call, args=(value, wait)) for _ in range(2)]
    for each in threads:
        each.start()
    gate.wait()
    others = OtherWriters(loaded()[0], {"x": value})
    end.set()
    for each in threads:
        each.join()
    assert len([w for w in others.found if any(h.key == id(value) for h in w.held)]) == 1


def test_what_the_thread_does_not_reach_is_put_back() -> None:
    own, theirs = [0], [0]
    with holding(theirs):
        checkpoint = Checkpoint({"own": own, "theirs": theirs}, loaded()[0], {})
        own.append(1)
        checkpoint.restore()
    assert (own, checkpoint.restored, checkpoint.meanwhile) == ([0], ["own"], {})


class Worker(threading.Thread):
    """One of a class of the user's."""

    def __init__(self, value: object, wait: Callable[[], object]) -> None:
        super().__init__(name="worker")
        self.value, self.wait = value, wait

    def run(self) -> None:
        self.wait()


def _call(value: object, wait: Callable[[], object]) -> None:
    wait()


def _in_bare_thread(value: object, wait: Callable[[], object]) -> None:
    _thread.start_new_thread(_call, (value, wait))


WAYS: dict[str, Callable[[object, Callable[[], object]], object]] = {
    "arguments": lambda v, w: threading.Thread(target=_call, args=(v, w)).start(),
    "a closure": lambda v, w: threading.Thread(target=lambda: (w(), v)).start(),
    "a class": lambda v, w: Worker(v, w).start(),
    "a bare thread": _in_bare_thread,
    "a method": lambda v, w: threading.Thread(target=Worker(v, w).run).start(),
    "a context": lambda v, w: threading.Thread(
        target=copy_context().run, args=(_call, v, w)
    ).start(),
}


@pytest.mark.parametrize("way", WAYS)
def test_however_the_thread_came_by_it(way: str) -> None:
    value: list[int] = []
    with beside(lambda wait: WAYS[way](value, wait)):
        checkpoint = Checkpoint({"x": value}, loaded()[0], {})
        value.append(1)
        checkpoint.restore()
    assert value == [1]
    assert [*checkpoint.meanwhile] == ["x"]


def test_a_timer_that_waits_reaches_what_it_was_given() -> None:
    value: list[int] = []
    timer = threading.Timer(1000, value.append, [1])
    by_users = threading.Timer(1000, _call, [value, print])
    with_some = threading.Timer(1000, functools.partial(value.append, 1))
    for each in (timer, by_users, with_some):
        each.start()
        checkpoint = Checkpoint({"x": value}, loaded()[0], {})
        value.append(1)
        checkpoint.restore()
        each.cancel()
        each.join()
        assert [*checkpoint.meanwhile] == ["x"]


def test_what_the_users_code_writes_in_a_thread_of_a_library_stays() -> None:
    """A server calls its handler, a listener its own: no frame is the user's before that."""
    kept = um.Kept()
    sent: queue.Queue[Any] = queue.Queue()
    listener = logging.handlers.QueueListener(sent, kept)
    listener.start()
    checkpoint = Checkpoint({"records": kept.records}, loaded()[0], {})
    sent.put(logging.makeLogRecord({"msg": "x"}))
    listener.stop()
    checkpoint.restore()
    assert len(kept.records) == 1
    assert [*checkpoint.meanwhile] == ["records"]


def test_what_the_handler_of_a_server_writes_stays() -> None:
    names: dict[str, Any] = {"hits": [], "Base": socketserver.BaseRequestHandler}
    names["__name__"] = "__main__"
    exec("class Handler(Base):\n    def handle(self):\n        hits.append(1)", names)
    with socketserver.TCPServer(("127.0.0.1", 0), names["Handler"]) as server:
        thread = threading.Thread(target=server.serve_forever, name="worker")
        thread.start()
        checkpoint = Checkpoint({"hits": names["hits"]}, loaded()[0], names)
        names["hits"].append(1)
        checkpoint.restore()
        server.shutdown()
        thread.join()
    assert names["hits"] == [1]
    assert checkpoint.meanwhile == {"hits": WORKER}


def test_a_task_of_the_loop_reaches_what_it_awaits_with() -> None:
    async def inner(value: list[int]) -> None:
        await asyncio.Event().wait()
        value.append(1)

    async def run() -> dict[str, str]:
        value: list[int] = []
        task = asyncio.create_task(inner(value), name="filler")
        await asyncio.sleep(0)
        checkpoint = Checkpoint({"x": value}, loaded()[0], {})
        value.append(2)
        checkpoint.restore()
        task.cancel()
        assert value == [2]
        return checkpoint.meanwhile

    assert asyncio.run(run()) == {"x": "task 'filler'"}


def test_a_task_of_a_loop_in_another_thread_reaches_it_too() -> None:
    value: list[int] = []

    async def fill(started: threading.Event, end: asyncio.Event) -> None:
        mine = value
        started.set()
        await end.wait()
        mine.append(1)

    loop, started, end = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    filling = asyncio.run_coroutine_threadsafe(fill(started, end), loop)
    started.wait()
    checkpoint = Checkpoint({"x": value}, loaded()[0], {})
    loop.call_soon_threadsafe(end.set)
    filling.result()
    checkpoint.restore()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
    assert (value, [*checkpoint.meanwhile]) == ([1], ["x"])


def test_what_the_loop_is_to_call_later_reaches_it_too() -> None:
    async def run(kind: str) -> tuple[list[int], dict[str, str]]:
        value: list[int] = []
        loop = asyncio.get_running_loop()
        later = {
            "soon": lambda: loop.call_soon(_call, value, print),
            "later": lambda: loop.call_later(1000, lambda: value.append(1)),
        }
        handle = later[kind]()
        checkpoint = Checkpoint({"x": value}, loaded()[0], {})
        value.append(2)
        checkpoint.restore()
        handle.cancel()
        return value, checkpoint.meanwhile

    for kind in ("soon", "later"):
        value, told = asyncio.run(run(kind))
        assert (value, [*told]) == ([2], ["x"])


def test_a_thread_that_looks_names_up_reaches_those_that_it_writes_out() -> None:
    names: dict[str, Any] = {"own": [], "other": [], "ready": threading.Event()}
    names["end"] = threading.Event()
    exec("def run():\n    ready.set(); end.wait(); globals()['own'].append(1)", names)
    thread = threading.Thread(target=names["run"], name="worker")
    thread.start()
    names["ready"].wait()
    roots = {name: names[name] for name in ("own", "other")}
    checkpoint = Checkpoint(roots, loaded()[0], names)
    names["end"].set()
    thread.join()
    names["other"].append(1)
    checkpoint.restore()
    assert (names["own"], names["other"]) == ([1], [])
    assert (checkpoint.meanwhile["own"], checkpoint.restored) == (WORKER, ["other"])


def test_where_a_thread_gets_what_the_code_sends_all_that_it_fills_is_told() -> None:
    sent: queue.Queue[int] = queue.Queue()
    done: list[int] = []
    with holding({"sent": sent, "done": done}):
        names = {"sent": sent, "filled": done}
        checkpoint = Checkpoint({"sent": sent}, loaded()[0], names)
        done.append(1)
        checkpoint.restore()
    assert checkpoint.meanwhile == {"filled": WORKER}


def test_a_name_that_a_thread_binds_is_told() -> None:
    names: dict[str, Any] = {"n": 0, "ready": threading.Event(), "end": threading.Event()}
    exec("def count():\n    global n\n    ready.set(); end.wait(); n += 1", names)
    thread = threading.Thread(target=names["count"], name="worker")
    thread.start()
    names["ready"].wait()
    writers = OtherWriters(loaded()[0], names)
    checkpoint = Checkpoint({"n": 0}, loaded()[0], names, writers=writers)
    names["end"].set()
    thread.join()
    checkpoint.restore()
    assert (writers.binds, checkpoint.meanwhile["n"]) == ({"n": WORKER}, WORKER)


def test_memory_that_a_process_shares_stays() -> None:
    number = multiprocessing.Value("i", 0)
    tensor = torch.zeros(1).share_memory_()
    own = torch.zeros(1)
    numbers = np.ctypeslib.as_array(multiprocessing.Array("d", 1).get_obj())
    mapped = np.ndarray(1, buffer=memoryview(mmap.mmap(-1, 8)))
    roots = {"number": number, "tensor": tensor, "numbers": numbers, "mapped": mapped, "own": own}
    spawning = multiprocessing.get_context("spawn")
    end = spawning.Event()
    process = spawning.Process(target=end.wait)
    told: list[dict[str, str]] = []
    for is_beside in (False, True):
        if is_beside:
            process.start()
        checkpoint = Checkpoint(roots, loaded()[0], {})
        number.value += 1
        for each in (tensor, numbers, mapped, own):
            each[0] += 1
        checkpoint.restore()
        told.append(checkpoint.meanwhile)
    end.set()
    process.join()
    arrays = (tensor[0], numbers[0], mapped[0], own[0])
    assert (number.value, *map(float, arrays)) == (1, 1.0, 1.0, 1.0, 0.0)
    told_of = ("number", "tensor", "numbers", "mapped")
    assert told == [{}, dict.fromkeys(told_of, "another process")]
