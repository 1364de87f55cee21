"""How calls of compiled functions are shown: a line for each, and what they come to."""

import itertools
from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.reports import Block, Calls, Facts, Headline, Report, report
from ipyjaxbench.retracing.traces import TracedCall, Traces

_MAX_FIRST_LINES, _MAX_LAST_LINES = 28, 8  # of calls
_MAX_PROGRAM_NAMES = 5
_MAX_FIXES = 4
_MAX_PRINTED_LINES = 4
_PHASES = ("trace", "lower", "compile", "cache load")  # a saved notebook has them by the alphabet
_GRAVEST = ("RAISED", "EAGER-FALLBACK", "BYPASSED", "?")
#: Of calls that were not made, the gravest first: the figure and the verdict.
_PREDICTIONS = {
    "WOULD-TRACE": ("would be traced", "TRACES"),
    "?": ("not known", "?"),
    "WOULD-HIT": ("would find its trace", "CACHED"),
}


@report.register
def _(t: Traces) -> Report:
    """Return the blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(t)]
    if t.calls:
        blocks.append(Calls(("line", "call", "state", "took", "why"), tuple(_lines(t))))
    blocks.append(Facts(tuple(_facts(t))))
    return Report(tuple(blocks))


def _headline(t: Traces) -> Headline:
    title = units.heading(t.code)
    if not t.calls:
        others = units.count(t.seen, "other call")
        detail = f"in {others}" if t.seen else "the code calls nothing"
        return Headline(title, "no call of a compiled function", detail, "NOTHING", "")
    if _is_prediction(t):
        return Headline(title, *_predicted(t))
    counts = {
        "trace": t.traces,
        "first compilation": t.first_compilations,
        "recompilation": t.recompilations,
    }
    parts = [units.count(count, name) for name, count in counts.items() if count]
    detail = f"in {units.count(t.count, 'call')}"
    if t.compiling:
        detail += f" · {units.duration(t.compiling)} of {units.duration(t.seconds)} is compilation"
    verdict = "TRACED" if parts else _verdict(t)
    return Headline(title, ", ".join(parts) or "no trace", detail, verdict, "")


def _is_prediction(t: Traces) -> bool:
    """Whether no call was made: one that was took its time."""
    return all(call.state in _PREDICTIONS and not call.seconds for call in t.calls)


def _predicted(t: Traces) -> tuple[str, str, str, str]:
    """Return the figure, the detail and the verdict of calls that were not made."""
    states = [call.state for call in t.calls]
    state = next(each for each in _PREDICTIONS if each in states)
    figure, verdict = _PREDICTIONS[state]
    if len({*states}) > 1:
        figure = f"{states.count(state)} of {len(states)} calls {figure}"
    return figure, "nothing was run", verdict, ""


def _verdict(t: Traces) -> str:
    """Return the gravest state of calls in which nothing was traced."""
    states = [call.state for call in t.calls]
    return next((each for each in _GRAVEST if each in states), "CACHED")


def _lines(t: Traces) -> Iterator[tuple[str, ...]]:
    """Yield all of them, or as many from both ends as fit on a screen."""
    blocks = [list(_call(call)) for call in t.calls]
    first, last = _fitting(blocks, _MAX_FIRST_LINES), _fitting(blocks[::-1], _MAX_LAST_LINES)
    lines = sum(map(len, blocks))
    if lines <= _MAX_FIRST_LINES + _MAX_LAST_LINES or first + last >= len(blocks):
        first, last = len(blocks), 0
    for block in blocks[:first]:
        yield from block
    hidden = t.calls[first : len(blocks) - last]
    if hidden:
        count = sum(call.times for call in hidden)
        traced = sum(call.times for call in hidden if call.state != "CACHED")
        more = units.count(count, "more call")
        yield "", "", "...", "", f"{more}, {traced:,} of them not cached"
    for block in blocks[len(blocks) - last :]:
        yield from block


def _fitting(blocks: Sequence[Sequence[object]], room: int) -> int:
    """Return how many of the first blocks have no more lines than there is room for."""
    used = itertools.accumulate(map(len, blocks))
    return max(sum(lines <= room for lines in used), 1)


def _call(call: TracedCall) -> Iterator[tuple[str, ...]]:
    number = f"#{call.number:,}"
    if call.times > 1:
        in_a_row = call.last == call.number + call.times - 1
        number += f"-{call.last:,}" if in_a_row else f", {call.times:,} calls"
    state = f"{call.state} {call.breaks}" if call.breaks else call.state
    why = "; ".join(change.words() for change in call.why)
    if call.says:
        why = f"{why or '?'} ({call.framework} says: {call.says})"
    if call.times > 1:
        each = units.duration(call.seconds / call.times, 2)
        why = f"{why}{' · ' if why else ''}{each} each"
    phases = sorted(call.phases.items(), key=lambda phase: _PHASES.index(phase[0]))
    split = " + ".join(f"{name} {units.duration(s, 2)}" for name, s in phases)
    took = units.duration(call.seconds) if call.seconds else ""
    yield str(call.line or "?"), f"{call.name} {number}", state, took, why
    if split:
        yield "", "", "", "", split
    for depth, name in call.nested:
        yield "", f"{'  ' * depth}└ {name}", "TRACED", "", ""
    printed = call.printed.rstrip().splitlines()
    for line in printed[:_MAX_PRINTED_LINES]:
        yield "", "", "prints", "", line
    hidden = len(printed) - _MAX_PRINTED_LINES
    if hidden > 0:
        yield "", "", "prints", "", f"... {hidden:,} more lines"


def _facts(t: Traces) -> Iterator[tuple[str, str]]:
    if t.error:
        yield "raised", t.error
    if any(call.printed for call in t.calls):
        yield "prints", "what a function prints while it is traced: a call that is cached does not"
    fixes = dict.fromkeys(fix for call in t.calls for fix in call.fixes)
    for fix in [*fixes][:_MAX_FIXES]:
        yield "write", fix
    if t.internal:
        seconds = sum(program.seconds or 0.0 for program in t.internal)
        names = dict.fromkeys(program.name for program in t.internal)
        shown = [*names] if t.show_internal else [*names][:_MAX_PROGRAM_NAMES]
        more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
        count = units.count(len(t.internal), "program")
        spent = f", {units.duration(seconds, 2)}" if seconds else ""
        yield "beside", f"{count} outside of these calls{spent}: {', '.join(shown)}{more}"
    if t.frameworks:
        yield "with", units.versions(t.frameworks)
