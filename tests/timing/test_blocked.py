"""A call that waits for what only another one would bring is given up, in one line."""

import pytest

from tests.shell import Shell

HOLDER = "import threading; o = type('O', (), {})(); o.lock = threading.Lock()"
CODES = {
    "a lock of an object": (HOLDER, "o.lock.acquire()", "o.lock.locked()"),
    "in a function": (f"{HOLDER}\ndef f():\n    o.lock.acquire()", "f()", "o.lock.locked()"),
    "a lock": ("import threading; c = threading.Lock()", "c.acquire()", "c.locked()"),
    "in a list": ("import threading; c = [threading.Lock()]", "c[0].acquire()", "c[0].locked()"),
    "of multiprocessing": ("import multiprocessing as mp; c = mp.Lock()", "c.acquire()",
                           "c._semlock._is_zero()"),
    "an empty queue": ("import queue; q = queue.Queue(); q.put(1)", "q.get()", "q.empty()"),
    "a full queue": ("import queue; q = queue.Queue(1)", "q.put(1)", "q.full()"),
    "an event": ("import threading; e = threading.Event(); e.set()", "e.wait(); e.clear()",
                 "not e.is_set()"),
}  # fmt: skip


@pytest.mark.parametrize("name", CODES)
def test_a_call_that_waits_for_ever_is_given_up(
    shell: Shell, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ipyjaxbench.timing.session._PATIENCE", 0.02)
    setup, code, left = CODES[name]
    shell.run(setup)
    shell.run(f"found = %fwtime -q -b 0.02 {code}")
    told = {note.code: note.text for note in shell.names["found"].notes}
    assert "the second call did not return within" in told["runs-once"]
    assert "interrupted" not in told
    assert eval(left, shell.names)  # as after the first call
