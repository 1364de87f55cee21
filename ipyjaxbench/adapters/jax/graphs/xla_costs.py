"""Why XLA counts other operations than a jaxpr has."""

import itertools
from typing import Any

from ipyjaxbench import units
from ipyjaxbench.adapters.jax.graphs.tally import Tally
from ipyjaxbench.adapters.jax.graphs.usage import TooLargeError, usage_of

_NEAR = 0.05  # relative difference that is not worth a word
#: XLA computes these in several operations for each of ours.
_REWRITTEN = (
    *("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp", "argmax", "argmin"),
    *("select_and_scatter_add", "select_and_scatter", "select_and_gather_add"),
)
_FEW = 100  # operations that are not, such as those of a loop's own counter


def difference(closed: Any, theirs: float, devices: int) -> str:
    """Return why XLA's figure for one of the devices is another one; empty where it is not."""
    counted = Tally(closed)
    expected = counted.flops
    if devices > 1:
        if _are_near(expected, devices * theirs):
            return f"That is on each of {devices} devices"
        return f"That is on each of {devices} devices; we count {units.flops(expected)} in all"
    if _are_near(expected, theirs):
        return ""
    left = theirs - expected
    if abs(left) < _FEW:
        return ""
    ours = f"We count {units.flops(expected)}"
    if reasons := _reasons(closed, counted, theirs):
        return f"{ours}: {'; '.join(reasons)}"
    names = [each.name for each in counted.uncounted if each.reason == "operation"]
    apart = f", and not {', '.join(names)}" if names else ""
    if names and left > 0:
        return f"{ours}{apart}"
    computed = {name for name, _ in counted.steps}
    rewritten = [name for name in _REWRITTEN if name in computed]
    if rewritten and left > 0:
        why = f"since it computes {', '.join(rewritten)} in another way"
        return f"{ours}{apart}: XLA counts {units.flops(left)} more, {why}"
    how = "adds" if left > 0 else "leaves out"
    return f"{ours}{apart}: XLA {how} {units.flops(abs(left))}, for reasons that are not known"


def _reasons(closed: Any, counted: Tally, theirs: float) -> list[str]:
    """Return the fewest known reasons that make up the difference together, if any do."""
    try:
        usage = usage_of(closed)
    except TooLargeError:
        return []
    known = [
        (counted.of_complex, "since one of complex numbers is several of real ones"),
        (counted.certain - usage.written, "in further turns of loops, of which it counts one"),
        (usage.unused, "whose result is not used, and that it removed"),
        (usage.constant, "that depends on no argument, and that it computed beforehand"),
    ]
    for size in range(1, len(known) + 1):
        for some in itertools.combinations([each for each in known if each[0]], size):
            if _are_near(counted.flops - sum(operations for operations, _ in some), theirs):
                return [f"{units.flops(operations)} {words}" for operations, words in some]
    return []


def _are_near(one: float, other: float) -> bool:
    return abs(one - other) <= _NEAR * max(one, other)
