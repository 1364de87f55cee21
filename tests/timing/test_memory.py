"""``--memory``: the most memory that a call needs, and of what."""

import sys
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from ipyjaxbench.device import resident_curve
from ipyjaxbench.device.memory_peak import MemoryPeak
from ipyjaxbench.device.resident_curve import ResidentCurve
from tests.results import rows
from tests.shell import Shell

SIDE = 500
MATRIX = 8 * SIDE**2
SLACK = 60_000  # bytes of objects of Python's
CHAIN = """\
def chain(a):
    b = a + 1
    c = b * 2
    del b
    return c.sum(0)
"""


@pytest.fixture
def ready(shell: Shell) -> Iterator[Shell]:
    """A shell with a matrix and a function."""
    shell.names.update(np=np, x=np.ones((SIDE, SIDE)))
    shell.run(CHAIN)
    yield shell
    assert not tracemalloc.is_tracing()


def measured(run: Shell, code: str) -> Any:
    run.run(f"%fwtime -q -n 2 -r 2 --memory -v found {code}")
    return run.names["found"]


def test_the_peak_of_a_call_has_its_values_in_between_and_their_line(ready: Shell) -> None:
    (found,) = measured(ready, "chain(x)").memory
    assert 2 * MATRIX <= found.peak <= 2 * MATRIX + SLACK
    assert found.left <= SLACK
    assert found.line == "line 3, in chain"
    assert "peak memory" in rows(ready.names["found"])
    (found,) = measured(ready, "np.add(x, 1, out=x)").memory
    assert found.peak <= SLACK
    ready.run("%fwtime -q -n 2 -r 2 -v found chain(x)")
    assert ready.names["found"].memory == ()  # which was not asked for
    ready.run("%%fwtime -q -n 1 -r 2 --memory -v found z = np.ones((500, 500))\nz += 1")
    (found,) = ready.names["found"].memory
    assert found.words() == "unknown: what runs before each call would be counted too"


def test_what_a_call_returns_is_no_value_in_between(ready: Shell) -> None:
    for code in ("x + 1", "y = x + 1"):  # for the second time the first one's `y` is replaced
        (found,) = measured(ready, code).memory
        assert MATRIX <= found.left <= found.peak <= MATRIX + SLACK
        assert found.line == ""  # there is only one


def test_what_takes_the_place_of_what_the_call_before_left_is_not_left(ready: Shell) -> None:
    ready.names["box"] = [None]
    (found,) = measured(ready, "box[0] = x + 1").memory
    assert found.left <= SLACK
    assert MATRIX <= found.peak <= MATRIX + SLACK


def test_a_tracemalloc_of_the_users_own_goes_on(ready: Shell) -> None:
    tracemalloc.start()
    try:
        kept = np.ones(SIDE)
        before, peak = tracemalloc.get_traced_memory()
        (found,) = measured(ready, "chain(x)").memory
        assert found.peak is None
        assert "tracemalloc.stop() first" in found.words()
        assert tracemalloc.is_tracing()
        assert tracemalloc.get_traced_memory()[1] >= peak >= before >= kept.nbytes
    finally:
        tracemalloc.stop()


def test_a_debuggers_trace_stays_and_no_line_is_told(ready: Shell) -> None:
    trace, before = (lambda *_: None), sys.gettrace()
    sys.settrace(trace)
    try:
        (found,) = measured(ready, "chain(x)").memory
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)
    assert (found.peak >= 2 * MATRIX, found.line) == (True, "")


@pytest.mark.parametrize(
    ("raised", "reason"),
    [("ValueError('odd')", "a call raised ValueError: odd"), ("KeyboardInterrupt", "interrupted")],
)
def test_what_ends_these_calls_loses_no_sample(ready: Shell, raised: str, reason: str) -> None:
    ready.run(f"""\
import tracemalloc
def later(a):
    if tracemalloc.is_tracing():
        raise {raised}
    return a + 1
""")
    interrupted = raised == "KeyboardInterrupt"
    with pytest.raises(KeyboardInterrupt) if interrupted else nullcontext():
        measured(ready, "later(x)")
    found = ready.names["found"]
    assert len(found.batches) == 2
    assert [peak.reason for peak in found.memory] == [reason]
    assert sys.gettrace() is None or not hasattr(sys.gettrace(), "__self__")


@pytest.mark.parametrize(
    ("peak", "words"),
    [
        (MemoryPeak("torch", "cuda:0", "allocator", 3 << 30, 1 << 30, 5 << 30, "line 14"),
         ("3.00 GiB on cuda:0, of which 2.00 GiB in values between (line 14); counted by torch's",
          " allocator, beyond 5.00 GiB in use before")),
        (MemoryPeak("jax", "gpu:0", "plan", 3 << 30, 3 << 30, 1 << 30),
         ("3.00 GiB on gpu:0, all of it still in use at the end; the",
          " compiler's plan, beyond 1.00 GiB of arguments")),
        (MemoryPeak("", "", "process", 3 << 20, 1 << 20, 9 << 20, "line 2, in f"),
         ("at least 3.00 MiB while line 2, in f ran: so much more resident memory, 1.00 MiB of it",
          " still there at the end; memory that was kept and used again is not seen")),
        (MemoryPeak("", "host", "tracemalloc", 0, 0), ("0 B; counted by tracemalloc",)),
        (MemoryPeak("jax", "gpu:0", "counter", reason="at most 2 B"),
         ("unknown on gpu:0: at most 2 B",)),
    ],
)  # fmt: skip
def test_a_peak_in_words(peak: MemoryPeak, words: tuple[str, ...]) -> None:
    assert peak.check() is None
    assert peak.words() == "".join(words)


#: Of no user: a file of Python's own.
GROW = compile(
    """
def grow(nbytes):
    now[0] += nbytes
    while looks.acquire(blocking=False):
        pass
    for _ in range(3):  # the first may have begun before; the second is over with the third
        looks.acquire()
""",
    "<frozen>",
    "exec",
)


def test_the_line_at_the_peak_is_where_it_rose_and_one_of_the_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What rises before and after it, in a line that looks, is no line's of it."""
    now, looks = [MATRIX], threading.Semaphore(0)
    monkeypatch.setattr(resident_curve, "highest_resident_memory", lambda: None)
    monkeypatch.setattr(resident_curve, "resident_memory", lambda: (now[0], looks.release())[0])
    code = compile("\ngrow(100)\ngrow(10**6)\ngrow(1)", "<cell>", "exec")
    names: dict[str, Any] = {"now": now, "looks": looks, "code": code, "Curve": ResidentCurve}
    exec(GROW, names)
    exec("with Curve() as curve: grow(9); exec(code); grow(10**6)", names)
    peak = names["curve"].peak()
    assert (peak.peak, peak.line) == (2_000_110, "line 3")


@pytest.mark.parametrize(
    ("highest", "peak", "source"), [([90, 90], 20, "process"), ([90, 150], 100, "highest")]
)
def test_the_kernels_own_highest_counts_where_the_code_raised_it(
    highest: list[int], peak: int, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [50]
    monkeypatch.setattr(resident_curve, "highest_resident_memory", lambda: highest.pop(0))
    monkeypatch.setattr(resident_curve, "resident_memory", lambda: now[0])
    with ResidentCurve() as curve:
        now[0] = 70
    found = curve.peak()
    assert found is not None
    assert (found.peak, found.left, found.source) == (peak, 20, source)
