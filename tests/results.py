"""Hand-made results for tests."""

import dataclasses
from typing import Any

from ipyjaxbench.reports.blocks import Facts, Footer, Headline
from ipyjaxbench.reports.result import Result
from ipyjaxbench.timing.measurement import Measurement

STEADY = [1000 + i % 3 for i in range(100)]


def measured(nanoseconds: list[int], **changes: Any) -> Measurement:
    """Samples of one call each, in rounds of ten, or as few as there are."""
    full, rest = divmod(len(nanoseconds), 10)
    base = Measurement(
        code="f(x)",
        frameworks={"python": "3.12"},
        first_call=0.002,
        phases={},
        compilations=None,
        loops=1,
        batches=tuple((1, ns) for ns in nanoseconds),
        rounds=(10,) * full + (rest,) * bool(rest),
    )
    return dataclasses.replace(base, **changes)


def rows(m: Result) -> dict[str, str]:
    """The labelled lines of its report."""
    return {k: v for b in m.report().blocks if isinstance(b, Facts) for k, v in b.rows}


def blocks(m: Result, kind: type) -> list[Any]:
    """The parts of its report that are of a kind."""
    return [block for block in m.report().blocks if isinstance(block, kind)]


def holds(now: Any, before: Any) -> bool:
    """Whether a record says all that one of an older version said; it may say more."""
    if isinstance(before, dict):
        return all(name in now and holds(now[name], value) for name, value in before.items())
    if isinstance(before, list):
        return len(now) == len(before) and all(map(holds, now, before))
    return bool(now == before)


def headline(m: Result) -> Headline:
    """The line to read first."""
    return next(block for block in m.report().blocks if isinstance(block, Headline))


def footer(m: Measurement) -> tuple[str, ...]:
    """The pieces of its last line."""
    return next(block.parts for block in m.report().blocks if isinstance(block, Footer))
