"""Notes on what the timed code did or did not do, and on the settings that it ran under."""

from collections.abc import Sequence

from ipyjaxbench import units
from ipyjaxbench.reports import CHANGES_MEANING, Note
from ipyjaxbench.timing.notes import misleading

_MIN_REPORTED_SHARE = 0.1  # of a call: a part that is smaller would only distract


def recompiles(compiled: int, calls: int, per_call: float | None, built: str = "") -> Note:
    """The code compiles every time: there is no steady state; ``built`` is what it builds anew."""
    cost = f", {units.duration(per_call)} of each call" if per_call else ""
    cause = f", since {built}(...) is built in the statement" if built else ""
    once = f"{built}(...)" if built else "the compiled function"
    return misleading(
        "recompiles",
        f"Something was compiled in {compiled} of {units.count(calls, 'sample')}{cost}:"
        f" a steady state is never reached{cause}.",
        f"build {once} once, above, and time its call",
    )


def compiles_too(per_call: float, latency: float) -> Note:
    """The code compiles every time, and does more besides."""
    spent, of = units.duration(per_call), units.duration(latency)
    return Note(
        "compiles-too",
        f"Something is traced or compiled in every call, which takes {spent} of the {of}.",
    )


def half_product(name: str) -> Note:
    """A matrix times its own transpose: the result is symmetric, and NumPy knows it."""
    return Note(
        "half-product",
        f"NumPy computes half of {name} times its own transpose, and mirrors that.",
        f"multiply by {name}.T.copy(), made above, for the time of a whole product",
    )


def lazy(kind: str, advice: str) -> Note:
    """A value that does its work when it is used."""
    return misleading(
        "lazy", f"The value is a {kind} that does its work later: only making it was timed.", advice
    )


def left_running(what: str, advice: str) -> Note:
    """The code starts something that still runs after the call."""
    return misleading(
        "left-running",
        f"The code starts a {what} that still runs after the call: only the start was timed.",
        advice,
    )


def built_each_call(built: str, seconds: float | None, latency: float, advice: str) -> Note:
    """A transformed function is made anew in every call."""
    cost = ""
    if seconds is not None and seconds >= _MIN_REPORTED_SHARE * latency:
        spent, of = units.duration(seconds), units.duration(latency)
        cost = f", and making it takes {spent} of the {of}"
    return Note("built-each-call", f"{built}(...) is built in every call{cost}.", advice)


def constant_folded(function: str, nbytes: int, written: float, compiled: float) -> Note:
    """The compiler computed what depends on no argument, once."""
    return misleading(
        "constant-folded",
        f"{function} closes over {units.size(nbytes)} of arrays, and what it computes of them"
        f" alone was computed once, by the compiler: {units.flops(written)} as written,"
        f" {units.flops(compiled)} in each call.",
        "pass them as arguments",
    )


def work_removed(function: str, written: float, compiled: float) -> Note:
    """The compiler left out what no result needs."""
    return misleading(
        "work-removed",
        f"The compiler removed work from {function} whose result is not used:"
        f" {units.flops(written)} as written, {units.flops(compiled)} in each call.",
        "return what is to be timed",
    )


def impossible_speed(written: float, speed: float, peak: float, *, memory: bool = False) -> Note:
    """More arithmetic per second, or bytes, than the device can do: some of it was not done."""
    if memory:
        work, rate, best = (
            f"{units.size(int(written))} that are read and written",
            units.bandwidth(speed),
            units.bandwidth(peak),
        )
    else:
        work, rate, best = units.flops(written), *(units.flops(n, "/s") for n in (speed, peak))
    return misleading(
        "impossible-speed",
        f"As written this is {work} in each call, {rate}, where this device does {best} at best"
        " (measured): a way was found to do less.",
    )


def value_cached(what: str, first: float, later: float, emptying: str = "") -> Note:
    """Calls looked up what the first one had computed; the code that empties the cache first."""
    return misleading(
        "value-cached",
        f"{what} computed its value once and kept it: the first call took"
        f" {units.duration(first)}, later ones, which only"
        f" looked it up, {units.duration(later)}.",
        emptying or "empty its cache in the set-up, or time what it calls",
    )


def copy_kept(name: str, first: float) -> Note:
    """An array keeps its copy on the host, so that one call alone made it."""
    return misleading(
        "copy-kept",
        f"{name} keeps its copy on the host: converting a new array takes {units.duration(first)},"
        " and all calls but the first only looked up what that made.",
        f"make {name} in the set-up, so that each call converts a new array",
    )


def used_up(name: str, *, before: bool) -> Note:
    """An iterator had nothing left to give to later calls."""
    when, calls = ("an earlier run", "the") if before else ("the first call", "later")
    return misleading(
        "used-up",
        f"{when.capitalize()} used up {name}: {calls} calls found nothing in it.",
        f"make {name} in the set-up, or inside of the code",
    )


def no_work(loop: float | None) -> Note:
    """The code costs what an empty loop costs; None where it is only a name or a constant."""
    seen = (
        f"takes no longer than the loop around it ({units.duration(loop)})"
        if loop
        else "only names a value or a constant"
    )
    return misleading("no-work", f"This code {seen}: there is nothing to time.")


def not_called(name: str, *, call: str = "", made: bool = False) -> Note:
    """A function was named, or made, and not called."""
    timed = "making it" if made else "looking up its name"
    return misleading(
        "not-called",
        f"{name} is a function and was not called: only {timed} was timed.",
        call or f"{name}(...)",
    )


def copies(what: str, nbytes: int | None) -> Note:
    """Data crosses between host and device, or frameworks, in every call."""
    amount = f" ({units.size(nbytes)})" if nbytes is not None else ""
    return Note("copies", f"In every call {what}{amount}.")


# Settings and surroundings


def not_usable(framework: str, reason: str) -> Note:
    """A framework is imported and its adapter cannot work with it."""
    return misleading(
        "not-usable",
        f"{framework} is imported but cannot be used ({reason}): its work was not waited for.",
    )


def unknown_part(framework: str, reason: str) -> Note:
    """A framework's version hides something that the report would have told."""
    return Note("unknown-part", f"{framework}: {reason}")


def narrowed(names: Sequence[str], wide: str, narrow: str) -> Note:
    """JAX made the numbers narrower than they were given."""
    are, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return misleading(
        "narrowed",
        f"{', '.join(names)} {are} {wide}, and JAX takes {them} as {narrow}, half the bytes:"
        " x64 is off.",
        f'jax.config.update("jax_enable_x64", True) at the very start, or give {narrow} to all',
    )


def reduced_precision(device: str, setting: str, error: float, advice: str) -> Note:
    """Products of float32 are rounded to fewer bits, as a tiny product has shown."""
    return misleading(
        "reduced-precision",
        f"Matrix products of float32 on {device} are rounded to fewer bits"
        f" (relative error {error:.0e}, not 1e-07): {setting}.",
        advice,
    )


def setting_on(setting: str, effect: str, advice: str, *, mark: str = CHANGES_MEANING) -> Note:
    """A setting that is for finding errors, or that changes what the framework does."""
    return Note("setting-on", f"{setting} is on: {effect}.", advice, mark)


def watched(who: str) -> Note:
    """A tracer, debugger or profiler looks at what is timed."""
    return misleading(
        "watched",
        f"{who} watches this code: the time that it takes itself is in the figure.",
        "end it to time the code alone",
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
