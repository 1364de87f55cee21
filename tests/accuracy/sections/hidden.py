"""Whether work that a value does not show is in the figure, on a quiet and on a busy machine."""

import math
import os
import time
from collections.abc import Iterator, Sequence
from itertools import repeat

import ipyjaxbench
from ipyjaxbench import stats
from tests.accuracy.case import Names
from tests.accuracy.cases.hidden import HIDDEN, Hidden
from tests.accuracy.load import busy
from tests.accuracy.looks import loop
from tests.accuracy.section import Column, Row, Section, counted

LOADS = (0, 16)
_LEAST = 0.9
_SECONDS, _FEWEST = 1.0, 3  # of one look at the truth, and calls in it
_LOOKS = 5  # at the truth after ours, as long as ours is below the bar


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each case and load."""
    for load in LOADS:
        yield from of_load(group, rounds, load)


def of_load(group: str, rounds: int, load: int, cases: Sequence[Hidden] = ()) -> Iterator[Row]:
    """A row for each case beside so many busy programs."""
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
    setup, known = HIDDEN[group]
    names: Names = {"__name__": "case"}
    exec(setup, names)
    for case in cases or known:
        _size(case, names)
        row = {"group": group, "name": case.name, "load": load}
        alone = _truth(case, names) if load else math.inf
        with busy(load):
            looks = [_ratio(case, names, alone) for _ in range(rounds)]
        ratio, truth, ours = min(looks)
        yield {**row, "truth": truth, "ours": ours, "ratio": ratio}


def _size(case: Hidden, names: Names) -> None:
    """Have ``work`` take as long as the case says, without other programs."""
    one = Hidden("", "", "done(work())")
    number = names["jnp"].int32 if "jnp" in names else int
    turns = 1
    names["turns"] = number(turns)
    while (taken := _truth(one, names, seconds=0.05)) < case.milliseconds * 4e-4 and turns < 10**6:
        turns *= 2
        names["turns"] = number(turns)
    names["turns"] = number(max(1, round(turns * case.milliseconds * 1e-3 / taken)))


def _ratio(case: Hidden, names: Names, alone: float) -> tuple[float, float, float]:
    """Our headline over the truth, which is looked at before and after; the two.

    A machine that was slower while the truth was looked at is no lie of ours: where the headline
    is below the bar, the truth is looked at again, ours is not, and then what the call takes
    ``alone``, without other programs, counts.
    """
    truth = _truth(case, names)
    ours = ipyjaxbench.measure_code(case.typed, names).headline.value
    names["done"](names.get("store"))
    for _ in range(_LOOKS):
        truth = min(truth, _truth(case, names))
        if ours >= _LEAST * truth:
            return ours / truth, truth, ours
    truth = min(truth, alone)
    return ours / truth, truth, ours


def _truth(case: Hidden, names: Names, seconds: float = _SECONDS) -> float:
    """Seconds of a call that is waited for by hand, at its fastest as our headline has it."""
    look = loop(case.by_hand, names)
    look(repeat(None, 1))
    found: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < _FEWEST:
        found.append(look(repeat(None, case.calls)) * 1e-9 / case.calls)
    return stats.floor(found)


def is_right(row: Row) -> bool:
    """Whether the headline is no lie."""
    return bool(row["ratio"] >= _LEAST)


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    for load in LOADS:
        mine = [row for row in rows if row["load"] == load]
        told = counted(mine, is_right, f"headlines are {_LEAST:g} of the truth or more", "below")
        yield f"Load {load}: {told}"


HIDDEN_WORK = Section(
    name="hidden",
    title="Is work in the figure that the value does not show?",
    method=(
        "Code that leaves work running: stored in objects, dropped, begun by threads, on other"
        " devices, in some of the calls. The truth is the same code with waiting written by hand:"
        " the 5 % quantile of its calls, the smallest of measurements before and after ours; where"
        " ours is below 0.9 of it, up to four more measurements of the truth are made, and beside"
        " busy programs one without them counts too. Each expression is measured alone and beside"
        " 16 programs that keep a CPU busy. The ratio is the headline over the truth, the smallest"
        " of the rounds."
    ),
    columns=(
        Column("load", 4, "busy programs beside", "{load}"),
        Column("truth, ms", 9, "milliseconds per call", lambda r: f"{r['truth'] * 1e3:.2f}"),
        Column("ours, ms", 9, "our headline", lambda r: f"{r['ours'] * 1e3:.2f}"),
        Column("ratio", 6, "of the two", "{ratio:.2f}"),
        Column("verdict", 8, "whether it is 0.9 at least",
               lambda r: "ok" if is_right(r) else "LIE"),
    ),
    summary=_summary,
    measure=measure,
    groups=tuple(HIDDEN),
)  # fmt: skip
