"""How long the user waits for the answer."""

import statistics
from collections.abc import Iterator, Sequence

from tests.accuracy.section import Column, Row, Section, names_of

_LIMIT = 5.0
_SLOW_CALL, _SLOW_FIRST = 0.2, 1.2  # a second to compile, and the call


def _middle(row: Row) -> float:
    return statistics.median(row["spent"])


def _theirs(row: Row) -> float:
    return row["peers"]["%timeit"]["spent"]


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    times = [_middle(row) for row in rows]
    fair = [r for r in rows if r["truth"] < (_SLOW_FIRST if r["first"] else _SLOW_CALL)]
    yield f"Ours: median {statistics.median(times):.2f} s, longest {max(times):.2f} s."
    late = [row for row in fair if max(row["spent"]) > _LIMIT]
    yield f"Over {_LIMIT:.0f} s where calls take under 200 ms: {names_of(late)}."
    theirs = [spent for row in rows if (spent := _theirs(row))]
    yield f"%timeit: median {statistics.median(theirs):.2f} s, longest {max(theirs):.2f} s."
    quiet = [
        spent
        for row in rows
        if 0.5e-3 <= row["truth"] <= 2e-3 and not row["first"]
        for spent, verdict in zip(row["spent"], row["verdicts"], strict=True)
        if verdict == "QUIET"
    ]
    if quiet:
        yield (
            f"Quiet calls of 0.5 to 2 ms, {len(quiet)} measurements: median"
            f" {statistics.median(quiet):.2f} s, longest {max(quiet):.2f} s."
        )


SPEED = Section(
    name="speed",
    title="How long does the answer take?",
    method=(
        "Seconds from the call of our function to the words of its report, with the first call,"
        " warm-up and pauses, in the measurements of the first table. What is timed was compiled"
        " before, but for first calls. Beside it what `%timeit` takes for the same text."
    ),
    columns=(
        Column("call, ms", 10, "the truth, in milliseconds", lambda r: f"{r['truth'] * 1e3:.4f}"),
        Column("ours, s", 8, "median of the rounds", lambda r: f"{_middle(r):.2f}"),
        Column("longest", 8, "of the rounds", lambda r: f"{max(r['spent']):.2f}"),
        Column("%timeit, s", 10, "one measurement, where it does not fail",
               lambda r: f"{_theirs(r):.2f}" if _theirs(r) else "fails"),
        Column("verdicts", 14, "of our reports, by round", lambda r: " ".join(r["verdicts"])),
    ),
    summary=_summary,
    measure=None,
    needs="peers",
)  # fmt: skip
