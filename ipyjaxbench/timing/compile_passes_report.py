"""What is shown of compiling: stretches on the time axis of the call, passes, and lines of code."""

from collections.abc import Iterator

from ipyjaxbench import units
from ipyjaxbench.reports import Listing, Segment, Table
from ipyjaxbench.timing.compile_passes import MAX_SHOWN, CompilePasses

_MAX_NAME = 18  # letters
_BEFORE = ""  # what passes until a part begins is left blank
_PART = "compile"

_Row = tuple[str, tuple[Segment, ...], str]


def axis_rows(passes: CompilePasses) -> Iterator[_Row]:
    """Yield a row for each stretch, which begins where it began in the call."""
    for part in passes.parts:
        segments = (Segment(_BEFORE, part.start), Segment(_PART, part.seconds))
        shown = units.duration(part.seconds, 2)
        name = part.name.rpartition("::")[2]  # as in "CpuCompiler::RunBackend"
        yield f"  {units.cut(name, _MAX_NAME)}", segments, shown


def list_passes(passes: CompilePasses) -> Iterator[Table]:
    """Yield the passes with their own times."""
    if not passes.passes:
        return
    total = passes.seconds
    shown = passes.passes[:MAX_SHOWN]
    rows = [
        (each.name, f"{each.times:,}", units.duration(each.seconds, 3), _share(each.seconds, total))
        for each in shown
    ]
    rest = total - sum(each.seconds for each in shown)
    if len(passes.passes) > len(shown):
        rows.append(("other passes", "", units.duration(rest, 3), _share(rest, total)))
    caption = f"{passes.framework}: passes of compiling, {units.duration(total, 3)} in all"
    yield Table(caption, ("pass", "runs", "self time", "share"), tuple(rows), folded=False)


def list_lines(passes: CompilePasses) -> Iterator[Listing]:
    """Yield the lines of the user's code that most of the program is of."""
    if not passes.lines:
        return
    rows = tuple(
        (
            str(each.line or ""),
            each.operations / passes.operations,
            units.count(each.operations, "operation"),
            each.text,
        )
        for each in passes.lines[:MAX_SHOWN]
    )
    operations = units.count(passes.operations, "operation")
    yield Listing(f"the program by line: {operations} as written, loops counted once", rows)


def _share(seconds: float, total: float) -> str:
    return units.share(seconds / total if total else 0.0)
