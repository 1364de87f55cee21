"""What happened while calls were made."""

import math
from collections.abc import Mapping, Sequence
from functools import partial

from ipyjaxbench import units
from ipyjaxbench.errors import caller
from ipyjaxbench.option import spell
from ipyjaxbench.reports import CHANGES_MEANING, Note
from ipyjaxbench.timing.options import TimeOptions

misleading = partial(Note, mark=CHANGES_MEANING)

_WORTH_WAITING_SECONDS = 60.0  # seconds
_MAX_NAMED = 4  # of all that was put back
NEW_FILES, REMOVED_FILES = "new files such as ", "removed files such as "  # begin names of several


def earlier_work(seconds: float) -> Note:
    """Work from before was still running when the measurement began."""
    waited = units.duration(seconds)
    return Note("earlier-work", f"Waited {waited} for work still running from earlier cells.")


def earlier_failed(error: str) -> Note:
    """Work from before had failed, and nobody had waited for it."""
    return Note("earlier-failed", f"A computation of an earlier cell failed: {error}.")


def unsynchronised(seconds: float, ratio: float) -> Note:
    """A clock that does not wait would have read something else."""
    read, off = units.duration(seconds), units.times(ratio)
    return misleading(
        "unsynchronised",
        f"Without waiting for the result, a timer would show {read}: {off} too low.",
    )


def elsewhere(seconds: float, whole: float = math.inf) -> Note:
    """The value came back, and work that it does not show went on; ``whole`` is all of a call."""
    work = "work that its value does not depend on"
    text = f"The code starts {units.duration(seconds)} of {work}; the time includes it."
    if seconds >= whole:  # calls that were looked at one by one were slower than in samples
        text = f"Nearly all of the time is of {work}."
    return Note("elsewhere", text)


def state_advanced(names: Sequence[str], calls: int, *, restore: bool = True) -> Note:
    """Something that the code changes could not be put back, or was not to be."""
    why = (
        "changes in place and donated buffers cannot be undone"
        if restore
        else f"{spell(TimeOptions, restore=False)} keeps what the calls changed"
    )
    return misleading(
        "state-advanced",
        f"{', '.join(map(_quoted, names))} advanced by {units.count(calls, 'call')} instead of one:"
        f" {why}.",
    )


def _quoted(name: str) -> str:
    first = next((n for n in (NEW_FILES, REMOVED_FILES) if name.startswith(n)), "")
    return f"{first}{name.removeprefix(first)!r}"


def put_back(names: Sequence[str], nbytes: int) -> Note:
    """What later calls changed in place is as the first call left it."""
    copies = f" (the copies took {units.size(nbytes)})" if nbytes else ""
    return Note("put-back", f"Restored to the state after the first call: {_some(names)}{copies}.")


def changed_meanwhile(names: Mapping[str, str]) -> Note:
    """Others reach what changed; ``names`` has by each name who does."""
    others = ", ".join(dict.fromkeys(names.values()))
    return Note(
        "changed-meanwhile",
        f"Not restored, or what {others} wrote would be lost: {_some([*names])}.",
    )


def jobs_ended(cancelled: int, finished: int, running: int) -> Note:
    """Calls left jobs to threads, processes or an event loop."""
    parts = (cancelled, "cancelled"), (finished, "finished"), (running, "still running")
    told = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    total = units.count(cancelled + finished + running, "job")
    return Note("jobs-ended", f"Later calls started {total}: {told}.")


def not_all_kept(names: Sequence[str], *, restore: bool = True) -> Note:
    """Too many objects to keep a copy of each, or to look at each."""
    done, lost = ("copy", "neither undone nor") if restore else ("look at", "not")
    return Note(
        "not-all-kept",
        f"Too large to {done} completely: {_some(names)}. Changes that later calls made deep inside"
        f" are {lost} reported.",
    )


def not_all_followed() -> Note:
    """The code leads to too many functions and objects to look for what each one changes."""
    return Note(
        "not-all-followed",
        "The code can use very many functions and objects, and only the nearest were looked at."
        " What the others do, such as setting global names, may be neither undone nor reported.",
    )


def not_kept_before(names: Sequence[str]) -> Note:
    """Changed by the first call, and too large for a second copy to start other calls from."""
    return Note(
        "not-kept-before",
        f"Too large to reset before each call: {_some(names)}. Each call starts from what the one"
        " before it left.",
    )


def started_anew(names: Sequence[str], times: tuple[float, float] | None) -> Note:
    """Each call found what the first one found; None where it is not known what that changes."""
    text = f"{_some(names)}: reset before each call (not timed) to the state before the first one."
    if times is not None:
        found, left = map(units.duration, times)
        text += f" A call takes {found} from there, and {left} without the reset."
    return Note("started-anew", text)


def started_elsewhere(names: Sequence[str], found: float, left: float) -> Note:
    """Later calls found what the first one left, and that decides their time."""
    return misleading(
        "started-elsewhere",
        f"The first call changed {_some(names)}. The code takes {units.duration(found)} before that"
        f" change and {units.duration(left)} after it; the latter was measured.",
        f"create {names[0]} in the setup{_setup(names[0])}",
    )


def _setup(name: str) -> str:
    """Return how it is typed."""
    typed = {
        "%fwtime": f"%%fwtime {name} = ...",
        "%%fwcompare": f"setup LABEL: {name} = ...",
        "measure": f'measure_code("f({name})", setup="{name} = ...")',
        "measure_code": f'setup="{name} = ..."',
        "compare": "setup={LABEL: make}",
    }.get(caller())
    return f":  {typed}" if typed else ""


def _some(names: Sequence[str]) -> str:
    """The first few names."""
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


def fresh_copies(names: Sequence[str]) -> Note:
    """Donated arguments were replaced before each call."""
    return Note(
        "fresh-copies",
        f"{', '.join(names)}: donated by the call. Each later call got a fresh copy (not timed).",
    )


def runs_once(ended: str, advice: str = "") -> Note:
    """The second call has no end but ``ended``: the first one is all there is."""
    return misleading(
        "runs-once",
        f"The code runs only once: the second call {ended}. The time is of the first call.",
        advice,
    )


def side_streams(share: float) -> Note:
    """Operations ran where events on the default stream do not see them."""
    return Note(
        "side-streams",
        f"For {units.percent(share)} of the device's busy time only streams beside the default one"
        " work: CUDA events on the default stream do not count that. The time here does.",
    )


def replays_graph() -> Note:
    """Kernels are launched all at once, as they were recorded."""
    return Note(
        "replays-graph",
        "The call replays a CUDA graph. A call that does not, as with new shapes, launches each"
        " operation by itself and takes longer.",
    )


def recompiled_apart(programs: int, fast: float, slow: float) -> Note:
    """The compiler does not make an equally fast program each time."""
    return misleading(
        "recompiled-apart",
        f"Compiled {programs} times, the code then takes {units.duration(fast)} to"
        f" {units.duration(slow)} per call, in each of five rounds in turn: the programs differ."
        " The time is that of one of them.",
    )


def stopped_by_error(call: int, ended: str, advice: str = "", *, timed: bool = True) -> Note:
    """A later call has no end but ``ended``; those before are reported, if they were ``timed``."""
    left = "The time is of the calls before it." if timed else "No call before it was a sample."
    return misleading("stopped-by-error", f"Call {call:,} {ended}. {left}", advice)


def interrupted() -> Note:
    """The user ended the measurement."""
    return Note("interrupted", "Interrupted: the time is of the calls made until then.")


def over_budget(seconds: float, *, again: bool = False) -> Note:
    """A call takes longer than the budget; ``again``: one warm call was made all the same."""
    return Note(
        "over-budget",
        "One warm call only: it took longer than the time budget."
        if again
        else "One call only: a second one would exceed the time budget.",
        f"{spell(TimeOptions, budget=max(1, round(4 * seconds)))} for several calls",
    )


def over_memory(room: float) -> Note:
    """No second result fitted into memory."""
    times = units.number(room, 2)
    return Note(
        "over-memory",
        f"One call only: repeating needs memory for 2 results, and {times} would fit.",
        "use smaller arrays, or free memory",
    )


def needs_longer(known: float, target: float, spent: float) -> Note:
    """The run knows its median less well than it should; time helps by its root."""
    need = spent * (known / target) ** 2
    width = f"±{units.percent(known)}" if known <= 1 else "wider than ±100 %"
    advice = f"for ±{100 * target:g} %, use {spell(TimeOptions, budget=math.ceil(need))}"
    if need > _WORTH_WAITING_SECONDS:
        advice = "rerun on a quieter machine (more time alone would hardly help)"
    text = f"After {units.duration(spent, 2)} the 95 % CI of the median is {width}."
    return Note("needs-longer", text, advice)


def compiled_late(compiled: int) -> Note:
    """A few samples contained a compilation and were left out."""
    return Note(
        "compiled-late",
        f"{units.count(compiled, 'sample')} with a compilation"
        f" {'was' if compiled == 1 else 'were'} left out.",
    )


def calls_differ(fast: float, slow: float, share: float) -> Note:
    """Not all calls do the same work, so the fastest is no figure of it."""
    some, more = units.duration(fast), units.duration(slow)
    return Note(
        "calls-differ",
        f"The calls do different work: {units.percent(share)} of them take {more}, the others"
        f" {some}. The time is the mean of both.",
    )


def below_clock(sample: float, resolution: float, number: int | None) -> Note:
    """A sample is too short for the clock."""
    return Note(
        "below-clock",
        f"A sample lasts {units.duration(sample)}: too short for the clock's resolution of"
        f" {units.duration(resolution)}.",
        spell(TimeOptions, number=number) if number else "do more work per call",
    )


def names_stay_inside(names: Sequence[str]) -> Note:
    """Python before 3.13 gives no way to set a function's local variables."""
    return Note(
        "names-stay-inside",
        f"Not assigned: {', '.join(names)}. Before Python 3.13 the local variables of a running"
        " function cannot be set.",
    )


def looked_at(names: Sequence[str]) -> Note:
    """The first call was spared a trace."""
    is_compared = caller() in ("%%fwcompare", "compare")  # which time no cold call
    return Note(
        "looked-at",
        f"%jaxpr has already traced {', '.join(names)}, so this first call was spared that.",
        "" if is_compared else f"{spell(TimeOptions, fresh=True)} times a cold call",
    )
