"""Whether whole comparisons call equal code equal while other programs keep the machine busy."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.interleave import compare_snippets
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.accuracy.section import Column, Row, Section
from tests.accuracy.sections.verdicts import ARMS, SETUP

_LOADS, _TRIALS, _SECONDS = (0, 5, 16), 12, 2.0  # programs; comparisons of each in a round
_FALSE = 0.01
_BUSY = "while True: sum(range(10_000))"


@contextmanager
def _busy(programs: int) -> Iterator[None]:
    """So many other programs compute."""
    command = [sys.executable, "-c", _BUSY]
    running = [subprocess.Popen(command) for _ in range(programs)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each load."""
    names: dict[str, object] = {"__name__": "case"}
    exec(SETUP[group], names)
    for load in _LOADS:
        words = []
        with _busy(load):
            for _ in range(_TRIALS * rounds):
                arms = [ArmSpec(n, Snippet(Source.plain(c), names)) for n, c in ARMS.items()]
                found = compare_snippets(arms, CompareOptions(budget=_SECONDS))
                words.append((found.verdict("again"), found.verdict("more")))
        yield {
            "group": group,
            "name": f"{load} other programs",
            "trials": len(words),
            "false": sum(again in ("FASTER", "SLOWER") for again, _ in words),
            "found": sum(more == "SLOWER" for _, more in words),
        }


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    for name in dict.fromkeys(row["name"] for row in rows):
        mine = [row for row in rows if row["name"] == name]
        trials, false, found = (
            sum(row[key] for row in mine) for key in ("trials", "false", "found")
        )
        words = f"{name}: {false} of {trials} called equal code different; a tenth more found in"
        words += f" {found}. At most {_FALSE:.0%} of false alarms wanted:"
        yield f"{words} {'reached' if false <= max(_FALSE * trials, 1) else 'NOT REACHED'}."


EQUAL = Section(
    name="equal",
    title="Are equal things called equal on a busy machine?",
    method=(
        "`%%fwcompare` of the same code twice and a tenth more of it, as a whole, while other"
        f" programs compute; {_SECONDS:g} s for each comparison."
    ),
    columns=(
        Column("trials", 6, "comparisons", lambda r: str(r["trials"])),
        Column("false alarms", 12, "of these called the same code different",
               lambda r: f"{r['false']} ({r['false'] / r['trials']:.0%})"),
        Column("found", 10, "of these found a tenth more work",
               lambda r: f"{r['found']} ({r['found'] / r['trials']:.0%})"),
    ),
    summary=_summary,
    measure=measure,
    groups=("python", "jax"),
)  # fmt: skip
