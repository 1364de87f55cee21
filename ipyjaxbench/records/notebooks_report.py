"""The report of a notebook's records: a line for each."""

from pathlib import PurePath

from ipyjaxbench import units
from ipyjaxbench.records.notebooks import NotebookRecords, Saved
from ipyjaxbench.reports import Block, Facts, Headline, Report, Table, report

_MAX_REFUSED = 5
_MAX_FIGURE = 30  # characters
_SHOWN_KINDS = {"ceilings": "peaks"}  # what records keep under an older word


@report.register
def _(n: NotebookRecords) -> Report:
    """Return the blocks in the order in which they are read."""
    shown = units.count(len(n.records), "record")
    blocks: list[Block] = [Headline(PurePath(n.path).name, shown, "", "", "")]
    if n.records:
        head = ("result", "kind", "cell:line", "found")
        blocks.append(Table("", head, tuple(map(_row, n.records)), folded=False))
    if n.refused:
        rows = [("unreadable", f"cell {r.cell}: {r.reason}") for r in n.refused[:_MAX_REFUSED]]
        more = len(n.refused) - len(rows)
        rows += [("", f"and {units.count(more, 'more record')}")] if more else []
        blocks.append(Facts(tuple(rows)))
    return Report(tuple(blocks))


def _row(saved: Saved) -> tuple[str, ...]:
    where = str(saved.cell) + (f":{saved.line}" if saved.line else "")
    line, kind = saved.headline, _SHOWN_KINDS.get(saved.result.kind, saved.result.kind)
    if line is None:
        return (saved.name or kind, kind, where, "")
    figure = units.cut(saved.found, _MAX_FIGURE)
    return (saved.name or line.title or kind, kind, where, f"{figure} {line.verdict}".strip())
