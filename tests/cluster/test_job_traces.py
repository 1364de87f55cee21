"""The traces of many ranks in one report, from what each would say."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from ipyjaxbench.cluster import JobTraces, RankTraces
from ipyjaxbench.cluster.trace_here import trace_here
from ipyjaxbench.retracing import Change, TracedCall, TraceOptions, Traces

PER_HOST = 8
FIRST = (Change("first", new="first call"),)
SHAPE = (Change("shape", "x", "f32[8,4]", "f32[7,4]"),)


def call(
    number: int, state: str, *, times: int = 1, name: str = "step", **facts: Any
) -> TracedCall:
    phases = {"trace": 0.01, "compile": 0.04} if state == "TRACED" else {}
    why = {"TRACED": FIRST if number == 1 else SHAPE}.get(state, ())
    known = {"phases": phases, "why": why, "last": number + times - 1, **facts}
    return TracedCall(name, "jax", number, f"{name}(x)", number, times, state, 0.06, **known)


def of(*calls: TracedCall, error: str = "") -> Traces:
    return Traces("step(x)", {"jax": "0.10"} if calls else {}, calls, error=error)


ALIKE = of(call(1, "TRACED"), call(2, "CACHED", times=3))
ODD = of(call(1, "TRACED"), call(2, "CACHED"), call(3, "TRACED"), call(4, "CACHED"))


def job(ranks: Iterable[Traces | str]) -> JobTraces:
    """A job whose ranks have these calls, or give a reason why they do not answer."""
    told = tuple(
        RankTraces(f"rank {n}", f"node-{n // PER_HOST}", n, None, own)
        if isinstance(own, str)
        else RankTraces(f"rank {n}", f"node-{n // PER_HOST}", n, own)
        for n, own in enumerate(ranks)
    )
    return JobTraces("step(x)", told, "jax")


def words(found: JobTraces) -> str:
    return " ".join(str(found).split())


def test_the_report_names_the_first_rank_and_argument_that_differ() -> None:
    found = job([ALIKE, ALIKE, ODD, ALIKE])
    assert str(found).splitlines()[:8] == [
        "step(x)  rank 2 traced call 3 of step   the others took it from the cache",
        "reason   rank 2, call 3 of step: x: f32[8,4] → f32[7,4] (shape)",
        "cost     50.0 ms for tracing and compiling; ranks that need its result wait for",
        "         it",
        "                host  calls  traced  cached  tracing, compiling",
        "  rank 0,1,3  node-0      4       1       3               50 ms",
        "  rank 2      node-0      4       2       2              100 ms",
        "in full  rank 2: 42 % of 240 ms was tracing and compiling, for 2 reasons",
    ]
    assert repr(found) == "<JobTraces: 5 traces in 4 ranks>"
    rows = [(row["rank"], row["call"], row["state"]) for row in job([ALIKE, "died"]).rows()]
    assert rows == [("rank 0", 1, "TRACED"), ("rank 0", 2, "CACHED")]


LATE = of(call(1, "TRACED"), call(2, "CACHED", times=2), call(4, "TRACED"))


@pytest.mark.parametrize(
    ("ranks", "told"),
    [
        ([ALIKE] * 4, ["step(x) 1 traced, 3 cached in each of 4 ranks", "rank 0-3 node-0 4 1 3"]),
        ([ALIKE, LATE, ODD], ["rank 2 traced call 3 of step", "later 1 more call differs"]),
        ([ODD, ODD, ALIKE],
         ["rank 2 took call 3 of step from the cache the others traced it",
          "reason rank 0, call 3 of step: x: f32[8,4] → f32[7,4] (shape)"]),
        ([ALIKE, of(call(1, "TRACED"), call(2, "CACHED", times=2))],
         ["rank 1 did not make call 4 of step rank 0 did"]),
        ([ALIKE, "died", ALIKE],
         ["1 traced, 3 cached in each of 2 ranks", "no answer rank 1 died"]),
        ([of(), of()], ["step(x) no compiled function was called in each of 2 ranks 1 host"]),
    ],
)  # fmt: skip
def test_what_ranks_have_in_common_and_what_not_is_told(ranks: Any, told: list[str]) -> None:
    text = words(job(ranks))
    assert [each for each in told if each not in text] == []
    assert ("reason rank" in text) is any("reason" in each or "later" in each for each in told)


@pytest.mark.parametrize("odd", [range(700, 701), range(3, 1000, 50), range(1, 1000)])
def test_a_thousand_ranks_are_on_one_screen_and_those_that_differ_come_first(odd: range) -> None:
    found = job(ODD if n in odd else ALIKE for n in range(1000))
    lines = str(found).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    [differing] = found.differing
    assert found.answering[differing.shown][1] is ODD
    assert "125 hosts" in "\n".join(lines)
    told = {1: "rank 700", 20: "rank 3 and 19 others", 999: "rank 0"}[len(odd)]
    assert f"{told} {'took' if len(odd) == 999 else 'traced'} call 3 of step" in words(found)
    kinds = [of(call(1, "TRACED"), call(2, "CACHED", times=n + 1)) for n in range(30)]
    text = words(job([*kinds, kinds[0], kinds[0]]))
    assert "12 of 30 kinds of ranks, the rarest first" in text
    assert "rank 0,30,31 2 hosts" not in text


def test_calls_that_an_error_kept_a_rank_from_are_no_difference() -> None:
    stopped = of(call(1, "TRACED"), error="ValueError: no data")
    found = job([ALIKE, stopped, ODD])
    assert [(each.number, each.groups) for each in found.differing] == [
        (3, (("traced", (2,)), ("cached", (0,))))
    ]
    text = words(found)
    assert "rank 1 raised ValueError 1 to 2 traced, 0 to 3 cached" in text
    assert "raised rank 1: ValueError: no data" in text
    assert found.shown == 1


def test_ranks_that_were_interrupted_at_different_calls_may_hang_later() -> None:
    ended = [of(call(1, "TRACED"), call(2, "CACHED", times=n), error="KeyboardInterrupt")
             for n in (3, 4)]  # fmt: skip
    found = job(ended)
    assert found.differing == ()
    text = words(found)
    assert "1 traced, 3 to 4 cached in each of 2 ranks ○ INTERRUPTED" in text
    assert "restart the engines if a call hangs" in text
    assert "restart" not in words(job([ended[0], ended[0]]))
    assert "restart" not in words(replace(found, job=""))


def test_records_that_make_no_sense_are_refused() -> None:
    found = job([ALIKE, "died"])
    assert JobTraces.from_dict(found.to_dict()) == found
    alone, died = found.ranks
    assert replace(found, ranks=()).check() == "no rank was asked"
    both = "a rank has both calls and a reason why it did not answer, or neither"
    assert replace(found, ranks=(replace(alone, silent="died"),)).check() == both
    assert replace(found, ranks=(replace(died, silent=""),)).check() == both
    unknown = replace(alone, traces=of(call(1, "LOST")))
    assert replace(found, ranks=(unknown, died)).check() == "a call has an unknown state"


def test_what_runs_in_one_process_is_plain_data(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    found = trace_here("print('seen')\nn = 1\n1 / 0", names, TraceOptions())
    assert found["failure"] == "raised ZeroDivisionError: division by zero"
    assert found["printed"] == capsys.readouterr().out == "seen\n"
    assert names["n"] == 1
    found = trace_here("print('y' * 30_000)", names, TraceOptions())
    assert found["printed"].endswith("(the rest of the output was left out)\n")
    assert len(found["printed"]) < 21_000
    found = trace_here("raise KeyboardInterrupt", names, TraceOptions())
    assert found["interrupted"]
    assert "failure" not in found
