"""How a program is told: what goes in and out, how much is computed, its text."""

import linecache
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ipyjaxbench import units
from ipyjaxbench.notes import CHANGES_MEANING
from ipyjaxbench.report import Block, Code, Facts, Headline, Notes, Report, Table

if TYPE_CHECKING:
    from ipyjaxbench.graph import Graph, Value

_MOST_NAMED = 6  # inputs that are named one by one
_LARGE = 2**20  # bytes of a constant that is worth a line


def report(g: "Graph") -> Report:
    """The blocks in the order in which they are read."""
    marked = sorted(g.notes, key=lambda note: note.mark != CHANGES_MEANING)
    blocks: list[Block] = [_headline(g), Code(g.form, g.program)]
    blocks += [Facts((*_rows(g),)), Notes(tuple(marked)), *_tables(g)]
    return Report(tuple(blocks))


def _headline(g: "Graph") -> Headline:
    figure = units.count(g.operations, "equation" if g.framework == "jax" else "operation")
    cost = [units.flops(g.flops)] if g.flops else []
    cost.append(f"{units.size(sum(v.nbytes for v in g.inputs))} in")
    cost.append(f"{units.size(sum(v.nbytes for v in g.outputs))} out")
    return Headline(g.code, figure, " · ".join(cost), g.form.upper(), "")


def _rows(g: "Graph") -> Iterator[tuple[str, str]]:
    yield "where", f"{_several(g.inputs)} → {_several(g.outputs)}"
    if g.static_argnames:
        names = ", ".join(g.static_argnames)
        typed = g.static_argnames[0] if len(g.static_argnames) == 1 else g.static_argnames
        yield "static", f"{names}: the program depends on it; write static_argnames={typed!r}"
    if g.fixed:
        yield "fixed", f"{', '.join(g.fixed)}: no data, and so part of the program"
    large = [value for value in g.constants if value.nbytes >= _LARGE]
    if g.constants:
        total = units.size(sum(value.nbytes for value in g.constants))
        words = f"{units.count(len(g.constants), 'array')} {total}"
        if large:
            words += f", the largest {_one(large[0])}"
        yield "constants", f"{words}, part of the program"
    for words in g.uncounted:
        yield "counted", words
    times = "once" if g.tries == 1 else f"{g.tries} times"
    yield "traced", f"{times}, in {units.duration(g.seconds, 2)}; nothing was computed"
    yield "with", ", ".join(f"{name} {version}" for name, version in sorted(g.frameworks.items()))


def _tables(g: "Graph") -> Iterator[Table]:
    if g.primitives:
        rows = tuple((c.name, f"{c.times:,}", units.flops(c.flops) if c.flops else "")
                     for c in g.primitives)  # fmt: skip
        yield Table("by primitive", ("primitive", "times", "work"), rows)
    if g.lines:
        rows = tuple((f"{c.line}  {linecache.getline(c.name, c.line).strip()}", f"{c.times:,}",
                      units.flops(c.flops) if c.flops else "") for c in g.lines)  # fmt: skip
        yield Table("by line", ("line", "times", "work"), rows)


def _several(values: Sequence["Value"]) -> str:
    if len(values) > _MOST_NAMED:
        return f"{units.count(len(values), 'array')} {units.size(sum(v.nbytes for v in values))}"
    return ", ".join(map(_one, values)) or "nothing"


def _one(value: "Value") -> str:
    weak = " weak" if value.weak else ""
    return f"{value.name} {units.array(value.dtype, value.shape)}{weak}".strip()
