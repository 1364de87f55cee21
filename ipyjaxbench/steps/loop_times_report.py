"""The report of a loop: what its steps wait for, as a bar, and the lines of the cell."""

import ast
import re
from collections.abc import Iterator

from ipyjaxbench import stats, units
from ipyjaxbench.reports import (
    CHANGES_MEANING,
    Block,
    Calls,
    Facts,
    Footer,
    Headline,
    Notes,
    Report,
    Segment,
    Stack,
    report,
)
from ipyjaxbench.steps.bottleneck import VERDICT_MEANINGS, Bottleneck
from ipyjaxbench.steps.loop_times import LoopTimes
from ipyjaxbench.steps.step_parts import PARTS, LineTime, StepTime

_COPIES = re.compile(r"\.(to|cuda|xpu|copy_)\(")
_BLOCKING_COPY = "copy from pinned memory with non_blocking=True (DataLoader: pin_memory=True)"
_LATER = "read the value every 100 steps, or after the loop"
_LONG = 3  # times the median: a wait that only some steps have
_SEEN = 0.002  # of a step: from there on a part is in the picture
_WORTH = 0.02  # of a step: from there on a part is named


@report.register
def _(t: LoopTimes) -> Report:
    """Return the blocks in the order in which they are read."""
    found = t.bottleneck
    blocks: list[Block] = [_headline(t, found)]
    if t.steps:
        blocks.append(_bar(t))
    if t.steady:
        head = ("line", "part", "per step", "share", "code")
        blocks.append(Calls(head, tuple(_rows(t))))
    blocks.append(Facts(tuple(_facts(t, found))))
    notes = sorted(t.notes, key=lambda note: note.mark != CHANGES_MEANING)
    blocks += [Notes(tuple(notes))] if notes else []
    blocks += [Footer((units.versions(t.frameworks),))] if t.frameworks else []
    return Report(tuple(blocks))


def _headline(t: LoopTimes, found: Bottleneck) -> Headline:
    text = t.lines[0].text if t.lines else f"the loop in line {t.line}"
    title = units.heading(text.rstrip(":"))
    steady = sum(each.steps for each in t.steady)
    if not steady:
        counted = units.count(t.count, "step")
        return Headline(title, "", counted, found.verdict, VERDICT_MEANINGS[found.verdict])
    figure = units.duration(sum(t.parts.values()))
    detail = f"per step, mean of {units.count(steady, 'steady step')}"
    return Headline(title, figure, detail, found.verdict, VERDICT_MEANINGS[found.verdict])


def _bar(t: LoopTimes) -> Stack:
    """Return a row for the steady steps; the first and the last where there is none."""
    if parts := t.parts:
        shown = units.duration(sum(parts.values()))
        return Stack((("step", _segments(parts), shown),))
    return Stack(tuple(_step_row(name, each) for name, each in _ends(t)))


def _step_row(name: str, step: StepTime) -> tuple[str, tuple[Segment, ...], str]:
    parts = {part: getattr(step, part) / step.steps for part in PARTS}
    return name, _segments(parts), units.duration(step.seconds / step.steps)


def _segments(parts: dict[str, float]) -> tuple[Segment, ...]:
    least = _SEEN * sum(parts.values())
    return tuple(Segment(part, seconds) for part, seconds in parts.items() if seconds > least)


def _ends(t: LoopTimes) -> Iterator[tuple[str, StepTime]]:
    yield "first step", t.steps[0]
    if len(t.steps) > 1:
        yield "last step", t.steps[-1]


def _rows(t: LoopTimes) -> Iterator[tuple[str, ...]]:
    """Yield a row for each line, and for its waits one more."""
    count = sum(each.steps for each in t.steady)
    total = sum(t.parts.values()) * count or 1.0
    for number, each in enumerate(t.lines):
        if not (each.seconds or each.waited) and each.line in {e.line for e in t.lines[:number]}:
            continue  # such as what an `if` of one line holds
        waited = each.waited > _WORTH * total or each.waited > each.seconds
        if not waited or each.seconds > _WORTH * total or each.part == "data":
            yield _row(each, each.part, each.seconds, count, total)
        if waited:
            yield _row(each, "device", each.waited, count, total)
    if t.backlog:
        left = t.backlog / max(t.count, 1) * count
        if left > _WORTH * total:
            after = f"left when the loop was over: {units.duration(t.backlog)}"
            yield "after", "device", units.duration(left / count), units.share(left / total), after


def _row(each: LineTime, part: str, seconds: float, count: int, total: float) -> tuple[str, ...]:
    return (
        str(each.line),
        part,
        units.duration(seconds / count),
        units.share(seconds / total),
        each.text,
    )


def _facts(t: LoopTimes, found: Bottleneck) -> Iterator[tuple[str, str]]:
    shares, parts = t.shares, t.parts
    for part, words in PARTS.items():
        if shares.get(part, 0.0) >= _WORTH:
            yield part, f"{units.share(shares[part])}, {units.duration(parts[part])}: {words}"
    if found.line is not None:
        yield "change", _advice(t, found, found.line)
    if parts and (some := _some_steps_wait(t)):
        yield "uneven", some
    for name, step in _ends(t) if parts else ():
        yield name, _words(step)
    compiled = [each for each in t.steps[1:-1] if each.compiled]
    if compiled:
        spent = units.duration(sum(each.seconds for each in compiled))
        yield "compiled", f"in {units.count(len(compiled), 'step')} more, {spent}: left out above"
    if t.runs > 1:
        yield "runs", f"the loop ran {t.runs:,} times, {t.count:,} steps in all"


def _words(step: StepTime) -> str:
    parts = [(getattr(step, part), part) for part in PARTS]
    named = [f"{part} {units.duration(s, 2)}" for s, part in parts if s >= _WORTH * step.seconds]
    more = "" if step.complete else ", not to its end"
    compiled = ", compiled something" if step.compiled else ""
    return f"{units.duration(step.seconds / step.steps)} ({', '.join(named)}){compiled}{more}"


def _advice(t: LoopTimes, found: Bottleneck, line: LineTime) -> str:
    """Return what to do about the line that is to be changed."""
    where, saves = f"line {line.line}", units.share(found.saves)
    if found.verdict == "DATA-BOUND":
        what = t.advice or "make batches ahead, in a thread or process"
        return f"{where}: {what}"
    if found.verdict == "SYNC-BOUND":
        what = _BLOCKING_COPY if _COPIES.search(line.text) else _LATER
        more = f"Host and device side by side save up to {saves} of a step."
        return f"{where} waits for the device in every step: {what}. {more}"
    if found.verdict == "HOST-BOUND":
        return f"{where} takes the most of Python's time: {line.text}"
    if not _is_whole(line.text):
        return f"{where} takes the most: {line.text}"
    return f"{where} takes the most. See inside:  %fwtime --ops {line.text}"


def _is_whole(text: str) -> bool:
    """Whether a line can be typed alone: no first line of several."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _some_steps_wait(t: LoopTimes) -> str:
    """Say that only some steps wait for data, and how long."""
    waits = [each.data / each.steps for each in t.steady]
    usual, mean = stats.median(waits), t.parts["data"]
    long = [each for each in waits if each > _LONG * usual and each > mean]
    if t.shares["data"] < _WORTH or len(long) < 2 or sum(long) < 0.5 * sum(waits):
        return ""
    longest = units.duration(stats.median(long))
    return (
        f"{units.count(len(long), 'step')} of {len(waits):,} wait {longest} for data, the others"
        f" {units.duration(usual)}"
    )
