"""What to know of what compilers of chips expect."""

from collections.abc import Sequence

from ipyjaxbench import units
from ipyjaxbench.reports.note import CHANGES_MEANING, Note


def loops_once() -> Note:
    """A compiler does not multiply by the turns of a loop."""
    return Note(
        "loops-once",
        "A loop counts once for a compiler: estimate, work, bytes and what is exchanged hold one"
        " turn of each.",
        mark=CHANGES_MEANING,
    )


def no_estimate(names: Sequence[str]) -> Note:
    """Parts of a program are unknown to the compiler."""
    return Note(
        "no-estimate",
        f"The compiler cannot tell how long these take, and the estimate leaves them out:"
        f" {', '.join(names)}.",
        mark=CHANGES_MEANING,
    )


def nothing_cut(chip: str, devices: int) -> Note:
    """Several chips do the same."""
    return Note(
        "nothing-cut",
        f"Nothing is cut: each of the {devices} devices of {chip} holds and computes all of it.",
        "--shard x:0 cuts axis 0 of x into a part for each",
        CHANGES_MEANING,
    )


def stays_whole(names: Sequence[str], devices: int) -> Note:
    """Arrays of an argument that is cut cannot be cut."""
    return Note(
        "stays-whole",
        f"{', '.join(names)}: whole on each device, for want of an axis whose length"
        f" {devices} divides.",
    )


def padded(wasted: int, held: int, chip: str) -> Note:
    """Memory is there to fill tiles."""
    return Note(
        "padded",
        f"{units.percent(wasted / held)} of the inputs and outputs on {chip}, {units.size(wasted)},"
        " hold no data: they fill its tiles of 8 × 128 numbers.",
        "make the last axis a multiple of 128, and the one before of 8 (16 of 16 bits, 32 of 8)",
    )


def half_chips(chips: Sequence[str]) -> Note:
    """JAX takes a core for a device."""
    return Note(
        "half-chips",
        f"A chip of {', '.join(chips)} is two devices for JAX: figures are those of one.",
    )
