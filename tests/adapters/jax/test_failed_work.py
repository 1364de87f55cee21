"""Work that fails after the line that started it has returned has no time."""

import re
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench.adapters.jax import synchronization
from tests.adapters.disk import FULL
from tests.adapters.jax.failing import disk, full_from, logged, work
from tests.shell import Shell
from tests.waiting import wait_until


@pytest.fixture
def full(shell: Shell) -> Iterator[Shell]:
    """A shell with work that fails from its first call on."""
    with full_from(1) as names:
        shell.names.update(names, box=list)
        yield shell
    jax.effects_barrier()


def test_the_line_that_starts_it_returns_before_it_fails() -> None:
    with full_from(1) as names:
        y = names["written"](names["work"](names["x"]))
        with pytest.raises(Exception, match=FULL):
            y.block_until_ready()


FIRST = {
    "a value": "%fwtime written(work(x))",
    "a value, once": "%fwtime -n 1 -r 1 written(work(x))",
    "calls of a given number": "%fwtime -n 3 -r 2 written(work(x))",
    "a name": "%fwtime y = written(work(x))",
    "a list": "%fwtime [written(work(x)), 1]",
    "an object": "%fwtime box([written(work(x))])",
    "a cell with a loop": "%%fwtime\nfor _ in range(2):\n    y = written(work(x))\ny",
    "what awaits": "%fwtime (await later())",
    "cold": "%fwtime --fresh 1 written(work(x))",
    "profiled": "%fwtime --profile written(work(x))",
    "a budget": "%fwtime -b 0.1 written(work(x))",
    "a set-up": "%%fwtime q = written(work(x))\nq + 1",
    "a failed input": "%fwtime poisoned + 1",
    "an effect": "%fwtime logged(work(x))",
    "an effect, no value": "%fwtime logged(work(x)); None",
    "an arm": "%%fwcompare\na: work(x)\nb: written(work(x))",
    "a traced call": "%trace_cached written(work(x))",
    "a traced cell": "%%trace_cached\ny = written(work(x))",
    "copies": "%%fwdevices\ny = written(work(x))",
    "copies, an effect": "%%fwdevices\nlogged(work(x))",
}


@pytest.mark.parametrize("cell", FIRST.values(), ids=FIRST)
def test_what_fails_in_the_first_call_is_an_error_of_the_code(full: Shell, cell: str) -> None:
    poisoned = full.names["written"](work(full.names["x"]))
    full.names["poisoned"] = poisoned

    async def later() -> Any:
        return full.names["written"](work(full.names["x"]))

    full.names["later"] = later
    with pytest.raises(Exception, match=FULL):
        full.run(cell)
    assert "y" not in full.names or cell.startswith(("%%fwdevices", "%%trace_cached"))
    assert "ONCE" not in full.text
    assert not re.search(r"ipyjaxbench/[\w/]+\.py:\d", full.text)
    disk.fails_from = 10**9
    full.run("%fwtime --quick 1 + 1")  # nothing of it is left


def test_the_users_line_is_shown(full: Shell) -> None:
    with pytest.raises(Exception, match=FULL):
        full.run("%%fwtime\nz = x\nwritten(work(z))")
    assert re.search(r"----> 3 written\(work\(z\)\)", full.text)


def test_functions_raise_it_too() -> None:
    with full_from(1) as names:

        def call() -> Any:
            return names["written"](names["work"](names["x"]))

        with pytest.raises(Exception, match=FULL):
            ipyjaxbench.measure(call)
        with pytest.raises(Exception, match=FULL):
            ipyjaxbench.compare({"call": call, "other": lambda: 1})


@pytest.mark.parametrize(("call", "code"), [(2, "runs-once"), (40, "stopped-by-error")])
@pytest.mark.parametrize("line", ["written(work(x))", "y = written(work(x))"])
def test_a_later_call_that_fails_ends_the_measurement(call: int, code: str, line: str) -> None:
    with full_from(call) as names:
        m = ipyjaxbench.measure_code(line, names, number=1, repeat=60)
    told = {note.code: note.text for note in m.notes}
    assert code in told
    assert "ValueError: disk is full" in told[code]
    assert "Traceback" not in told[code]
    assert len(m.batches) < call


def test_random_numbers_and_names_are_as_before(full: Shell) -> None:
    full.run("import numpy as np; np.random.seed(0); before = np.random.get_state()[1].tolist()")
    with pytest.raises(Exception, match=FULL):
        full.run("%fwtime r = np.random.rand(); y = written(work(x))")
    assert "r" not in full.names
    assert np.random.get_state()[1].tolist() == full.names["before"]


# What failed before


@pytest.fixture
def after_a_failure(shell: Shell) -> Iterator[Shell]:
    """A shell in which a callback has failed that nobody waited for."""
    with full_from(1) as names:
        shell.names.update(names)
        logged(work(names["x"]))
        wait_until(lambda: disk.calls == 1)
        disk.fails_from = 10**9
        yield shell
    jax.effects_barrier()


@pytest.mark.parametrize(
    "cell",
    [
        "%fwtime --quick 1 + 1",
        "%fwtime --quick work(x)",
        "%%fwcompare --quick\na: 1 + 1\nb: work(x)",
        "%%fwdevices\nwork(x)",
        "%%trace_cached\nwork(x)",
    ],
)
def test_an_earlier_failure_is_not_this_codes(after_a_failure: Shell, cell: str) -> None:
    after_a_failure.run(cell)
    if cell.startswith("%fwtime"):
        shown = " ".join(after_a_failure.shown[-1].data["text/plain"].split())
        assert "ValueError: disk is full" in shown
    after_a_failure.run("%fwtime --quick -v found 1 + 1")
    codes = [note.code for note in after_a_failure.names["found"].notes]
    assert "earlier-failed" not in codes or cell.startswith(("%%fwdevices", "%%trace_cached"))


def test_an_array_that_failed_and_is_held_hinders_nobody(shell: Shell) -> None:
    with full_from(1) as names:
        shell.names["held"] = names["written"](work(names["x"]))
        shell.run("%fwtime --quick -v found 1 + 1")
    assert shell.names["found"].median > 0


def test_where_jax_cannot_forget_a_failure_it_is_told_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(synchronization, "can_forget_callbacks", lambda: False)
    told: list[Exception] = []
    in_flight = synchronization.InFlight(synchronization.local_devices, told.append)
    with full_from(1) as names:
        logged(work(names["x"]))
        in_flight.wait()
        in_flight.wait()
    assert len(told) == 1
    monkeypatch.undo()
    synchronization.forget_callbacks()
    in_flight.wait()
    assert len(told) == 1
