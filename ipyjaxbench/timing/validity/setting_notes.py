"""Settings and surroundings."""

from collections.abc import Sequence

from ipyjaxbench.reports.note import CHANGES_MEANING, Note


def not_usable(framework: str, reason: str) -> Note:
    """A framework is imported and its adapter cannot work with it."""
    return Note(
        "not-usable",
        f"{framework} is imported but cannot be used ({reason}): its work was not waited for.",
        mark=CHANGES_MEANING,
    )


def unknown_part(framework: str, reason: str) -> Note:
    """A framework's version hides something that the report would have told."""
    return Note("unknown-part", f"{framework}: {reason}")


def narrowed(names: Sequence[str], wide: str, narrow: str) -> Note:
    """JAX made the numbers narrower than they were given."""
    are, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return Note(
        "narrowed",
        f"{', '.join(names)} {are} {wide}, and JAX takes {them} as {narrow}, half the bytes:"
        " x64 is off.",
        f'jax.config.update("jax_enable_x64", True) at the very start, or give {narrow} to all',
        CHANGES_MEANING,
    )


def reduced_precision(device: str, setting: str, error: float, advice: str) -> Note:
    """Products of float32 are rounded to fewer bits, as a tiny product has shown."""
    return Note(
        "reduced-precision",
        f"Matrix products of float32 on {device} are rounded to fewer bits"
        f" (relative error {error:.0e}, not 1e-07): {setting}.",
        advice,
        CHANGES_MEANING,
    )


def setting_on(setting: str, effect: str, advice: str, *, mark: str = CHANGES_MEANING) -> Note:
    """A setting that is for finding errors, or that changes what the framework does."""
    return Note("setting-on", f"{setting} is on: {effect}.", advice, mark)


def watched(who: str) -> Note:
    """A tracer, debugger or profiler looks at what is timed."""
    return Note(
        "watched",
        f"{who} watches this code: the time that it takes itself is in the figure.",
        "end it to time the code alone",
        CHANGES_MEANING,
    )


def processes(number: int, this: int) -> Note:
    """Several processes work together, and only one of them was timed."""
    return Note(
        "processes",
        f"{number} processes work together: the figure is of process {this}, others may differ.",
    )


def recorded(by: str, advice: str) -> Note:
    """Every call was recorded for a backward pass."""
    return Note(
        "recorded",
        f"{by} recorded every call, for a backward pass that is not in the figure.",
        advice,
    )
