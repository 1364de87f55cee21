"""What XLA counts of a compiled program, and why that is not what its jaxpr has."""

import itertools
from typing import Any

from ipyjaxbench.adapters.jax.graphs.tally import Tally, TooLargeError, usage_of
from ipyjaxbench.graphs import CountDifference

_RELATIVE_TOLERANCE = 0.05
#: XLA computes these in several operations for each of ours.
_REWRITTEN = (
    *("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp", "argmax", "argmin"),
    *("select_and_scatter_add", "select_and_scatter", "select_and_gather_add"),
)
_NEGLIGIBLE_FLOPS = 100  # such as those of a loop's own counter


def counted_flops(cost: dict[str, float]) -> float | None:
    """Add up what XLA counts apart, such as exp and tanh; None where it has no figure."""
    counts = [counted_cost(cost, name) for name in ("flops", "transcendentals")]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def memory_needed(memory: Any) -> int:
    """Return the bytes that a compiled program needs at once."""
    parts = (memory.temp_size_in_bytes, memory.argument_size_in_bytes, memory.output_size_in_bytes)
    return int(sum(parts) - memory.alias_size_in_bytes)


def counted_cost(cost: Any, name: str) -> float | None:
    """Return what XLA counts; None where it says -1, since it cannot."""
    count = cost.get(name)
    return None if count is None or count < 0 else float(count)


def difference(
    closed: Any, theirs: float, devices: int, libraries: tuple[str, ...] = ()
) -> CountDifference | None:
    """Return why XLA's figure for one of the devices is another one; None where it is not.

    ``libraries`` are the calls of libraries in what it compiled.
    """
    counted = Tally(closed)
    expected = counted.flops
    if devices > 1:
        is_same = _are_near(expected, devices * theirs)
        return CountDifference(None if is_same else expected, devices)
    left = theirs - expected
    if _are_near(expected, theirs) or abs(left) < _NEGLIGIBLE_FLOPS:
        return None
    computed = {name for name, _ in counted.steps}
    return CountDifference(
        expected,
        left=left,
        reasons=_reasons(closed, counted, theirs),
        uncounted=tuple(u.name for u in counted.uncounted if u.reason == "operation"),
        rewritten=tuple(name for name in _REWRITTEN if name in computed),
        libraries=libraries if left < 0 else (),
    )


def _reasons(closed: Any, counted: Tally, theirs: float) -> tuple[Any, ...]:
    """Return the fewest known reasons that make up the difference together, if any do."""
    try:
        usage = usage_of(closed)
    except TooLargeError:
        return ()
    known = (
        ("complex", counted.of_complex),
        ("turns", counted.certain - usage.written),
        ("unused", usage.unused),
        ("constant", usage.constant),
    )
    for size in range(1, len(known) + 1):
        for some in itertools.combinations([each for each in known if each[1]], size):
            if _are_near(counted.flops - sum(flops for _, flops in some), theirs):
                return some
    return ()


def _are_near(one: float, other: float) -> bool:
    return abs(one - other) <= _RELATIVE_TOLERANCE * max(one, other)
