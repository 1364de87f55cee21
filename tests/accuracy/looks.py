"""Two looks at one expression: the truth, and what this package says."""

import gc
import re
import statistics
import time
from collections.abc import Callable
from itertools import repeat
from typing import Any, NamedTuple

import ipyjaxbench
from tests.accuracy.case import Case, Names, settle

_NOW = time.perf_counter_ns
_LOOK_NS = 200_000_000  # spent on one look at the truth
_BATCH_NS = 200_000


class Look(NamedTuple):
    """Seconds per call that were found, seconds that the user waited, and a verdict on it."""

    figure: float
    spent: float
    verdict: str = ""


def spent(look: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and the seconds that it took."""
    start = _NOW()
    value = look()
    return value, (_NOW() - start) * 1e-9


def truth(case: Case, names: Names) -> float:
    """Seconds per call with waiting written by hand: the median of batches of 0.2 ms."""
    settle(names)
    look = loop(case.by_hand(names), names)
    gc.disable()  # as `timeit` does, and we
    try:
        return look(repeat(None, 1)) * 1e-9 if case.first else _median(look) * 1e-9
    finally:
        gc.enable()


def ours(case: Case, names: Names) -> Look:
    """What ``measure_code`` says of what the user typed, the words of its report included."""
    settle(names)
    exec(case.dirt, names)

    def look() -> ipyjaxbench.Measurement:
        result = ipyjaxbench.measure_code(case.typed, names)
        str(result)
        return result

    result, seconds = spent(look)
    return Look(result.first_call if case.first else result.median, seconds, result.verdict)


def loop(code: str, names: Names) -> Callable[[Any], int]:
    """A loop as one would write it in a cell; it returns nanoseconds.

    Args:
        code: statements with ``;`` between them.
        names: where they run; the names that they bind are globals.
    """
    binds = ", ".join(sorted(set(re.findall(r"\b(\w+) = ", code))))
    lines = "".join(f"        {part.strip()}\n" for part in code.split(";"))
    body = (
        "def look(times, now=now):\n"
        f"    {'global ' + binds if binds else 'pass'}\n"
        f"    start = now()\n    for _ in times:\n{lines}    return now() - start\n"
    )
    made: dict[str, Any] = {"now": _NOW}
    exec(compile(body, "<truth>", "exec"), names, made)
    return made["look"]


def batches(look: Callable[[Any], int], spend: int, each: int = _BATCH_NS) -> list[float]:
    """Nanoseconds per call of batches.

    Args:
        look: a loop.
        spend: nanoseconds for all of them.
        each: nanoseconds of a batch, about.
    """
    number = 1
    while (taken := look(repeat(None, number))) < each and number < 10**7:
        number *= 4
    number = max(1, round(number * each / taken))
    figures, end = [], _NOW() + spend
    while _NOW() < end or len(figures) < 3:
        figures.append(look(repeat(None, number)) / number)
    return figures


def _median(look: Callable[[Any], int]) -> float:
    return statistics.median(batches(look, _LOOK_NS))
