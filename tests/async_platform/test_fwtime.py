"""`%fwtime` and `%%fwcompare` wait for each device, whether the result shows its work or not.

A test without a wait shows that the wait is what makes the figure right.
"""

from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import jax
import pytest

from ipyjaxbench.adapters.jax import Jax, synchronization
from ipyjaxbench.timing.hidden_work import HiddenWork
from tests.async_platform.conftest import by_hand
from tests.shell import Shell

SHOWN = (
    "long(x)", "long(xs[2])", "{'a': long(xs[1]), 'b': 3}", "[long(y) for y in xs]",
    "np.asarray(long(x))", "float(long(xs[3])[0, 0])",
    "with jax.default_device(d[1]): y = long(host)", "long(jax.device_put(host, d[2]))",
    "jax.device_put(long(xs[1]), cpu)",
)  # fmt: skip
#: Work that goes on when the call has returned, on a device of which the result tells nothing.
#: Where the result shows other work, the hidden takes twice as long, so that it never ends first.
HIDDEN = (
    "long(xs[2]); None", "long(xs[1]); x", "[long(x), long(long(xs[2]))][0]", "long(xs[3]).shape",
)  # fmt: skip


class Started:
    """Counts the work that still runs when the next call begins, which takes no clock."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        # Queues, for what calls put into a list is taken out of it again.
        made: SimpleQueue[Any] = SimpleQueue()
        left: SimpleQueue[Any] = SimpleQueue()

        def long(x: Any) -> Any:
            made.put(value := function(x))
            return value

        def begin() -> None:
            while not made.empty():
                if not (value := made.get()).is_ready():
                    left.put(value)

        self.names = {"long": long, "begin": begin}
        self._made, self._left = made, left

    def end(self) -> int:
        """Wait for all of it, so that no test meets it; return how much of it ran then."""
        left = self._left.qsize()
        for queue in (self._made, self._left):
            while not queue.empty():
                jax.block_until_ready(queue.get())
        return left


def left_running(run: Shell, code: str) -> int:
    """How much work of 19 calls still ran when the next one began."""
    started = Started(run.names["long"])
    run.names.update(started.names)
    run.run(f"%%fwtime -q -n 1 -r 20\nbegin()\n{code}")
    return started.end()


@pytest.mark.parametrize("code", SHOWN)
def test_all_that_a_value_shows_is_waited_for(code: str, run: Shell) -> None:
    assert left_running(run, code) == 0


@pytest.mark.parametrize("code", HIDDEN)
def test_all_that_a_call_starts_is_waited_for(
    code: str, run: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one look finds it; how often looks err is counted by `python -m tests.accuracy`."""
    found = lambda _, calls: max(left or 0 for _, left in calls)  # noqa: E731
    monkeypatch.setattr(HiddenWork, "decide", found)
    assert left_running(run, code) == 0


@pytest.mark.parametrize("code", ["long(x)", "long(xs[2])", "[long(y) for y in xs]"])
def test_without_the_wait_for_results_it_is_not(
    code: str, run: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synchronization, "_one_array", lambda value: value)
    monkeypatch.setattr(synchronization, "_pytree", lambda value: value)
    for name, answer in (("is_running", False), ("drain", None)):
        monkeypatch.setattr(Jax, name, lambda _, answer=answer: answer)
    assert left_running(run, code) > 0


@pytest.mark.parametrize("code", HIDDEN)
def test_without_the_wait_for_devices_work_that_is_not_shown_is_missed(
    code: str, run: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, answer in (("is_running", False), ("drain", None)):
        monkeypatch.setattr(Jax, name, lambda _, answer=answer: answer)
    assert left_running(run, code) > 0


def test_work_that_the_result_does_not_show_is_said(run: Shell) -> None:
    run.run("%fwtime -n 1 -r 20 -v found long(xs[2]); None")
    codes = [note.code for note in run.names["found"].notes]
    assert {"elsewhere", "unsynchronised"} <= set(codes)


def test_work_from_before_is_not_counted(run: Shell) -> None:
    run.run("later = [long(y) for y in xs for _ in range(3)]")
    run.run("%fwtime -b 0.5 -v found jnp.sum(x)")
    assert "work still running from earlier cells" in " ".join(
        run.shown[-1].data["text/plain"].split()
    )
    assert run.names["found"].median < by_hand(lambda: run.names["long"](run.names["x"]))


def test_arms_on_two_devices_are_compared_by_their_work(run: Shell) -> None:
    run.run(
        "%%fwcompare -q -b 4 -v found\none: long(xs[1])\ntwo:\n    y = long(xs[2])\n    long(y)"
    )
    found = run.names["found"]
    assert 1.4 < found.ratio("two").value < 2.8
