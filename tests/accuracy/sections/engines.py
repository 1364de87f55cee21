"""Whether engines stay usable, whatever happens to them during a measurement."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from tests.accuracy.section import Column, Row, Section, names_of
from tests.accuracy.sections.ranks import VERDICT
from tests.cluster.engines import define_step, engines

_KINDS = {"python": "alone", "jax": "jax", "torch": "torch"}
_INTERRUPTS, _KILLS = 12, 6  # in a round
_LATEST = 2.0  # seconds after which a measurement is interrupted, or an engine killed
_TO_TABLE, _TO_END, _TO_TOLD = 15.0, 10.0, 5.0
_TIMED, _QUICK = "%fwtime --engines all step(x)", "%fwtime --engines all --quick sum(range(100))"


def _run(shell: InteractiveShell, cell: str) -> tuple[BaseException | None, float]:
    """Return what a cell raises, and its seconds."""
    start = time.monotonic()
    with capture_output():
        try:
            error = shell.run_cell(cell, store_history=False).error_in_exec
        except KeyboardInterrupt as late:  # it came when the cell had ended
            error = late
    return error, time.monotonic() - start


def _disturbed(shell: InteractiveShell, disturb: Callable[[], None]) -> tuple[Any, float]:
    """Return what a measurement raises that is disturbed, and the seconds from there to its end."""
    when: list[float] = []

    def now() -> None:
        when.append(time.monotonic())
        disturb()

    timer = threading.Timer(random.uniform(0, _LATEST), now)
    timer.start()
    error: BaseException | None = None
    end = 0.0
    try:
        error, _ = _run(shell, _TIMED)
        end = time.monotonic()
        timer.cancel()
        timer.join()
    except KeyboardInterrupt as late:  # it came when the cell had ended
        error, end = late, end or time.monotonic()
        timer.join()
    return error, end - when[0] if when else 0.0


def _interrupt(shell: InteractiveShell, number: int) -> Iterator[tuple[bool, float]]:
    """Yield for each Ctrl-C whether the next measurement works, and the seconds that it took."""
    for _ in range(number):
        _, seconds = _disturbed(shell, lambda: os.kill(os.getpid(), signal.SIGINT))
        error, _ = _run(shell, _QUICK)
        yield error is None, seconds


def _kill(shell: InteractiveShell, kind: str) -> tuple[bool, float]:
    """Return whether a killed engine is told in one line, and the seconds until then."""
    with engines(kind) as client:
        shell.user_ns["rc"] = client
        define_step(client[:], kind)
        pids = client[:].apply_sync(os.getpid)
        victim = random.choice(pids)
        error, seconds = _disturbed(shell, lambda: os.kill(victim, signal.SIGKILL))
        if seconds == 0.0:  # the measurement had ended
            return True, 0.0
        return error is None or "\n" not in str(error), seconds


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each thing that happens to engines."""
    kind, shell = _KINDS[group], InteractiveShell.instance()
    shell.run_cell("%load_ext ipyjaxbench")

    def row(name: str, runs: list[tuple[bool, float]], within: float) -> Row:
        works, longest = sum(fine for fine, _ in runs), max(seconds for _, seconds in runs)
        reached = works == len(runs) and longest <= within
        return {"group": group, "name": name, "works": works, "runs": len(runs),
                "longest": longest, "within": within, "reached": reached}  # fmt: skip

    with engines(kind) as client:
        shell.user_ns["rc"] = client
        define_step(client[:], kind)
        error, seconds = _run(shell, _TIMED)
        yield row("to the table", [(error is None, seconds)], _TO_TABLE)
        yield row("Ctrl-C", [*_interrupt(shell, rounds * _INTERRUPTS)], _TO_END)
    kills = [_kill(shell, kind) for _ in range(rounds * _KILLS)]
    yield row("an engine is killed", kills, _TO_TOLD)


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    for name in dict.fromkeys(row["name"] for row in rows):
        own = [row for row in rows if row["name"] == name]
        works, runs = sum(row["works"] for row in own), sum(row["runs"] for row in own)
        yield f"{name}: {works} of {runs} as they should be, {max(r['longest'] for r in own):.1f} s"
    missed = [row for row in rows if not row["reached"]]
    yield f"Targets missed: {names_of(missed)}."


ENGINES = Section(
    name="engines",
    title="Do engines stay usable, whatever happens during a measurement?",
    method=(
        "Two engines of ipyparallel on this machine, by themselves or as a job; `%fwtime --engines"
        " all` in a shell. Ctrl-C comes at a random moment; then the next measurement must work."
        " An engine is killed at a random moment; then one line must say so, and no process may"
        " be left. Each kill has engines of its own."
    ),
    columns=(
        Column("as it should be", 15, "runs", "{works} of {runs}"),
        Column("longest, s", 10, "until the cell ends", "{longest:.1f}"),
        Column("wanted, s", 9, "the target", "{within:g}"),
        VERDICT,
    ),
    summary=_summary,
    measure=measure,
    groups=("python", "jax", "torch"),
)
