"""The closed list of Notes: each is one thing to know before believing a number.

A Note says what was seen, how large its effect is, and what to write instead.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ipyjaxbench import units

CHANGES_MEANING = "!"
GOOD_TO_KNOW = "·"
_WORTH_WAITING = 60.0  # seconds
_SHARE_TOLD = 0.1  # of a call: a part that is smaller would only distract


@dataclass(frozen=True)
class Note:
    """One sentence that a person can act on.

    Attributes:
        code: its name in the closed list, such as "recompiles".
        text: what was seen and how large it is.
        advice: what to write instead; empty where there is nothing to write.
        mark: "!" where it changes the meaning of the number, "·" where it is good to know.
    """

    code: str
    text: str
    advice: str = ""
    mark: str = GOOD_TO_KNOW


def earlier_work(seconds: float) -> Note:
    """Work from before was still running when the measurement began."""
    waited = units.duration(seconds)
    return Note("earlier-work", f"Waited {waited} for work that earlier cells had left running.")


def unsynchronised(seconds: float, ratio: float) -> Note:
    """A clock that does not wait would have read something else."""
    read, off = units.duration(seconds), units.times(ratio)
    return Note(
        "unsynchronised",
        f"Without waiting this would have read {read}: {off} too fast.",
        mark=CHANGES_MEANING,
    )


def elsewhere(seconds: float) -> Note:
    """The value came back, and work that it does not show went on."""
    return Note(
        "elsewhere",
        f"The code leaves {units.duration(seconds)} of work running that its value does not show;"
        " it was waited for.",
    )


def state_advanced(names: Sequence[str], calls: int) -> Note:
    """Something that the code changes could not be put back."""
    return Note(
        "state-advanced",
        f"{', '.join(names)} advanced by {units.count(calls, 'call')}, not one:"
        " what the code changes in place or gives away cannot be put back.",
        mark=CHANGES_MEANING,
    )


def fresh_copies(names: Sequence[str]) -> Note:
    """Donated arguments were replaced before each call."""
    return Note(
        "fresh-copies",
        f"{', '.join(names)}: donated by the call, so each later call got a fresh copy, untimed.",
    )


def runs_once(error: str) -> Note:
    """The second call raised: the first one is all there is."""
    return Note(
        "runs-once",
        f"This code runs once: the second call raised {error}. The figure is the first call.",
        mark=CHANGES_MEANING,
    )


def stopped_by_error(call: int, error: str) -> Note:
    """A later call raised; what came before is reported."""
    return Note(
        "stopped-by-error",
        f"Call {call:,} raised {error}. The figure is of the calls before it.",
        mark=CHANGES_MEANING,
    )


def interrupted() -> Note:
    """The user ended the measurement."""
    return Note("interrupted", "Interrupted: the figure is of the calls made until then.")


def over_budget(seconds: float) -> Note:
    """No second call fitted into the budget."""
    return Note(
        "over-budget",
        "One call only: a second one would have passed the budget.",
        f"-b {max(1, round(4 * seconds))} to measure several",
    )


def over_memory(room: float) -> Note:
    """No second result fitted into memory."""
    times = units.number(room, 2)
    return Note(
        "over-memory",
        f"One call only: the free memory holds {times} results like it, and repeating needs 2.",
        "smaller arrays, or end what else holds memory",
    )


def needs_longer(known: float, target: float, spent: float) -> Note:
    """The interval is wider than it should be; it narrows with the root of time."""
    need = spent * (known / target) ** 2
    width = f"± {units.percent(known)}" if known <= 1 else "over ± 100 %"
    words = f"The interval is {width} after {units.duration(spent, 2)}"
    if need > _WORTH_WAITING:
        rest = "more time alone will hardly narrow it"
        return Note("needs-longer", f"{words}; {rest}.", "run it again when the machine is quieter")
    aim = f"± {units.percent(target)} needs about {units.duration(need, 2)}"
    return Note("needs-longer", f"{words}; {aim}.", f"-b {math.ceil(need)}")


def recompiles(compiled: int, calls: int, per_call: float | None, built: str = "") -> Note:
    """The code compiles every time: there is no steady state; ``built`` is what it builds anew."""
    cost = f", {units.duration(per_call)} of each call" if per_call else ""
    cause = f", since {built}(...) is built in the statement" if built else ""
    once = f"{built}(...)" if built else "the compiled function"
    return Note(
        "recompiles",
        f"Something was compiled in {compiled} of {units.count(calls, 'sample')}{cost}:"
        f" a steady state is never reached{cause}.",
        f"build {once} once, above, and time its call",
        CHANGES_MEANING,
    )


def compiles_too(per_call: float, latency: float) -> Note:
    """The code compiles every time, and does more besides."""
    spent, of = units.duration(per_call), units.duration(latency)
    return Note(
        "compiles-too",
        f"Something is traced or compiled in every call, which takes {spent} of the {of}.",
    )


def lazy(kind: str, advice: str) -> Note:
    """A value that does its work when it is used."""
    return Note(
        "lazy",
        f"The value is a {kind} that does its work later: only making it was timed.",
        advice,
        CHANGES_MEANING,
    )


def built_each_call(built: str, seconds: float | None, latency: float, advice: str) -> Note:
    """A transformed function is made anew in every call."""
    cost = ""
    if seconds is not None and seconds >= _SHARE_TOLD * latency:
        spent, of = units.duration(seconds), units.duration(latency)
        cost = f", and making it takes {spent} of the {of}"
    return Note("built-each-call", f"{built}(...) is built in every call{cost}.", advice)


def constant_folded(function: str, nbytes: int, written: float, compiled: float) -> Note:
    """The compiler computed what depends on no argument, once."""
    return Note(
        "constant-folded",
        f"{function} closes over {units.size(nbytes)} of arrays, and what it computes of them"
        f" alone was computed once, by the compiler: {units.flops(written)} as written,"
        f" {units.flops(compiled)} in each call.",
        "pass them as arguments",
        CHANGES_MEANING,
    )


def work_removed(function: str, written: float, compiled: float) -> Note:
    """The compiler left out what no result needs."""
    return Note(
        "work-removed",
        f"The compiler removed work from {function} whose result is not used:"
        f" {units.flops(written)} as written, {units.flops(compiled)} in each call.",
        "return what is to be timed",
        CHANGES_MEANING,
    )


def impossible_speed(written: float, speed: float, peak: float) -> Note:
    """More arithmetic per second than the device can do: some of it was not done."""
    return Note(
        "impossible-speed",
        f"As written this is {units.flops(written)} in each call, {units.flops(speed, '/s')}, where"
        f" this device does {units.flops(peak, '/s')} at best (measured):"
        " the compiler found a way to do less.",
        mark=CHANGES_MEANING,
    )


def value_cached(what: str, first: float | None, later: float) -> Note:
    """Calls looked up what the first one had computed, or what was kept before it (None)."""
    if first is None:
        text = f"{what} kept its value from before: calls only looked it up."
    else:
        text = (
            f"{what} computed its value once and kept it: the first call took"
            f" {units.duration(first)}, later ones, which only"
            f" looked it up, {units.duration(later)}."
        )
    return Note(
        "value-cached",
        text,
        "empty its cache in the set-up, or time what it calls",
        CHANGES_MEANING,
    )


def used_up(name: str, *, before: bool) -> Note:
    """An iterator had nothing left to give to later calls."""
    when, calls = ("an earlier run", "the") if before else ("the first call", "later")
    return Note(
        "used-up",
        f"{when.capitalize()} used up {name}: {calls} calls found nothing in it.",
        f"make {name} in the set-up, or inside of the code",
        CHANGES_MEANING,
    )


def grows(name: str, sizes: tuple[int, int], times: tuple[float, float]) -> Note:
    """A container grows with every call, and so does the time."""
    before, after = sizes
    first, last = map(units.duration, times)
    return Note(
        "grows",
        f"{name} grew from {before:,} to {units.count(after, 'item')} and the time with it"
        f" ({first} at first, {last} at the end).",
        f"make {name} anew in the set-up",
        CHANGES_MEANING,
    )


def slows_down(first: float, last: float) -> Note:
    """Every call takes longer than the one before, for a reason that is not seen."""
    return Note(
        "slows-down",
        f"The time grew with every call, from {units.duration(first)} at first to"
        f" {units.duration(last)} at the end: something that the code keeps may be growing.",
    )


def below_clock(sample: float, resolution: float, number: int | None) -> Note:
    """A sample is too short for the clock."""
    return Note(
        "below-clock",
        f"A sample lasts {units.duration(sample)}, and the clock shows"
        f" {units.duration(resolution)} at best: too little to tell apart.",
        f"-n {number}" if number else "more work in each call",
    )


def no_work(loop: float | None) -> Note:
    """The code costs what an empty loop costs; None where it is only a name or a constant."""
    seen = (
        f"takes no longer than the loop around it ({units.duration(loop)})"
        if loop
        else ("only names a value")
    )
    return Note("no-work", f"This code {seen}: there is nothing to time.", mark=CHANGES_MEANING)


def compiled_late(compiled: int) -> Note:
    """A few samples contained a compilation and were left out."""
    return Note(
        "compiled-late",
        f"{units.count(compiled, 'sample')} in which something was compiled"
        f" {'was' if compiled == 1 else 'were'} left out.",
    )


def not_called(name: str, *, call: str = "", made: bool = False) -> Note:
    """A function was named, or made, and not called."""
    timed = "making it" if made else "looking up its name"
    return Note(
        "not-called",
        f"{name} is a function and was not called: only {timed} was timed.",
        call or f"{name}(...)",
        CHANGES_MEANING,
    )


def output_hidden(written: int) -> Note:
    """Later calls printed; their output was not shown."""
    return Note(
        "output-hidden",
        f"What later calls printed ({units.count(written, 'write')}) is not shown,"
        " and the time of showing it is not in the figure.",
    )


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


def copies(what: str, nbytes: int | None) -> Note:
    """Data crosses between host and device, or frameworks, in every call."""
    amount = f" ({units.size(nbytes)})" if nbytes is not None else ""
    return Note("copies", f"In every call {what}{amount}.")


def names_stay_inside(names: Sequence[str]) -> Note:
    """Python before 3.13 gives no way to set a function's local variables."""
    return Note(
        "names-stay-inside",
        f"{', '.join(names)}: bound inside a function, where Python before 3.13 gives no way"
        " to keep a name.",
    )


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


CODES = (
    "earlier-work",
    "unsynchronised",
    "elsewhere",
    "state-advanced",
    "fresh-copies",
    "runs-once",
    "stopped-by-error",
    "interrupted",
    "over-budget",
    "over-memory",
    "needs-longer",
    "recompiles",
    "compiled-late",
    "not-called",
    "output-hidden",
    "not-usable",
    "unknown-part",
    "copies",
    "names-stay-inside",
    "narrowed",
    "reduced-precision",
    "setting-on",
    "watched",
    "processes",
    "recorded",
    "compiles-too",
    "lazy",
    "built-each-call",
    "constant-folded",
    "work-removed",
    "impossible-speed",
    "value-cached",
    "used-up",
    "grows",
    "slows-down",
    "below-clock",
    "no-work",
)
