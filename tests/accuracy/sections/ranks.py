"""Whether a report of several ranks names the straggler, and no other."""

import json
import socket
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from tests.accuracy.ranks_job import MANY, SLEEP
from tests.accuracy.section import Column, Row, Section, counted

_SHARE, _SKEW, _OVERHEAD = 0.1, 1e-3, 0.03
_GATHERING, _FIRST = 5.0, 15.0
_SECONDS = 400  # for each round


def run(group: str, rounds: int, size: int, job: str = "ranks_job") -> dict[str, list[Any]]:
    """Return what rank 0 of a job found; the job is the name of a module of this benchmark."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", f"tests.accuracy.{job}", group, str(rounds)]
    jobs = [
        subprocess.Popen([*command, *map(str, (rank, size, port))], stdout=subprocess.PIPE,
                         text=True)
        for rank in range(size)
    ]  # fmt: skip
    try:
        output, _ = jobs[0].communicate(timeout=_SECONDS * rounds)
    finally:
        for job in jobs:
            job.kill()
            job.communicate()
    (line,) = (each for each in output.splitlines() if each.startswith("found "))
    found: dict[str, list[Any]] = json.loads(line.removeprefix("found "))
    return found


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each thing that a report says."""

    def row(name: str, wanted: str, found: str, reached: bool) -> Row:
        return {"group": group, "name": name, "wanted": wanted, "found": found, "reached": reached}

    found = run(group, rounds, 2)
    runs, named = len(found["even"]), sum(each is not None for each in found["even"])
    yield row("no straggler", "none named", f"named in {named} of {runs}", named == 0)
    right = sum(found["slow"])
    yield row("50 ms in one rank", "it is named", f"named in {right} of {runs}", right == runs)
    worst = max(found["waits"], key=lambda ratio: abs(ratio - 1)) * SLEEP * 1e3
    off = abs(worst / (SLEEP * 1e3) - 1)
    yield row("what others wait for it", f"within {_SHARE:.0%}", f"{worst:.1f} ms at the worst",
              off <= _SHARE)  # fmt: skip
    errors = [abs((ours or 0.0) - truth) for ours, truth in found["skew"]]
    skew = statistics.median(truth for _, truth in found["skew"]) * 1e3
    yield row("20 ms late", f"within {_SKEW * 1e3:g} ms",
              f"{max(errors) * 1e3:.2f} ms off at the worst, {skew:.1f} ms by hand",
              max(errors) <= _SKEW)  # fmt: skip
    medians = run(group, rounds, 2, "overhead_job")
    least, middle = (
        choose(medians["in step"]) / choose(medians["alone"]) for choose in (min, statistics.median)
    )
    yield row("in step / by itself", f"within {_OVERHEAD:.0%}",
              f"{least:.3f} of the least, {middle:.3f} of the middle",
              abs(least - 1) <= _OVERHEAD)  # fmt: skip
    gathering = statistics.median(found["gather"])
    yield row(f"{MANY:,} ranks, gathered and shown", f"{_GATHERING:g} s", f"{gathering:.1f} s",
              gathering <= _GATHERING)  # fmt: skip
    (first,) = run(group, rounds, 4)["first"]
    yield row("4 processes, to the table", f"{_FIRST:g} s", f"{first:.1f} s", first <= _FIRST)


def is_reached(row: Row) -> bool:
    """Whether it is as is wanted."""
    return bool(row["reached"])


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    yield counted(rows, is_reached, "targets are reached", "missed")


VERDICT = Column(
    "verdict", 7, "whether the target is reached", lambda r: "ok" if is_reached(r) else "MISSED"
)
RANKS = Section(
    name="ranks",
    title="Does a report of several ranks say what is so?",
    method=(
        "Two processes on this machine make a step with a collective in it: as it is, with a sleep"
        " of 50 ms in one of them, and with one to which each release comes 20 ms late. What is"
        " true is known by construction; for the delay, each call also writes down when it began."
        " A short step without a collective is timed in turn by itself and in step, ten times in"
        " each round, with a CPU for each rank; the least of each are compared, since the moods of"
        " the machine make up to half of the runs slower by half."
        f" The records of {MANY:,} ranks are written by one process and gathered by the other."
        " Seconds include the first call and all samples."
    ),
    columns=(
        Column("wanted", 14, "the target", "{wanted}"),
        Column("found", 44, "over all runs", "{found}"),
        VERDICT,
    ),
    summary=_summary,
    measure=measure,
    groups=("torch", "jax"),
)
