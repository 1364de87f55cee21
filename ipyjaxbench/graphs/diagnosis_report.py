"""How a diagnosis is reported: why the call does not trace, and what to write, as a diff."""

from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.graphs.diagnosis import Diagnosis, Fix
from ipyjaxbench.reports import Block, Code, Details, Facts, Headline, Report, report

_ALIKE = 60  # characters of two errors that are one
_ONE_LINE = 76  # characters of a line of code with what was found of it behind


@report.register
def _(d: Diagnosis) -> Report:
    first, *others = d.fixes or (None,)
    details = [*_details(d)]
    reason = [("why", d.because)]
    if not (d.fixes or d.advice):  # then the error says the most
        reason += [row for row in details if row[0] == "error"]
        details = [row for row in details if row[0] != "error"]
    blocks: list[Block] = [
        Headline(d.code, "does not trace", f"at line {d.line}" if d.line else "", "FAILED", ""),
        Facts(tuple(reason)),
    ]
    if first is not None:
        blocks += fix_blocks(first)
    elif d.advice:
        blocks.append(Facts((("advice", f"{d.advice} (not verified)"),)))
    if others:
        shown = tuple(block for fix in others for block in fix_blocks(fix))
        blocks.append(Details(units.count(len(others), "other fix", "other fixes"), shown))
    if details:
        blocks.append(Details(_summary(details), (Facts(tuple(details)),)))
    return Report(tuple(blocks))


def _summary(rows: Sequence[tuple[str, str]]) -> str:
    """Return labels as a list in words, as "line, argument and error".

    Example:
        >>> _summary([("line", "3"), ("error", "ValueError")])
        'line and error'
    """
    *labels, last = (label for label, _ in rows)
    return f"{', '.join(labels)} and {last}" if labels else last


def fix_blocks(fix: Fix) -> Iterator[Block]:
    """Yield what to write, and what that changes."""
    yield Code("diff", "\n".join(_diff(fix)))
    if fix.cost:
        yield Facts((("but", fix.cost),))


def _diff(fix: Fix) -> Iterator[str]:
    """Yield the lines that go and those that come, with what was found of them behind the last."""
    yield from (f"- {line}" for line in fix.replaces.splitlines())
    *lines, last = [f"+ {line}" for line in fix.code.splitlines()] or ["+"]
    yield from lines
    found = "✓ traces, same values" if fix.same else "✓ traces"
    if len(last) + 3 + len(found) <= _ONE_LINE:
        yield f"{last}   {found}"
    else:
        yield from (last, f"  {found}")


def _details(d: Diagnosis) -> Iterator[tuple[str, str]]:
    if d.line:
        where = f" in {d.inside}" if d.inside else ""
        yield "line", f"{d.line}{where}: {d.source or '(source not available)'}"
    if d.blamed:
        yield "argument" if len(d.blamed) == 1 else "arguments", ", ".join(d.blamed)
    if d.static:
        its = "its value is" if len(d.static) == 1 else "their values are"
        yield "static", f"{', '.join(d.static)} must be static too: {its} needed before that line"
    error = f"{d.error}: {d.message}".rstrip(": ")
    yield "error", error
    if d.eager:
        alike = d.eager[:_ALIKE] == error[:_ALIKE]
        yield "without jit", "fails the same way" if alike else f"fails too: {d.eager}"
    if d.stopped:
        yield "traced", f"{d.tries} times, then stopped: it took too long"
