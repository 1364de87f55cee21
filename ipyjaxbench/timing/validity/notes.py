"""Notes on what the timed code did or did not do."""

from collections.abc import Sequence
from textwrap import shorten

from ipyjaxbench import units
from ipyjaxbench.errors import caller
from ipyjaxbench.option import spell
from ipyjaxbench.reports import Note
from ipyjaxbench.timing.notes import misleading
from ipyjaxbench.timing.options import TimeOptions

_MIN_REPORTED_SHARE = 0.1  # of a call: a part that is smaller would only distract


def recompiles(
    compiled: int,
    calls: int,
    per_call: float | None,
    built: str = "",
    reused: Sequence[str] | None = (),
) -> Note:
    """The code compiles every time: there is no steady state.

    ``built`` is what it builds anew; ``reused`` are names of functions that it builds only once,
    None where neither is known.
    """
    cost = f", {units.duration(per_call)} of each call" if per_call else ""
    cause = f", because {built}(...) is called inside the timed code" if built else ""
    once = f"create {built}(...)" if built else "create the compiled function"
    advice = f"{once} once, outside, and time its call"
    if reused is None:
        advice = "keep all shapes the same in each call, or create compiled functions once, outside"
    elif reused:
        names = ", ".join(reused)
        advice = (
            f"give {names} the same shapes and static values in each call (pad what grows; pass"
            " numbers as arrays)"
        )
    return misleading(
        "recompiles",
        f"{compiled} of {units.count(calls, 'sample')} compiled something{cost}:"
        f" there is no steady state{cause}.",
        advice,
    )


def compiles_too(per_call: float, latency: float) -> Note:
    """The code compiles every time, and does more besides."""
    spent, of = units.duration(per_call), units.duration(latency)
    return Note(
        "compiles-too",
        f"Every call traces or compiles something, which takes {spent} of its {of}.",
    )


def half_product(name: str) -> Note:
    """A matrix times its own transpose: the result is symmetric, and NumPy knows it."""
    return Note(
        "half-product",
        f"NumPy uses the symmetry of {name} @ {name}.T: it computes half and mirrors it.",
        f"for the full product, use {name}.T.copy(), made beforehand",
    )


def warm_cache(nbytes: int, cache: int, chip: str, longer: float) -> Note:
    """A call reads what the call before left in the cache."""
    return Note(
        "warm-cache",
        f"Inputs and results ({units.size(nbytes)}) stay in the {chip}'s L2 cache"
        f" ({units.size(cache)}) between calls. Where other work runs in between, a call takes up"
        f" to {units.duration(longer)} longer.",
        _cold_too(),
    )


def warm_cpu_cache(nbytes: int, cache: int) -> Note:
    """A call may read what the call before left in the cache that all cores share."""
    return Note(
        "warm-cpu-cache",
        f"Inputs and results ({units.size(nbytes)}) fit into the CPU's last-level cache"
        f" ({units.size(cache)}) and can stay there between calls. Where other work runs in"
        " between, a call takes longer.",
        _cold_too(),
    )


def _cold_too() -> str:
    """Return what also times calls that find nothing in caches; comparisons have no such option."""
    if caller() in ("%%fwcompare", "compare"):
        return ""
    return f"{spell(TimeOptions, cold=True)} also times calls with cold caches"


def lazy(kind: str, advice: str) -> Note:
    """A value that does its work when it is used."""
    return misleading(
        "lazy",
        f"The value is a {kind}, which does its work later: only creating it was timed.",
        advice,
    )


def left_running(what: str, advice: str) -> Note:
    """The code starts something that still runs after the call."""
    return misleading(
        "left-running",
        f"The code starts a {what} and does not wait for it: only the start was timed.",
        advice,
    )


def built_each_call(built: str, seconds: float | None, latency: float, advice: str) -> Note:
    """A transformed function is made anew in every call."""
    cost = ""  # where it was measured as longer than the whole, it varies too much to be told
    if seconds is not None and _MIN_REPORTED_SHARE * latency <= seconds < latency:
        spent, of = units.duration(seconds), units.duration(latency)
        cost = f", which takes {spent} of its {of}"
    return Note("built-each-call", f"Every call runs {built}(...){cost}.", advice)


def converted_once(name: str, before: str, after: str) -> Note:
    """The first call gave arrays another dtype, or moved them; later calls found them so."""
    number = spell(TimeOptions, number=1)
    return misleading(
        "converted-once",
        f"The first call changed {name} from {before} to {after}: later calls found it so, and the"
        " time is theirs.",
        f"create {name} in the setup, with {number}",
    )


def constant_folded(function: str, nbytes: int, written: float, compiled: float) -> Note:
    """The compiler computed what depends on no argument, once."""
    return misleading(
        "constant-folded",
        f"{function} closes over {units.size(nbytes)} of arrays. What depends on them alone was"
        f" computed at compile time (constant folding): {units.flops(written)} as written,"
        f" {units.flops(compiled)} in each call.",
        "pass them as arguments",
    )


def work_removed(function: str, written: float, compiled: float) -> Note:
    """The compiler left out what no result needs."""
    return misleading(
        "work-removed",
        f"The compiler removed work from {function} because its result is unused:"
        f" {units.flops(written)} as written, {units.flops(compiled)} in each call.",
        "return what you want to time",
    )


def impossible_speed(written: float, speed: float, peak: float, *, memory: bool = False) -> Note:
    """More arithmetic per second, or bytes, than the device can do: some of it was not done."""
    if memory:
        work, rate, best = (
            f"moves {units.size(int(written))}",
            units.bandwidth(speed),
            units.bandwidth(peak),
        )
    else:
        work = f"does {units.flops(written)}"
        rate, best = (units.flops(n, "/s") for n in (speed, peak))
    return misleading(
        "impossible-speed",
        f"As written, each call {work}: {rate}, more than the measured peak of {best}. Some of"
        " the work was skipped.",
    )


def value_cached(what: str, first: float, later: float, emptying: str = "") -> Note:
    """Calls looked up what the first one had computed; the code that empties the cache first."""
    return misleading(
        "value-cached",
        f"{what} caches its value: the first call took {units.duration(first)}, later ones only"
        f" looked it up ({units.duration(later)}).",
        emptying or "clear its cache in the setup, or time what it calls",
    )


def part_cached(what: str, emptying: str = "") -> Note:
    """Calls looked up a part of what the first one had computed, and did the rest again."""
    return Note(
        "part-cached",
        f"{what} caches its value: the time is of calls that look it up.",
        f"for calls that compute it, too: {emptying}" if emptying else "",
    )


def copy_kept(name: str, first: float) -> Note:
    """An array keeps its copy on the host, so that one call alone made it."""
    return misleading(
        "copy-kept",
        f"{name} caches its copy on the host: converting a new array takes"
        f" {units.duration(first)}, but only the first call did that.",
        f"create {name} in the setup, so that each call converts a new array",
    )


def used_up(name: str, *, before: bool = False, job: bool = False) -> Note:
    """An iterator had nothing left to give to later calls, or a job had ended."""
    when, calls = ("An earlier run", "the") if before else ("The first call", "later")
    did, found = ("waited for", "done") if job else ("exhausted", "empty")
    return misleading(
        "used-up",
        f"{when} {did} {name}: {calls} calls found it {found}.",
        f"create {name} in the setup, or inside the timed code",
    )


def emptied(name: str, gave: str, later: str) -> Note:
    """Calls took from something until nothing was left, so that later ones did other work.

    Args:
        name: of what they took from; empty where that is not known.
        gave: the type of what the first call gave.
        later: what later calls gave, in words.
    """
    what = name or "something"
    return misleading(
        "emptied",
        f"The first call gave a value ({gave}), later calls {later}: they used up {what}.",
        f"create {name or 'what they take from'} in the setup, or inside the timed code",
    )


def no_work(loop: float | None) -> Note:
    """The code costs what an empty loop costs; None where it is only a name or a constant."""
    seen = (
        f"is about as fast as an empty loop ({units.duration(loop, 2)})"
        if loop
        else "is only a name or a constant"
    )
    return misleading("no-work", f"The code {seen}: there is nothing to time.")


def not_called(name: str, *, call: str = "", made: bool = False) -> Note:
    """A function was named, or made, and not called."""
    timed = "creating it" if made else "looking up its name"
    return misleading(
        "not-called",
        f"{name} is a function, but it is not called: only {timed} was timed.",
        call or f"{name}(...)",
    )


def copies(what: str, nbytes: int | None) -> Note:
    """Data crosses between host and device, or frameworks, in every call."""
    amount = f" ({units.size(nbytes)})" if nbytes is not None else ""
    return Note("copies", f"In every call, {what}{amount}.")


def output_hidden(written: int) -> Note:
    """Later calls printed; their output was not shown."""
    return Note(
        "output-hidden",
        f"What later calls printed ({units.count(written, 'write')}) is hidden;"
        " the time does not include displaying it.",
    )


def warned(texts: Sequence[str]) -> Note:
    """Python showed warnings in later calls: each is shown once by default, so not in the first."""
    is_of_values = any(text.startswith("RuntimeWarning") for text in texts)  # as NumPy's of inf
    first = shorten(texts[0].rstrip(".: "), 140, placeholder=" …")
    more = f" and {units.count(len(texts) - 1, 'other warning')}" if len(texts) > 1 else ""
    note = misleading if is_of_values else Note
    return note("warned", f"Later calls warned: {first}{more}.")
