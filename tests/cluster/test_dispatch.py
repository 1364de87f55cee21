"""Waits for engines that answer, fail, die or hang, on a scripted clock; real ones are beside."""

from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.cluster import RankError, dispatch
from ipyjaxbench.cluster.dispatch import Answer, Dispatch
from tests.cluster.scripted_engines import ScriptedEngines

RAISED = {"failure": "raised ValueError: no data"}
STOPPED = {"interrupted": True}
STUCK = "is still in its call, which waits for the others and cannot be ended. Restart the engines"


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> ScriptedEngines:
    """Two of them, by whose clock is waited."""
    engines = ScriptedEngines()
    clocks = SimpleNamespace(elapsed=lambda: engines.clock)
    monkeypatch.setattr(dispatch, "Clock", clocks)
    return engines


def sent(engines: ScriptedEngines) -> Dispatch:
    return Dispatch(engines, len, [()] * len(engines))


def press_ctrl_c() -> None:
    raise KeyboardInterrupt


def test_answers_come_in_the_order_of_the_engines_and_who_is_late_is_given_up(
    engines: ScriptedEngines,
) -> None:
    engines.answers(2, 0, "first")
    engines.answers(1, 1, {"printed": "second"})
    work = sent(engines)
    assert work.wait() == [Answer("first"), Answer({"printed": "second"})]
    assert [*work.answers] == [1, 0]
    engines.answers(2.5, 2, 1)
    late = Answer(failure="did not answer within 1 s")
    assert sent(engines).wait(1) == [Answer(1), late]
    assert engines.aborted == [engines.work[3]]


@pytest.mark.parametrize(("raised", "failure"), [
    (ValueError("no data"), "raised ValueError: no data"),
    (ValueError(), "raised ValueError"),
    (type("EngineError", (Exception,), {})("gone"), "died"),
    (type("KilledWorker", (Exception,), {})("gone"), "died"),
])  # fmt: skip
def test_what_an_engine_raises_is_a_line(
    engines: ScriptedEngines, raised: Exception, failure: str
) -> None:
    engines.answers(1, 0, raised)
    engines.answers(1, 1, 1)
    assert sent(engines).wait() == [Answer(failure=failure), Answer(1)]


def test_what_cannot_be_sent_is_said(
    engines: ScriptedEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Any:
        raise TypeError("no pickle")

    monkeypatch.setattr(engines, "submit", refuse)
    told = Answer(failure="cannot be sent this: TypeError: no pickle")
    assert sent(engines).wait() == [told, told]


@pytest.mark.parametrize(
    ("told", "on_interrupt", "failure", "interrupted"),
    [
        ({"failure": "rank 1 raised", "names_rank": True}, None, "rank 1 raised", []),
        (None, STOPPED, "was interrupted", [[0]]),
        (None, None, STUCK, [[0]]),
    ],
)
def test_others_that_wait_for_one_that_failed_are_interrupted_unless_they_were_told(
    engines: ScriptedEngines, told: Any, on_interrupt: Any, failure: str, interrupted: Any
) -> None:
    engines.answers(1, 1, RAISED)
    if told:
        engines.answers(3, 0, told)
    if on_interrupt:
        engines.on_interrupt = lambda index: engines.answers(0, index, on_interrupt)
    answers = sent(engines).wait(all_or_none=True)
    assert [each.failure for each in answers] == [failure, RAISED["failure"]]
    assert engines.interrupted == interrupted


def test_the_dead_tell_nobody(engines: ScriptedEngines) -> None:
    """So that the others are interrupted at once."""
    moments: list[float] = []
    engines.at(2, lambda: engines.dead.add(1))
    engines.on_interrupt = lambda _: moments.append(engines.clock.wall() / 1e9)
    answers = sent(engines).wait(all_or_none=True)
    assert [each.failure for each in answers] == [STUCK, "died"]
    assert moments[0] < 4


@pytest.mark.parametrize(
    ("led", "others_end", "interrupted"),
    [(False, False, [[0, 1]]), (True, True, [[0]]), (True, False, [[0], [1]])],
)
def test_ctrl_c_ends_all_engines_or_their_leader_first(
    engines: ScriptedEngines, led: bool, others_end: bool, interrupted: list[list[int]]
) -> None:
    """A leader ends the others where they meet it; those that do not are interrupted too."""

    def end(index: int) -> None:
        engines.answers(0, index, STOPPED)
        if others_end:
            engines.answers(0, 1, STOPPED)

    engines.on_interrupt = end
    engines.at(1, press_ctrl_c)
    work = sent(engines)
    with pytest.raises(KeyboardInterrupt):
        work.wait(led=led)
    assert engines.interrupted == interrupted
    assert [each.failure for each in work.answers.values()] == ["was interrupted"] * 2


def test_a_second_ctrl_c_ends_steps_wherever_they_are(engines: ScriptedEngines) -> None:
    engines.at(1, press_ctrl_c)
    engines.at(9, press_ctrl_c)
    engines.on_interrupt = lambda index: (
        engines.answers(0, index, STOPPED) if len(engines.interrupted) > 1 else None
    )
    with pytest.raises(KeyboardInterrupt):
        sent(engines).wait(led=True)
    assert engines.interrupted == [[0], [0, 1]]


def test_what_does_not_react_to_ctrl_c_is_named(engines: ScriptedEngines) -> None:
    engines.answers(2, 1, STOPPED)
    engines.at(1, press_ctrl_c)
    engines.at(9, press_ctrl_c)
    with pytest.raises(RankError, match=r"^engine 0 did not react to Ctrl-C: code that waits"):
        sent(engines).wait()
    assert engines.interrupted == [[0, 1], [0], [0]]


def test_ctrl_c_waits_no_longer_where_one_has_died(engines: ScriptedEngines) -> None:
    engines.at(1, press_ctrl_c)
    engines.at(2, lambda: engines.dead.add(1))
    with pytest.raises(RankError, match=r"^engine 0 did not react"):
        sent(engines).wait(led=True)
    assert engines.clock.wall() < 15e9


def test_an_engine_that_is_past_its_work_sends_no_answer_any_more(engines: ScriptedEngines) -> None:
    """Ctrl-C reached it while it answered: an answer to what it was sent later tells so."""
    engines.answers(1, 0, STOPPED)
    engines.at(1, press_ctrl_c)
    engines.at(5, lambda: setattr(engines.marks[0], "answer", False))
    work = sent(engines)
    with pytest.raises(KeyboardInterrupt):
        work.wait()
    assert work.answers[1] == Answer(failure="was interrupted")
    assert engines.aborted == [engines.work[1]]
    assert len(engines.marks) == 2  # after one second, and after two more
