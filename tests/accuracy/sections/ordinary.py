"""Ordinary code of many libraries in one session: no false word on it, and the right figure."""

import gc
import importlib.util
import os
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import ipyjaxbench
from ipyjaxbench import stats
from ipyjaxbench.reports.note import CHANGES_MEANING
from tests.accuracy.case import Names
from tests.accuracy.looks import batches, loop
from tests.accuracy.ordinary import LIBRARIES
from tests.accuracy.ordinary.library import Library
from tests.accuracy.section import Column, Row, Section, names_of
from tests.accuracy.sections.truth import bar

_ALWAYS_TRUE = ("unsynchronised",)  # of calls that return before their work is done
_FALSE_UNMARKED = ("elsewhere", "state-advanced", "earlier-work", "calls-differ")
_HAND_NS = 150_000_000
_BATCH_NS = 1_000_000  # as long as our samples: the fastest of shorter ones is another figure


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each snippet; all libraries are imported before the first one."""
    shell = InteractiveShell.instance()
    _run(shell, "%load_ext ipyjaxbench")
    missing = {
        library.name for library in LIBRARIES if importlib.util.find_spec(library.name) is None
    }
    here = [library for library in LIBRARIES if library.name not in missing]
    for library in here:
        _run(shell, library.setup)
    for library in LIBRARIES:
        row = {"group": library.name, "load": os.getloadavg()[0]}
        if library.name in missing:
            count = len(library.lines)
            yield {**row, "name": f"{count} snippets", "left_out": "it is not installed here"}
        for line in library.lines if library in here else ():
            try:
                yield {**row, "name": line, "typed": line, **_row(shell, library, line, rounds)}
            except Exception as error:
                yield {**row, "name": line, "left_out": f"{type(error).__name__}: {error}"[:300]}


def _run(shell: InteractiveShell, cell: str) -> Any:
    with capture_output():
        done = shell.run_cell(cell, store_history=False)
    done.raise_error()
    return done.result


def _row(shell: InteractiveShell, library: Library, line: str, rounds: int) -> Row:
    """Rounds go on until the figure is inside of the bars; all of them count on both sides."""
    names = shell.user_ns
    code = _waited(library, line, names)
    hand: list[list[float]] = []
    ours: list[float] = []
    notes: dict[str, str] = {}
    verdicts: list[str] = []
    for _ in range(max(rounds, 1)):
        hand.append(_by_hand(code, names) if rounds else [1.0])
        result: ipyjaxbench.Measurement = _run(shell, f"%fwtime -o --quick {line}")
        hand += [_by_hand(code, names)] if rounds else []
        ours += result.samples
        verdicts.append(result.verdict)
        notes |= {note.code: note.text for note in result.notes if _is_false(note, library)}
        truth = stats.floor([*chain.from_iterable(hand)])
        row = {"first": False, "truth": truth, "ours": [stats.floor(ours) / truth]}
        if _is_right(row):
            break
    loops = [stats.floor(each) for each in hand]
    return {**row, "loops": loops, "verdicts": verdicts, "notes": notes}


def _is_false(note: ipyjaxbench.Note, library: Library) -> bool:
    if note.code in _ALWAYS_TRUE:
        return not library.wait
    return note.mark == CHANGES_MEANING or note.code in _FALSE_UNMARKED


def _by_hand(code: str, names: Names) -> list[float]:
    """Seconds per call of batches, without Python's collector, as `timeit` does."""
    gc.disable()
    try:
        return [each * 1e-9 for each in batches(loop(code, names), _HAND_NS, _BATCH_NS)]
    finally:
        gc.enable()


def _waited(library: Library, line: str, names: Names) -> str:
    """The line with a wait for its value, where it has one to be waited for."""
    target, assigned, value = line.partition(" = ")
    if not assigned or "(" in target:
        target, value = "", line
    made = eval(value, names)
    if library.wait:
        exec(library.wait.replace("(_)", "(made)"), {**names, "made": made})
    if library.wait and hasattr(made, "block_until_ready"):
        return _with(line, target, value, "(_).block_until_ready()")
    if library.wait and isinstance(made, tuple | dict | list):
        return _with(line, target, value, library.wait)
    return line


def _with(line: str, target: str, value: str, wait: str) -> str:
    if target:
        return f"{line}; {wait.replace('(_)', f'(({target}))', 1)}"
    return wait.replace("(_)", f"({value})", 1)


def _is_right(row: Row) -> bool:
    low, high = bar(row)
    return low <= row["ours"][0] <= high


def _is_among_loops(row: Row) -> bool:
    """Whether loops by hand differ by more than the bars, and ours is no further off."""
    low, high = bar(row)
    fastest, slowest = min(row["loops"]), max(row["loops"])
    figure = row["ours"][0] * row["truth"]
    return slowest > high * fastest and low * fastest <= figure <= high * slowest


def _verdict(row: Row) -> str:
    by_hand = "–".join(f"{each * 1e6:.3g}" for each in (min(row["loops"]), max(row["loops"])))
    words = [] if _is_right(row) else [f"by hand {by_hand}" if _is_among_loops(row) else "OUT"]
    words += ["INVALID"] if "INVALID" in row["verdicts"] else []
    return ", ".join([*words, *row["notes"]]) or "ok"


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    others = [row for row in rows if not _is_right(row)]
    moved = [row for row in others if _is_among_loops(row)]
    wrong = [row for row in others if row not in moved]
    invalid = [row for row in rows if "INVALID" in row["verdicts"]]
    told = [row for row in rows if row["notes"]]
    loads = [row["load"] for row in rows]
    yield f"{len(rows)} snippets, at a load of {min(loads):.1f} to {max(loads):.1f}."
    yield f"{len(rows) - len(others)} figures are inside of the bars."
    yield (f"{len(moved)} are as far off as loops by hand are from each other: {names_of(moved)}.")
    yield f"{len(wrong)} are outside: {names_of(wrong)}."
    yield f"{len(invalid)} are called INVALID: {names_of(invalid)}."
    yield f"{len(told)} have a false note: {names_of(told)}."
    for row in told:
        yield f"{row['name']}: {row['notes']}"


ORDINARY = Section(
    name="ordinary",
    title="Is ordinary code left in peace?",
    method=(
        "Single lines of many libraries, all imported in one session, typed after"
        " `%fwtime --quick`. A loop written by hand runs before and after; the fastest of both"
        " (the 5 % quantile of batches of 1 ms) are compared. Where they differ by more than the"
        " bars of the first table, another round is made, and all rounds count on both sides."
        " Where loops by hand differ among themselves by more than the bars (work that two threads"
        " share takes 13 or 60 µs, as they find each other), a figure between theirs is told apart"
        " from one that is outside. None of these lines"
        " deserves a note marked `!`, nor a word on work that is left running, on state that"
        " advances or on calls that differ."
        " That JAX's work would have been missed without waiting is true."
    ),
    columns=(
        Column("fastest, µs", 11, "microseconds per call", lambda r: f"{r['truth'] * 1e6:.2f}"),
        Column("ours", 6, "our fastest divided by that: 1.00 is right",
               lambda r: f"{r['ours'][0]:.2f}"),
        Column("verdict", 8, "whether it is inside of the bars; notes that are false", _verdict),
    ),
    summary=_summary,
    measure=measure,
    groups=("python",),
)  # fmt: skip
