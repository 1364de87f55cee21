"""The report of calls of compiled functions: a strip of their time, reasons, a row for each."""

import itertools
import math
from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.frameworks import DISK_MISS
from ipyjaxbench.reports import (
    Block,
    Calls,
    Details,
    Facts,
    Footer,
    Headline,
    Report,
    report,
)
from ipyjaxbench.retracing.cache_key import describe_changes
from ipyjaxbench.retracing.reasons import Reason, group_reasons
from ipyjaxbench.retracing.strip import PHASES, draw_strip
from ipyjaxbench.retracing.traces import COSTLY, TracedCall, Traces

_MAX_FIRST_LINES, _MAX_LAST_LINES = 16, 4  # of calls
_MAX_IN_HEADLINE = 28  # letters of a reason
_MAX_PROGRAM_NAMES = 5
_MAX_FIXES = 4
_MAX_REASONS = 5
_MAX_PRINTED_LINES = 4
_MAX_MISSES = 3  # of the disk cache, in a call
#: Where nothing was traced: the verdict, the gravest first, and the figure.
_UNTRACED = {
    "RAISED": "raised an exception",
    "EAGER-FALLBACK": "could not be compiled",
    "BYPASSED": "compilation is turned off",
    "?": "may have been compiled",
    "CACHED": "only cache hits",
}
#: Of calls that were not run, the gravest first: the figure and the verdict.
_PREDICTIONS = {
    "WOULD-TRACE": ("would be traced", "TRACES"),
    "WOULD-COMPILE": ("would be compiled", "COMPILES"),
    "?": ("cannot be predicted", "?"),
    "WOULD-HIT": ("would hit the cache", "CACHED"),
}


@report.register
def _(t: Traces) -> Report:
    """Return the blocks in the order in which they are read."""
    reasons = group_reasons(t.calls)
    strip = draw_strip(t.calls)
    blocks: list[Block] = [_headline(t, reasons)]
    if strip is not None:
        blocks.append(strip)
    if _has_table(reasons):
        blocks.append(_reasons(reasons))
    calls = _calls(t, phases=strip is None)
    is_folded = strip is not None and len(t.calls) > 1
    blocks.append(Facts((*_stale(t, () if is_folded else calls.rows), *_facts(t))))
    if t.calls:
        blocks.append(Details(units.count(t.count, "call"), (calls,)) if is_folded else calls)
    blocks.append(Footer((units.versions(t.frameworks),)))
    return Report(tuple(blocks))


def _headline(t: Traces, reasons: Sequence[Reason]) -> Headline:
    title = units.heading(t.code)
    if not t.calls:
        detail = units.count(t.seen, "other call") if t.seen else "the code makes no calls"
        if t.error:
            return Headline(title, "raised an exception", detail, "RAISED", "")
        verdict = "TRACED" if t.also_traced else ""
        return Headline(title, "no compiled function was called", detail, verdict, "")
    if _is_prediction(t):
        return Headline(title, *_predicted(t))
    compiled = t.count - t.bypassed  # of which a share is one; a row tells of the others
    stale = sum(call.times for call in t.calls if call.stale)
    if stale:
        detail = f"{stale:,} of {units.count(compiled, 'call')}: the code has changed since"
        return Headline(title, "stale program", detail, "STALE", "")
    if not reasons:
        verdict = _verdict(t)
        return Headline(title, _UNTRACED[verdict], _in_calls(t, verdict), verdict, "")
    if all(call.phases for call in t.calls if call.state in COSTLY):
        seconds = math.fsum(call.seconds for call in t.calls if call.state != "BYPASSED")
        share = units.percent(t.compiling / seconds)
        phases = {phase for call in t.calls for phase in call.phases}
        verbs = ["tracing"] * ("trace" in phases) + ["compiling"] * (phases != {"trace"})
        figure = f"{share} of {units.duration(seconds)} was {' and '.join(verbs)}"
        is_compiled = all(call.state == "COMPILED" for call in t.calls if call.state in COSTLY)
        verdict = "COMPILED" if is_compiled else "TRACED"
        return Headline(title, figure, _why(reasons), verdict, "")
    figure = units.count(t.compilations, "call") + " compiled"
    return Headline(title, figure, f"of {compiled:,} · {_why(reasons)}", "TRACED", "")


def _in_calls(t: Traces, verdict: str) -> str:
    """Return in how many of the calls that was so."""
    calls = units.count(t.count, "call")
    count = sum(call.times for call in t.calls if call.state == verdict)
    return f"in {calls}" if verdict == "CACHED" or count == t.count else f"in {count:,} of {calls}"


def _why(reasons: Sequence[Reason]) -> str:
    """Return how many reasons there are; a short one that is alone is named."""
    count = units.count(len(reasons), "reason")
    return f"for {count}" if _has_table(reasons) else f"reason: {reasons[0].words}"


def _has_table(reasons: Sequence[Reason]) -> bool:
    return len(reasons) > 1 or any(len(reason.words) > _MAX_IN_HEADLINE for reason in reasons)


def _reasons(reasons: Sequence[Reason]) -> Calls:
    rows = [
        (f"{reason.calls:,}", units.duration(reason.seconds), reason.functions, reason.words)
        for reason in reasons[:_MAX_REASONS]
    ]
    rest = reasons[_MAX_REASONS:]
    if rest:
        calls, seconds = sum(r.calls for r in rest), sum(r.seconds for r in rest)
        more = units.count(len(rest), "other reason")
        rows.append((f"{calls:,}", units.duration(seconds), "", more))
    head = ("calls", "time", "function", "reason")
    if len({functions for _, _, functions, _ in rows} - {""}) == 1:
        return Calls(head[:2] + head[3:], tuple((n, took, why) for n, took, _, why in rows))
    return Calls(head, tuple(rows))


def _is_prediction(t: Traces) -> bool:
    """Whether no call was run: those that were took some time."""
    return all(call.state in _PREDICTIONS and not call.seconds for call in t.calls)


def _predicted(t: Traces) -> tuple[str, str, str, str]:
    """Return the figure, the detail and the verdict of calls that were not run."""
    states = [call.state for call in t.calls]
    state = next(each for each in _PREDICTIONS if each in states)
    figure, verdict = _PREDICTIONS[state]
    if len({*states}) > 1:
        figure = f"{states.count(state)} of {len(states)} calls {figure}"
    doubts = [call.says for call in t.calls if call.state == "WOULD-HIT" and call.says]
    if doubts and verdict == "CACHED":
        verdict = "?" if all(each.startswith("may be") for each in doubts) else "STALE"
    return figure, "nothing was run", verdict, ""


def _verdict(t: Traces) -> str:
    """Return the gravest state of calls in which nothing was traced."""
    states = [call.state for call in t.calls]
    return next((each for each in _UNTRACED if each in states), "CACHED")


def _calls(t: Traces, *, phases: bool) -> Calls:
    """Return a line for each call; without times where none was run."""
    head, rows = ("line", "call", "state", "time", "why"), tuple(_lines(t, phases=phases))
    if _is_prediction(t):
        return Calls(head[:3] + head[4:], tuple((*row[:3], *row[4:]) for row in rows))
    return Calls(head, rows)


def _lines(t: Traces, *, phases: bool) -> Iterator[tuple[str, ...]]:
    """Yield all of them, or as many from both ends as fit on a screen."""
    blocks = [list(_call(call, t.error, phases=phases)) for call in t.calls]
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


def _call(call: TracedCall, error: str, *, phases: bool) -> Iterator[tuple[str, ...]]:
    """Yield the line of a call; those of its phases, nested functions and prints below it."""
    number = f"#{call.number:,}"
    if call.times > 1:
        in_a_row = call.last == call.number + call.times - 1
        number += f"-{call.last:,}" if in_a_row else f", {call.times:,} calls"
    why = _explained(call, error)
    if call.breaks:
        why = f"{why} · {units.count(call.breaks, 'graph break')}"
    if call.times > 1 and call.seconds:
        each = units.duration(call.seconds / call.times, 2)
        why = f"{why}{' · ' if why else ''}{each} each"
    by_phase = sorted(call.phases.items(), key=lambda phase: PHASES.index(phase[0]))
    split = " + ".join(f"{name} {units.duration(s, 2)}" for name, s in by_phase)
    took = units.duration(call.seconds) if call.seconds else ""
    state = "STALE" if call.stale else call.state
    line = f"{call.line} of cell {call.cell}" if call.cell else str(call.line or "?")
    yield line, f"{call.name} {number}", state, took, why
    yield from _beside(call)
    if phases and split:
        yield "", "", "", "", split
    for miss in call.disk_misses[:_MAX_MISSES]:
        of = "" if miss.program == call.name else f"{miss.program}: "
        yield "", "", DISK_MISS, "", of + miss.words()
    for depth, name in call.nested:
        yield "", f"{'  ' * depth}└ {name}", "TRACED", "", ""
    printed = call.printed.rstrip().splitlines()
    for line in printed[:_MAX_PRINTED_LINES]:
        yield "", "", "printed", "", line
    hidden = len(printed) - _MAX_PRINTED_LINES
    if hidden > 0:
        yield "", "", "printed", "", f"... {hidden:,} more lines"


def _beside(call: TracedCall) -> Iterator[tuple[str, ...]]:
    """Yield the line of what was traced beside a stale program, and is no part of it."""
    if call.stale and call.state in COSTLY:
        yield "", "and beside it", call.state, "", describe_changes(call.causes)


def _explained(call: TracedCall, error: str) -> str:
    """Return why a call was no cache hit; an error that the report shows elsewhere is left out."""
    why = describe_changes(call.stale or call.why)
    if not call.says:
        return why
    # Errors and predictions are no words of the framework's.
    is_its_own = call.state in (*COSTLY, "?") and call.seconds > 0
    says = f"{call.framework}: {call.says}" if is_its_own else call.says
    if error and says.startswith(error):
        says = says.removeprefix(error).removeprefix(": ") or "see above"
    return f"{why} ({says})" if why else says


def _fixes(calls: Sequence[TracedCall]) -> Iterator[str]:
    """Yield the first of what to write, and all that is for a stale program: its values are wrong.

    One that is left out makes a call slow, and is shown once the others are mended.
    """
    fixes = dict.fromkeys(fix for call in calls for fix in call.fixes)
    of_stale = {fix for call in calls if call.stale for fix in call.fixes}
    for number, fix in enumerate(fixes):
        if number < _MAX_FIXES or fix in of_stale:
            yield fix


def _stale(t: Traces, shown: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield what is stale and is not among the lines of calls that are shown."""
    texts = [*dict.fromkeys(describe_changes(call.stale) for call in t.calls if call.stale)]
    hidden = [each for each in texts if not any(each in row[-1] for row in shown)]
    for text in hidden[:_MAX_FIXES]:
        yield "stale", text
    if len(hidden) > _MAX_FIXES:
        yield "stale", f"{len(hidden) - _MAX_FIXES:,} more"


def _facts(t: Traces) -> Iterator[tuple[str, str]]:
    if t.error:
        yield "raised", t.error
    uncompiled = [call for call in t.calls if call.state == "EAGER-FALLBACK"]
    if uncompiled:
        count = units.count(sum(call.times for call in uncompiled), "call")
        reason = "".join(f": {change.words()}" for change in uncompiled[0].why[:1])
        yield "not compiled", f"{count} ran eagerly{reason}"
    if t.bypassed and any(call.state not in ("BYPASSED", "EAGER-FALLBACK") for call in t.calls):
        count = units.count(t.bypassed, "call")
        yield "not compiled", f"{count} ran eagerly: compilation was turned off"
    for text in [*dict.fromkeys(call.unknown for call in t.calls if call.unknown)][:_MAX_FIXES]:
        yield "unknown", text
    for fix in _fixes(t.calls):
        yield "fix", fix
    if any(call.printed for call in t.calls):
        yield "printed", "print() runs only while a function is traced, not on a cache hit"
    if t.also_traced:
        yield "also traced", f"{', '.join(t.also_traced)}, and not called"
    if t.internal:
        seconds = sum(program.seconds or 0.0 for program in t.internal)
        names = dict.fromkeys(program.name for program in t.internal)
        shown = [*names] if t.show_internal else [*names][:_MAX_PROGRAM_NAMES]
        more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
        count = units.count(len(t.internal), "program")
        spent = f", another {units.duration(seconds, 2)}" if seconds else ""
        yield "also compiled", f"{count} outside these calls{spent}: {', '.join(shown)}{more}"
