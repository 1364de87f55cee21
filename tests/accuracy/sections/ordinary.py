"""Ordinary code of many libraries in one session: no false word on it, and the right figure."""

import gc
import importlib.util
import os
from collections.abc import Iterator, Sequence
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import ipyjaxbench
from ipyjaxbench import stats
from ipyjaxbench.notes import CHANGES_MEANING
from tests.accuracy.case import Names
from tests.accuracy.looks import batches, loop
from tests.accuracy.ordinary import LIBRARIES
from tests.accuracy.ordinary.library import Library
from tests.accuracy.section import Column, Row, Section, names_of
from tests.accuracy.sections.truth import bar

_ALWAYS_TRUE = ("unsynchronised",)  # of calls that return before their work is done
_FALSE_UNMARKED = ("elsewhere", "state-advanced", "earlier-work", "calls-differ")
_HAND_NS = 150_000_000


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
    hand: list[float] = []
    ours: list[float] = []
    notes: dict[str, str] = {}
    verdicts: list[str] = []
    for _ in range(max(rounds, 1)):
        hand += _by_hand(code, names) if rounds else [1.0]
        result: ipyjaxbench.Measurement = _run(shell, f"%fwtime -o --quick {line}")
        hand += _by_hand(code, names) if rounds else []
        ours += result.samples
        verdicts.append(result.verdict)
        notes |= {note.code: note.text for note in result.notes if _is_false(note, library)}
        low, high = bar({"first": False, "truth": stats.floor(hand)})
        if low <= stats.floor(ours) / stats.floor(hand) <= high:
            break
    return {
        "first": False,
        "truth": stats.floor(hand),
        "ours": [stats.floor(ours) / stats.floor(hand)],
        "verdicts": verdicts,
        "notes": notes,
    }


def _is_false(note: ipyjaxbench.Note, library: Library) -> bool:
    if note.code in _ALWAYS_TRUE:
        return not library.wait
    return note.mark == CHANGES_MEANING or note.code in _FALSE_UNMARKED


def _by_hand(code: str, names: Names) -> list[float]:
    """Seconds per call of batches, without Python's collector, as `timeit` does."""
    gc.disable()
    try:
        return [each * 1e-9 for each in batches(loop(code, names), _HAND_NS)]
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


def _verdict(row: Row) -> str:
    words = [] if _is_right(row) else ["OUT"]
    words += ["INVALID"] if "INVALID" in row["verdicts"] else []
    return ", ".join([*words, *row["notes"]]) or "ok"


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    wrong = [row for row in rows if not _is_right(row)]
    invalid = [row for row in rows if "INVALID" in row["verdicts"]]
    told = [row for row in rows if row["notes"]]
    loads = [row["load"] for row in rows]
    yield f"{len(rows)} snippets, at a load of {min(loads):.1f} to {max(loads):.1f}."
    yield f"{len(rows) - len(wrong)} figures are inside of the bars. Outside: {names_of(wrong)}."
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
        " (the 5 % quantile) are compared. Where they differ by more than the bars of the first"
        " table, another round is made, and all rounds count on both sides. None of these lines"
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
