"""How a program is reported: its cost, its text, what goes in and out, what to know of it."""

from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.graphs.change_tables import change_tables
from ipyjaxbench.graphs.compiler_rows import (
    communication_rows,
    compiled_row,
    estimate_rows,
    estimate_table,
    kernel_tables,
    library_rows,
)
from ipyjaxbench.graphs.components import Value
from ipyjaxbench.graphs.cost_tables import code_listing, cost_tables
from ipyjaxbench.graphs.diagnosis_report import fix_blocks
from ipyjaxbench.graphs.graph import Graph
from ipyjaxbench.graphs.program_changes import IDENTICAL
from ipyjaxbench.reports import (
    CHANGES_MEANING,
    Block,
    Code,
    Details,
    Facts,
    Footer,
    Headline,
    Notes,
    Report,
    report,
)

_MOST_NAMED = 6  # inputs that are named one by one
_PRINTED_LINES = 10
_LARGE_CONSTANT_BYTES = 2**20  # bytes of a constant that is worth a line
_LONG_LINES = 50  # of a text that a page folds
#: Forms of a program as people call them.
_FORMS = {
    "stablehlo": "StableHLO",
    "hlo": "HLO",
    "optimized": "optimized HLO",
    "aten": "ATen graph",
    "dynamo": "torch.compile graph",
    "export": "exported graph",
    "tf": "TensorFlow graph",
}
#: By the reason of an `Uncounted`.
_UNCOUNTED = {
    "operation": "excludes {0.name}",
    "shape": "excludes {0.name}, whose shape is unknown",
    "function": "excludes what {0.name} calls, which this version of TensorFlow does not show",
    "products": "excludes {0.name}",
    "others": "matrix products and convolutions only, as PyTorch counts",
    "turns": "one iteration of a while loop (how many run is unknown)",
    "most turns": "the maximum of {0.turns:,} iterations of a while loop",
    "branch": "only the costliest branch of {0.name}",
}


@report.register
def _(g: Graph) -> Report:
    """Return the blocks in the order in which they are read."""
    marked = sorted(g.notes, key=lambda note: note.mark != CHANGES_MEANING)
    blocks: list[Block] = [_headline(g), *change_tables(g.changes)]
    blocks += [*([] if _is_difference(g) else code_listing(g)), *_library_facts(g), _text(g)]
    blocks += [estimate_table(g.estimates)] if g.estimates else []
    blocks += kernel_tables(g.estimates)
    blocks += [block for fix in g.fixes for block in fix_blocks(fix)]
    blocks += [Facts((*_rows(g),)), Notes(tuple(marked)), *cost_tables(g), _footer(g)]
    return Report(tuple(blocks))


def _is_difference(g: Graph) -> bool:
    return g.form.endswith(" diff")


def _library_facts(g: Graph) -> Iterator[Block]:
    """Yield what an optimized program leaves to libraries: its text has them as `custom-call`."""
    if g.form == "optimized" and g.compiled and (rows := [*library_rows(g.compiled.libraries)]):
        yield Facts(tuple(rows))


def _text(g: Graph) -> Block:
    """Return the program's text, folded where it is long."""
    code = Code(g.form, g.program)
    lines = g.program.count("\n") + 1
    return code if lines <= _LONG_LINES else Details(f"{_form(g)}, {lines:,} lines", (code,))


def _form(g: Graph) -> str:
    form, _, difference = g.form.partition(" ")
    name = _FORMS.get(form, form)
    return f"difference in {name}" if difference else name


def _footer(g: Graph) -> Footer:
    """Return how it was traced, and with what."""
    times = "once" if g.tries == 1 else f"{g.tries} times"
    made = any(note.code == "call-made" for note in g.notes)
    is_run = any(fix.same for fix in g.fixes)
    ending = ", only the lines above it were executed" if g.has_setup else ", nothing was executed"
    ending = ", executed only to verify the fix" if is_run else ending
    ending = "" if made else ending
    traced = f"traced {times} ({units.duration(g.seconds, 2)}){ending}"
    return Footer((traced, units.versions(g.frameworks)))


def _headline(g: Graph) -> Headline:
    """Return what a run costs: work, bytes of all arrays, and the ratio of the two."""
    arrays = (*g.inputs, *g.outputs, *g.constants)
    cost = [units.flops(g.flops)] if g.flops else []
    cost.append(_size(arrays))
    if g.flops and g.bytes and all(each.sized for each in arrays):
        cost.append(f"{units.number(g.flops / g.bytes, 2)} FLOP/B")
    contents = units.count(g.operations, "equation" if g.framework == "jax" else "operation")
    detail = _form(g) if _is_difference(g) else f"{_form(g)} of {contents}"
    return Headline(g.code, " · ".join(cost), detail, "", "")


def _rows(g: Graph) -> Iterator[tuple[str, str]]:
    yield from estimate_rows(g.estimates)
    if _is_difference(g) and not g.changes and not g.program.startswith(IDENTICAL):
        yield "counts", "the same in both; only the text differs"
    yield "shapes", f"{_several(g.inputs)} → {_several(g.outputs)}"
    yield from _argument_rows(g)
    counted = (
        each if isinstance(each, str) else _UNCOUNTED[each.reason].format(each)
        for each in g.uncounted
    )
    if g.uncounted:
        yield "FLOP count", "; ".join(counted)
    if g.compiled:
        yield "compiled", compiled_row(g.compiled, captures=bool(g.constants))
        if not g.estimates:  # else what is exchanged here stands beside what chips exchange
            yield from communication_rows(g.compiled.collectives)
    for cut in g.breaks:
        where = f"line {cut.line}, {cut.source.rstrip(':')!r}" if cut.line else "line unknown"
        yield "graph break", f"{where}: {cut.because}"
    if g.clear:
        yield "check", f"no problems found; looked for {', '.join(g.clear)}"
    elif "check" in g.details and g.framework != "jax":
        yield "check", "--check supports JAX only"
    if g.printed:
        yield "printed", "\n".join(_short(g.printed))
    yield from _trace_rows(g)


def _trace_rows(g: Graph) -> Iterator[tuple[str, str]]:
    if g.warm:
        names = ", ".join(g.warm)
        verb, its = ("is", "its") if len(g.warm) == 1 else ("are", "their")
        calls = f"{its} first call with these arguments will skip tracing"
        yield "side effect", f"{names} {verb} now traced; {calls}"
    if g.cached:
        verb = "was" if len(g.cached) == 1 else "were"
        yield "cached", f"{', '.join(g.cached)} {verb} already traced for these arguments"


def _argument_rows(g: Graph) -> Iterator[tuple[str, str]]:
    if g.static_argnames:
        names = ", ".join(g.static_argnames)
        typed = g.static_argnames[0] if len(g.static_argnames) == 1 else g.static_argnames
        says = (
            "without the fix, one program per value"
            if g.fixes
            else "the program depends on the value"
        )
        yield "static", f"{names}: {says}; use static_argnames={typed!r}"
    if g.fixed:
        which = "not an array input" if len(g.fixed) == 1 else "not array inputs"
        yield "baked in", f"{', '.join(g.fixed)} ({which})"
    large = [value for value in g.constants if value.nbytes >= _LARGE_CONSTANT_BYTES]
    if g.constants:
        captured = f"{units.count(len(g.constants), 'array')}, {_size(g.constants)}"
        if large:
            captured += f", {'the largest ' * (len(g.constants) > 1)}{_one(large[0])}"
        yield "captured", f"{captured}; part of the program, not an argument"


def _short(text: str) -> list[str]:
    lines = text.rstrip().splitlines()
    return [*lines[:_PRINTED_LINES], *(["..."] if len(lines) > _PRINTED_LINES else [])]


def _several(values: Sequence["Value"]) -> str:
    if len(values) > _MOST_NAMED:
        return f"{units.count(len(values), 'array')} {_size(values)}"
    return ", ".join(map(_one, values)) or "nothing"


def _size(values: Sequence["Value"]) -> str:
    """Return bytes of several arrays; "?" stands for those that are known when the program runs."""
    known = [value.nbytes for value in values if value.sized]
    if len(known) == len(values):
        return units.size(sum(known))
    return f"{units.size(sum(known))} + ?" if known else "?"


def _one(value: "Value") -> str:
    weak = " weak" if value.weak else ""
    return f"{value.name} {units.array(value.dtype, value.shape)}{weak}".strip()
