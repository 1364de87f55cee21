"""Why XLA counts other operations than a jaxpr has."""

from typing import Any

from ipyjaxbench import units
from ipyjaxbench.frameworks.jax.jaxpr import Tally, TooLargeError
from ipyjaxbench.frameworks.jax.program import Counted

_NEAR = 0.05  # relative difference that is not worth a word


def difference(closed: Any, theirs: float, devices: int) -> str:
    """The reasons for which XLA's figure is another one, in words; empty where it is not.

    Args:
        closed: the jaxpr.
        theirs: what XLA counted in the compiled program, for one of the devices.
        devices: among which the work is shared.

    Returns:
        A sentence with the figure that each reason accounts for.
    """
    counted = Counted(closed.jaxpr)
    expected = counted.flops
    if devices > 1:
        if _are_near(expected, devices * theirs):
            return f"That is on each of {devices} devices"
        return f"That is on each of {devices} devices; we count {units.flops(expected)} in all"
    if _are_near(expected, theirs):
        return ""
    ours = f"We count {units.flops(expected)}: "
    if theirs > expected:
        more = [words.partition(" ")[0] for words in counted.uncounted if "not counted" in words]
        reason = f"not {', '.join(more)}" if more else "one for each function that XLA expands"
        return f"{ours}{reason}"
    try:
        tally = Tally().program(closed)
    except TooLargeError:
        return f"{ours}it counts one turn of each loop, and not what it could remove"
    reasons = []
    for operations, words in (
        (tally.flops - tally.written, "in further turns of loops, of which it counts one"),
        (tally.unused, "whose result is not used, and that it removed"),
        (tally.constant, "that depends on no argument, and that it computed beforehand"),
    ):
        if operations and not _are_near(expected, theirs):
            reasons.append(f"{units.flops(operations)} {words}")
            expected -= operations
    if not _are_near(expected, theirs):
        reasons.append(f"{units.flops(abs(expected - theirs))} that it rewrote")
    return f"{ours}{'; '.join(reasons)}"


def _are_near(one: float, other: float) -> bool:
    return abs(one - other) <= _NEAR * max(one, other)
