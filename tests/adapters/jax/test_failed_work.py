"""Work that fails after the line that started it has returned has no time."""

import re
import weakref
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest
from jax._src import api

import ipyjaxbench
from ipyjaxbench.adapters.jax import Jax, dropped_results, synchronization
from tests.adapters.disk import FULL
from tests.adapters.jax.failing import disk, full_from, logged, work, written
from tests.shell import Shell
from tests.waiting import wait_until


@pytest.fixture
def full(shell: Shell) -> Iterator[Shell]:
    """A shell with work that fails from its first call on."""
    with full_from(1) as names:
        shell.names.update(names)
        yield shell
    jax.effects_barrier()


FIRST = [
    "%fwtime -n 3 -r 2 y = written(work(x))", "%%fwtime q = written(work(x))\nq + 1",
    "%fwtime logged(work(x)); None", "%%fwcompare --quick\na: work(x)\nb: written(work(x))",
    "%%trace_cached\ny = written(work(x))", "%%fwdevices\nlogged(work(x))",
]  # fmt: skip


DROPPED = [
    "%fwtime written(work(x)); None", "%fwtime written(work(x)).shape",
    "%%fwtime\nfor _ in range(3):\n    written(work(x))",
    "%%fwcompare --quick\na: work(x)\nb: written(work(x)); None",
]  # fmt: skip


@pytest.mark.parametrize("cell", [*FIRST, *DROPPED])
def test_what_fails_in_the_first_call_is_an_error_of_the_code(full: Shell, cell: str) -> None:
    with pytest.raises(Exception, match=FULL):
        full.run(cell)
    assert "y" not in full.names or cell.startswith(("%%fwdevices", "%%trace_cached"))
    assert "ONCE" not in full.text
    assert not re.search(r"ipyjaxbench/[\w/]+\.py:\d", full.text)
    disk.fails_from = 10**9
    full.run("%fwtime --quick 1 + 1")  # nothing of it is left


def test_a_failure_that_the_code_may_know_of_is_not_raised(full: Shell) -> None:
    full.run("%%fwtime -n 1 -r 1\ntry:\n    written(work(x)).item()\nexcept Exception: pass\nNone")
    full.run("def known():\n    try: written(work(x)).item()\n    except Exception: pass")
    full.run("%fwtime -n 1 -r 1 known()")


def test_the_users_line_is_shown_and_names_are_as_before(full: Shell) -> None:
    with pytest.raises(Exception, match=FULL):
        full.run("%%fwtime\nz = x\nwritten(work(z))")
    assert re.search(r"----> 3 written\(work\(z\)\)", full.text)
    assert "z" not in full.names


@pytest.mark.parametrize("typed", ["y = written(work(x))", "y = logged(work(x))"])
@pytest.mark.parametrize(("call", "code"), [(2, "runs-once"), (20, "stopped-by-error")])
def test_a_later_call_that_fails_ends_the_measurement(call: int, code: str, typed: str) -> None:
    with full_from(call) as names:
        m = ipyjaxbench.measure_code(typed, names, number=1, repeat=30)
    told = {note.code: note.text for note in m.notes}
    assert code in told
    assert "ValueError: disk is full" in told[code]
    assert "Traceback" not in told[code]
    assert len(m.batches) < call
    jax.effects_barrier()  # it is not kept for the user's next cell, nor for ours
    later = ipyjaxbench.measure_code("1 + 1", {}, number=1, repeat=1)
    assert "earlier-failed" not in [note.code for note in later.notes]


def test_an_arm_is_not_blamed_for_later_calls_of_another(shell: Shell) -> None:
    with full_from(5) as names:
        shell.names.update(names)
        shell.run("%%fwcompare --quick -v found\na: y = logged(work(x))\nb: work(x)")
    told = [[note.code for note in side.measured.notes] for side in shell.names["found"].sides]
    assert ["stopped-by-error" in codes for codes in told] == [True, False]


# Results that are held


def test_no_result_is_held_for_long_and_no_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dropped_results, "_MOST_NUMBERS", 10)
    small, large, adapter = jnp.ones(3) + 1, jnp.ones(11) + 1, Jax()
    double = jax.jit(lambda x: x * 2)
    jax.block_until_ready([double(small), double(large)])
    with adapter.hold_results() as wait:
        first = weakref.ref(double(small).block_until_ready())
        held = first() is not None
        too_large = weakref.ref(double(large))
        assert (held, first(), too_large()) == (True, None, None)
        last = weakref.ref(double(small))
        assert last() is not None
    wait()
    assert last() is None


def test_a_version_without_the_hook_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(api, "_post_hook_state")
    with full_from(1) as names:
        with Jax().hold_results() as wait:
            written(work(names["x"]))
        wait()


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
    ["%fwtime -n 1 -r 5 work(x)", "%%fwcompare -n 1 -r 5\na: 1 + 1\nb: work(x)",
     "%%fwdevices\nwork(x)", "%%trace_cached\nwork(x)"],
)  # fmt: skip
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


def test_where_jax_cannot_forget_a_failure_it_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
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
