"""Why XLA counts other operations than a jaxpr has."""

import itertools
from typing import Any

from ipyjaxbench import units
from ipyjaxbench.adapters.jax.graphs.tally import Tally, TooLargeError

_NEAR = 0.05  # relative difference that is not worth a word
#: XLA computes these in several operations for each of ours.
_REWRITTEN = (
    *("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp", "argmax", "argmin"),
    *("select_and_scatter_add", "select_and_scatter", "select_and_gather_add"),
)
_FEW = 100  # operations that are not, such as those of a loop's own counter


def difference(closed: Any, theirs: float, devices: int) -> str:
    """The reasons for which XLA's figure is another one, in words; empty where it is not.

    Args:
        closed: the jaxpr.
        theirs: what XLA counted in the compiled program, for one of the devices.
        devices: among which the work is shared.

    Returns:
        A sentence with the figure that each reason accounts for.
    """
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
    names = [words.partition(" ")[0] for words in counted.uncounted if "not counted" in words]
    apart = f", and not {', '.join(names)}" if names else ""
    if names and left > 0:
        return f"{ours}{apart}"
    computed = {each.name for each in counted.primitives()}
    rewritten = [name for name in _REWRITTEN if name in computed]
    if rewritten and left > 0:
        why = f"since it computes {', '.join(rewritten)} in another way"
        return f"{ours}{apart}: XLA counts {units.flops(left)} more, {why}"
    how = "adds" if left > 0 else "leaves out"
    return f"{ours}{apart}: XLA {how} {units.flops(abs(left))}, for reasons that are not known"


def _reasons(closed: Any, counted: Tally, theirs: float) -> list[str]:
    """The fewest known reasons that account for the difference together; none where none do."""
    try:
        tally = Tally(closed, finds_use=True)
    except TooLargeError:
        return []
    known = [
        (counted.of_complex, "since one of complex numbers is several of real ones"),
        (tally.certain - tally.written, "in further turns of loops, of which it counts one"),
        (tally.unused, "whose result is not used, and that it removed"),
        (tally.constant, "that depends on no argument, and that it computed beforehand"),
    ]
    for size in range(1, len(known) + 1):
        for some in itertools.combinations([each for each in known if each[0]], size):
            if _are_near(counted.flops - sum(operations for operations, _ in some), theirs):
                return [f"{units.flops(operations)} {words}" for operations, words in some]
    return []


def _are_near(one: float, other: float) -> bool:
    return abs(one - other) <= _NEAR * max(one, other)
