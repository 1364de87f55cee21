"""Notes on the settings and surroundings that the timed code ran under."""

from collections.abc import Sequence

from ipyjaxbench.reports import CHANGES_MEANING, Note
from ipyjaxbench.timing.notes import misleading


def not_usable(framework: str, reason: str) -> Note:
    """A framework is imported and its adapter cannot work with it."""
    return misleading(
        "not-usable",
        f"{framework} is imported but cannot be used ({reason}), so its work was not waited for.",
    )


def unknown_part(framework: str, reason: str) -> Note:
    """A framework's version hides something that the report would have told."""
    return Note("unknown-part", f"{framework}: {reason}")


def narrowed(names: Sequence[str], wide: str, narrow: str) -> Note:
    """JAX made the numbers narrower than they were given."""
    are, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return misleading(
        "narrowed",
        f"{', '.join(names)} {are} {wide}; JAX converts {them} to {narrow} because x64 is off.",
        f'jax.config.update("jax_enable_x64", True) at startup, or use {narrow} everywhere',
    )


#: Relative errors of a product of float32 from which on it is one in 8 bits, and in 11.
_FEW_BITS, _MORE_BITS = 1e-3, 1e-4


def reduced_precision(device: str, setting: str, error: float, advice: str) -> Note:
    """Products of float32 are rounded to fewer bits, as the user chose and a tiny one has shown."""
    return misleading("reduced-precision", _rounded(device, setting, error), advice)


def default_precision(device: str, setting: str, error: float, advice: str) -> Note:
    """Products of float32 are rounded to fewer bits by default; a session tells that once."""
    return misleading("default-precision", _rounded(device, setting, error), advice)


def _rounded(device: str, setting: str, error: float) -> str:
    """Return a text that begins with the format; `product_format` reads it."""
    eleven = "TF32" if device.startswith(("cuda", "gpu")) else "float16"
    name = "bfloat16" if error >= _FEW_BITS else eleven if error >= _MORE_BITS else "bf16x3"
    return (
        f"{name}: float32 matrix products on {device} are computed in it"
        f" (relative error {error:.0e}, not 1e-07): {setting}."
    )


def setting_on(setting: str, effect: str, advice: str, *, mark: str = CHANGES_MEANING) -> Note:
    """A setting that is for finding errors, or that changes what the framework does."""
    return Note("setting-on", f"{setting} is on: {effect}.", advice, mark)


def watched(who: str) -> Note:
    """A tracer, debugger or profiler looks at what is timed."""
    return misleading(
        "watched",
        f"{who} is active: the time includes its overhead.",
        "stop it to time the code alone",
    )


def stale_program(function: str, changes: str, advice: str) -> Note:
    """A compiled function runs what was traced before names got other values."""
    return misleading(
        "stale-program",
        f"{function} runs a stale program: {changes}.",
        advice,
    )


def processes(number: int, this: int) -> Note:
    """Several processes work together, and only one of them was timed."""
    return Note(
        "processes",
        f"This is the time of process {this} of {number}; the others may differ.",
    )


def recorded(by: str, advice: str) -> Note:
    """Every call was recorded for a backward pass."""
    return Note(
        "recorded",
        f"{by} records every call for a backward pass, which the time does not include.",
        advice,
    )


def shapes_only() -> Note:
    """The arrays have shapes and no numbers: nothing was computed."""
    return misleading(
        "shapes-only",
        "The result has a shape and no numbers, as on the meta device: nothing was computed.",
        'create the model and its inputs on a device that computes, as device="cpu"',
    )
