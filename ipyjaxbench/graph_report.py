"""How a program is told: what goes in and out, how much is computed, its text."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ipyjaxbench import units
from ipyjaxbench.notes import CHANGES_MEANING
from ipyjaxbench.report import Block, Code, Facts, Headline, Notes, Report, Table

if TYPE_CHECKING:
    from ipyjaxbench.graph import Graph, Value

_MOST_NAMED = 6  # inputs that are named one by one
_PRINTED = 10  # lines
_LARGE = 2**20  # bytes of a constant that is worth a line


def report(g: "Graph") -> Report:
    """The blocks in the order in which they are read."""
    marked = sorted(g.notes, key=lambda note: note.mark != CHANGES_MEANING)
    blocks: list[Block] = [_headline(g), Code(g.form, g.program), *_estimates(g)]
    blocks += [Facts((*_rows(g),)), Notes(tuple(marked)), *_tables(g)]
    return Report(tuple(blocks))


def _headline(g: "Graph") -> Headline:
    figure = units.count(g.operations, "equation" if g.framework == "jax" else "operation")
    cost = [units.flops(g.flops)] if g.flops else []
    cost.append(f"{units.size(sum(v.nbytes for v in g.inputs))} in")
    cost.append(f"{units.size(sum(v.nbytes for v in g.outputs))} out")
    return Headline(g.code, figure, " · ".join(cost), g.form.upper(), "")


def _rows(g: "Graph") -> Iterator[tuple[str, str]]:
    for each in g.estimates:
        if each.error:
            yield each.chip, each.error
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
    if g.printed:
        yield "printed", "\n".join(_short(g.printed))
    times = "once" if g.tries == 1 else f"{g.tries} times"
    yield "traced", f"{times}, in {units.duration(g.seconds, 2)}; the call was not made"
    yield "with", ", ".join(f"{name} {version}" for name, version in sorted(g.frameworks.items()))


def _short(text: str) -> list[str]:
    lines = text.rstrip().splitlines()
    return [*lines[:_PRINTED], *(["..."] if len(lines) > _PRINTED else [])]


def _estimates(g: "Graph") -> Iterator[Table]:
    if not g.estimates:
        return
    rows = []
    for each in g.estimates:
        if each.seconds is None:
            needed = units.size(each.memory) if each.memory else "more"
            word = "failed" if each.error else "too large"
            rows.append((each.chip, word, "", "", f"{needed} of {units.size(each.limit)}"))
            continue
        rows.append(
            (
                each.chip,
                units.duration(each.seconds),
                units.flops(each.flops or 0),
                units.size(int(each.moved or 0)),
                f"{units.size(each.memory)} of {units.size(each.limit)}",
            )
        )
    head = ("chip", "estimate", "work", "moved", "memory")
    yield Table("estimated by each chip's compiler; nothing was run on one", head, tuple(rows),
                folded=False)  # fmt: skip


def _tables(g: "Graph") -> Iterator[Table]:
    if g.primitives:
        rows = tuple((c.name, f"{c.times:,}", units.flops(c.flops) if c.flops else "")
                     for c in g.primitives)  # fmt: skip
        yield Table("by primitive", ("primitive", "times", "work"), rows)
    if g.lines:
        rows = tuple((f"{c.line}  {c.name}", f"{c.times:,}",
                      units.flops(c.flops) if c.flops else "") for c in g.lines)  # fmt: skip
        yield Table("by line", ("line", "times", "work"), rows)


def _several(values: Sequence["Value"]) -> str:
    if len(values) > _MOST_NAMED:
        return f"{units.count(len(values), 'array')} {units.size(sum(v.nbytes for v in values))}"
    return ", ".join(map(_one, values)) or "nothing"


def _one(value: "Value") -> str:
    weak = " weak" if value.weak else ""
    return f"{value.name} {units.array(value.dtype, value.shape)}{weak}".strip()
