"""Three looks at one expression: the truth, ours, and what `%timeit` reports."""

import re
import statistics
import time
from itertools import repeat
from typing import Any

import ipyjaxbench
from tests.accuracy.cases import Case

_LOOK = 0.4  # seconds spent on one look at the truth
_BATCH = 200_000


def _loop(statement: str, names: dict[str, Any]) -> Any:
    """A loop as one would write it in a cell: names that it binds are globals."""
    binds = ", ".join(sorted(set(re.findall(r"\b(\w+) = ", statement))))
    lines = "".join(f"        {part.strip()}\n" for part in statement.split(";"))
    body = (
        "def look(times, now):\n"
        f"    {'global ' + binds if binds else 'pass'}\n"
        f"    start = now()\n    for _ in times:\n{lines}    return now() - start\n"
    )
    made: dict[str, Any] = {}
    exec(body, names, made)
    return made["look"]


def truth(case: Case, names: dict[str, Any]) -> float:
    """Seconds per call with waiting written by hand: the median of batches of 0.2 ms."""
    look = _loop(case.truth, names)
    now = time.perf_counter_ns
    if case.first:
        return look(repeat(None, 1), now) * 1e-9
    number = 1
    while (taken := look(repeat(None, number), now)) < _BATCH and number < 10**7:
        number *= 4
    number = max(1, round(number * _BATCH / taken))
    figures, end = [], now() + _LOOK * 1e9
    while now() < end or len(figures) < 3:
        figures.append(look(repeat(None, number), now) / number)
    return statistics.median(figures) * 1e-9


def ours(case: Case, names: dict[str, Any]) -> float:
    """What ``measure_code`` says of what the user typed."""
    result = ipyjaxbench.measure_code(case.typed, names)
    return result.first_call if case.first else result.median


def timeit(case: Case, names: dict[str, Any]) -> float | None:
    """What ``%timeit`` says of what the user typed; None where there is no IPython."""
    try:
        from IPython.core.interactiveshell import InteractiveShell
    except ImportError:
        return None
    shell = InteractiveShell.instance()
    before = dict(shell.user_ns)
    shell.user_ns.update(names)
    try:
        return float(shell.run_line_magic("timeit", f"-o -q {case.typed}").average)
    except Exception:
        return float("nan")  # an assignment that reads its own name is an UnboundLocalError
    finally:
        shell.user_ns.clear()
        shell.user_ns.update(before)


def compare(case: Case, rounds: int) -> dict[str, Any]:
    """Our figure and `%timeit`'s over the truth, which is looked at before and after ours."""
    names: dict[str, Any] = {"__name__": "case"}
    ours_over, truths = [], []
    if not case.first:
        exec(case.setup, names)
    for _ in range(rounds):
        looks = []
        for look in (truth, ours, truth):
            if case.first:
                exec(case.setup, names)
            if look is ours and case.dirt:
                exec(case.dirt, names)
            looks.append(look(case, names))
        true = statistics.mean((looks[0], looks[2]))
        truths.append(true)
        ours_over.append(looks[1] / true)
    if case.first:
        exec(case.setup, names)
    if case.dirt:
        exec(case.dirt, names)
    theirs = timeit(case, names)
    true = statistics.median(truths)
    return {
        "name": case.name,
        "typed": case.typed,
        "truth": true,
        "ours": statistics.median(ours_over),
        "low": min(ours_over),
        "high": max(ours_over),
        "timeit": None if theirs is None else theirs / true,
        "first": case.first,
    }
