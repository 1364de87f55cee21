"""How a diagnosis is reported: the line, why it does not trace, and what to write."""

from collections.abc import Iterator

from ipyjaxbench.graphs.diagnosis import Diagnosis
from ipyjaxbench.reports import Facts, Headline, Report, report

_ALIKE = 60  # characters of two errors that are one


@report.register
def _(d: Diagnosis) -> Report:
    rows = [*_why(d), *_help(d)]
    error = f"{d.error}: {d.message}".rstrip(": ")
    rows.append(("error", error))
    if d.eager:
        alike = d.eager[:_ALIKE] == error[:_ALIKE]
        how = "it fails in the same way" if alike else f"it fails too: {d.eager}"
        rows.append(("without jit", how))
    if d.stopped:
        rows.append(("traced", f"{d.tries} times, until that took too long"))
    head = Headline(d.code, "does not trace", "", "FAILED", "")
    return Report((head, Facts(tuple(rows))))


def _why(d: Diagnosis) -> Iterator[tuple[str, str]]:
    if d.line:
        where = f" in {d.inside}" if d.inside else ""
        source = f": {d.source}" if d.source else " (its source is gone)"
        yield "line", f"{d.line}{where}{source}"
    yield "because", d.because
    if d.blamed:
        yield "argument", ", ".join(d.blamed)
    if d.static:
        names = ", ".join(d.static)
        yield "static", f"{names}: asked for before that line; has to be static too"


def _help(d: Diagnosis) -> Iterator[tuple[str, str]]:
    for fix in d.fixes:
        yield "write", fix.code
        if fix.cost:
            yield "changes", fix.cost
    if d.fixes:
        (same, *others) = {fix.same for fix in d.fixes}
        agrees = f", and gives what the code gives {same}" if same and not others else ""
        yield "tried", f"so written it traces{agrees}"
    elif d.advice:
        yield "advice", f"{d.advice} (not tried)"
