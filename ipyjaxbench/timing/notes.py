"""What happened while calls were made."""

import math
from collections.abc import Sequence
from functools import partial

from ipyjaxbench import units
from ipyjaxbench.reports import CHANGES_MEANING, Note

misleading = partial(Note, mark=CHANGES_MEANING)

_WORTH_WAITING_SECONDS = 60.0  # seconds
_MAX_NAMED = 4  # of all that was put back


def earlier_work(seconds: float) -> Note:
    """Work from before was still running when the measurement began."""
    waited = units.duration(seconds)
    return Note("earlier-work", f"Waited {waited} for work that earlier cells had left running.")


def unsynchronised(seconds: float, ratio: float) -> Note:
    """A clock that does not wait would have read something else."""
    read, off = units.duration(seconds), units.times(ratio)
    return misleading(
        "unsynchronised", f"Without waiting this would have read {read}: {off} too fast."
    )


def elsewhere(seconds: float) -> Note:
    """The value came back, and work that it does not show went on."""
    return Note(
        "elsewhere",
        f"The code leaves {units.duration(seconds)} of work running that its value does not show;"
        " it was waited for.",
    )


def state_advanced(names: Sequence[str], calls: int, *, restore: bool = True) -> Note:
    """Something that the code changes could not be put back, or was not to be."""
    why = (
        "what the code changes in place or gives away cannot be put back"
        if restore
        else "--no-restore leaves what the code changes"
    )
    return misleading(
        "state-advanced",
        f"{', '.join(map(repr, names))} advanced by {units.count(calls, 'call')}, not one: {why}.",
    )


def put_back(names: Sequence[str], nbytes: int) -> Note:
    """What later calls changed in place is as the first call left it."""
    copies = f" (copies of {units.size(nbytes)} were kept meanwhile)" if nbytes else ""
    return Note("put-back", f"Put back as the first call left it: {_some(names)}{copies}.")


def not_all_kept(names: Sequence[str]) -> Note:
    """Too many objects to keep a copy of each."""
    return Note(
        "not-all-kept",
        f"Too large to keep as a whole: {_some(names)}. What later calls changed deep inside is"
        " neither put back nor told.",
    )


def started_anew(names: Sequence[str], times: tuple[float, float] | None) -> Note:
    """Each call found what the first one found; None where it is not known what that changes."""
    text = f"{_some(names)}: put back before each call, untimed, as the first call found it."
    if times is not None:
        found, left = map(units.duration, times)
        text += f" A call takes {found} from there, {left} from what it left."
    return Note("started-anew", text)


def started_elsewhere(names: Sequence[str], found: float, left: float) -> Note:
    """Later calls found what the first one left, and that decides their time."""
    return misleading(
        "started-elsewhere",
        f"The first call changed {_some(names)}: from what it found the code takes"
        f" {units.duration(found)}, from what it left, as measured, {units.duration(left)}.",
        f"make {names[0]} in the set-up:  %%fwtime {names[0]} = ...",
    )


def _some(names: Sequence[str]) -> str:
    """The first few names."""
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


def fresh_copies(names: Sequence[str]) -> Note:
    """Donated arguments were replaced before each call."""
    return Note(
        "fresh-copies",
        f"{', '.join(names)}: donated by the call, so each later call got a fresh copy, untimed.",
    )


def runs_once(error: str) -> Note:
    """The second call raised: the first one is all there is."""
    return misleading(
        "runs-once",
        f"This code runs once: the second call raised {error}. The figure is the first call.",
    )


def stopped_by_error(call: int, error: str) -> Note:
    """A later call raised; what came before is reported."""
    return misleading(
        "stopped-by-error", f"Call {call:,} raised {error}. The figure is of the calls before it."
    )


def interrupted() -> Note:
    """The user ended the measurement."""
    return Note("interrupted", "Interrupted: the figure is of the calls made until then.")


def over_budget(seconds: float, *, again: bool = False) -> Note:
    """A call takes longer than the budget; ``again``: one warm call was made all the same."""
    return Note(
        "over-budget",
        "The figure is one call: it takes longer than the budget."
        if again
        else "One call only: a second one would have passed the budget.",
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
    """The run knows its median less well than it should; time helps by its root."""
    need = spent * (known / target) ** 2
    width = f"± {units.percent(known)}" if known <= 1 else "over ± 100 %"
    words = f"This run knows its median to {width} after {units.duration(spent, 2)}"
    if need > _WORTH_WAITING_SECONDS:
        rest = "more time alone will hardly narrow it"
        return Note("needs-longer", f"{words}; {rest}.", "run it again when the machine is quieter")
    aim = f"± {units.percent(target)} needs about {units.duration(need, 2)}"
    return Note("needs-longer", f"{words}; {aim}.", f"-b {math.ceil(need)}")


def compiled_late(compiled: int) -> Note:
    """A few samples contained a compilation and were left out."""
    return Note(
        "compiled-late",
        f"{units.count(compiled, 'sample')} in which something was compiled"
        f" {'was' if compiled == 1 else 'were'} left out.",
    )


def calls_differ(fast: float, slow: float, share: float) -> Note:
    """Not all calls do the same work, so the fastest is no figure of it."""
    some, more = units.duration(fast), units.duration(slow)
    return Note(
        "calls-differ",
        f"Calls do different work: {units.percent(share)} of them take {more}, the others {some}."
        " The figure is a mean of both.",
    )


def below_clock(sample: float, resolution: float, number: int | None) -> Note:
    """A sample is too short for the clock."""
    return Note(
        "below-clock",
        f"A sample lasts {units.duration(sample)}, and the clock shows"
        f" {units.duration(resolution)} at best: too little to tell apart.",
        f"-n {number}" if number else "more work in each call",
    )


def slows_down(first: float, last: float) -> Note:
    """Every call takes longer than the one before, for a reason that is not seen."""
    return Note(
        "slows-down",
        f"The time grew with every call, from {units.duration(first)} at first to"
        f" {units.duration(last)} at the end: something that the code keeps may be growing.",
    )


def grows(name: str, sizes: tuple[int, int], times: tuple[float, float]) -> Note:
    """A container grows with every call, and so does the time."""
    before, after = sizes
    first, last = map(units.duration, times)
    return misleading(
        "grows",
        f"{name} grew from {before:,} to {units.count(after, 'item')} and the time with it"
        f" ({first} at first, {last} at the end).",
        f"make {name} anew in the set-up",
    )


def output_hidden(written: int) -> Note:
    """Later calls printed; their output was not shown."""
    return Note(
        "output-hidden",
        f"What later calls printed ({units.count(written, 'write')}) is not shown,"
        " and the time of showing it is not in the figure.",
    )


def names_stay_inside(names: Sequence[str]) -> Note:
    """Python before 3.13 gives no way to set a function's local variables."""
    return Note(
        "names-stay-inside",
        f"{', '.join(names)}: bound inside a function, where Python before 3.13 gives no way"
        " to keep a name.",
    )


def looked_at(names: Sequence[str]) -> Note:
    """The first call was spared a trace."""
    return Note(
        "looked-at",
        f"%jaxpr has traced {', '.join(names)} before: the first call of a new session takes that"
        " much longer.",
        "--fresh makes one more call, compiled anew",
    )
