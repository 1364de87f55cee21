"""How a program is compiled: what goes in and out, how much is computed, its text."""

from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.graphs.components import (
    Collective,
    Compiled,
    Count,
    CountDifference,
    Estimate,
    Value,
)
from ipyjaxbench.graphs.graph import Graph
from ipyjaxbench.reports import (
    CHANGES_MEANING,
    Block,
    Code,
    Facts,
    Headline,
    Notes,
    Report,
    Table,
    report,
)

_MOST_NAMED = 6  # inputs that are named one by one
_PRINTED_LINES = 10
_LARGE_CONSTANT_BYTES = 2**20  # bytes of a constant that is worth a line
_LONG_OPERATIONS = 100  # above that the text is folded, and tables show what it leaves out
#: By the reason of an `Uncounted`.
_UNCOUNTED = {
    "operation": "{0.name} is not counted",
    "shape": "{0.name}, of a shape that is not known, is not counted",
    "function": "what {0.name} calls is not shown by this version, and not counted",
    "products": "not counted: {0.name}",
    "others": "products and convolutions alone: PyTorch counts no others",
    "turns": "the turns of a while loop are not known: one was counted",
    "most turns": "a while loop was counted with the most turns that it may take, {0.turns:,}",
    "branch": "one branch of {0.name} was counted, the costliest",
}
#: By the reasons of a `CountDifference`.
_REASONS = {
    "complex": "since one of complex numbers is several of real ones",
    "turns": "in further turns of loops, of which it counts one",
    "unused": "whose result is not used, and that it removed",
    "constant": "that depends on no argument, and that it computed beforehand",
}
_PARTS_WIDTH = 20  # columns for the primitives of a line


@report.register
def _(g: Graph) -> Report:
    """Return the blocks in the order in which they are read."""
    marked = sorted(g.notes, key=lambda note: note.mark != CHANGES_MEANING)
    blocks: list[Block] = [_headline(g), Code(g.form, g.program), *_estimates(g)]
    blocks += [Facts((*_rows(g),)), Notes(tuple(marked)), *_tables(g)]
    return Report(tuple(blocks))


def _headline(g: Graph) -> Headline:
    figure = units.count(g.operations, "equation" if g.framework == "jax" else "operation")
    cost = [units.flops(g.flops)] if g.flops else []
    cost += [f"{_size(g.inputs)} in", f"{_size(g.outputs)} out"]
    return Headline(g.code, figure, " · ".join(cost), g.form.upper(), "")


def _rows(g: Graph) -> Iterator[tuple[str, str]]:
    yield from _estimate_rows(g.estimates)
    yield "where", f"{_several(g.inputs)} → {_several(g.outputs)}"
    yield from _argument_rows(g)
    for each in g.uncounted:
        yield "counted", each if isinstance(each, str) else _UNCOUNTED[each.reason].format(each)
    if g.compiled:
        yield "compiled", _compiled(g.compiled, captures=bool(g.constants))
        if not g.estimates:  # else what is exchanged here stands beside what chips exchange
            yield from _exchanged(g.compiled.collectives)
    for cut in g.breaks:
        where = f"line {cut.line}: {cut.source.rstrip(':')}" if cut.line else "?"
        yield "break", f"{where}: {cut.because}"
    if g.clear:
        yield "checked", f"none found: {', '.join(g.clear)}"
    elif "check" in g.details and g.framework != "jax":
        yield "checked", "nothing: --check looks at programs of JAX alone"
    if g.printed:
        yield "printed", "\n".join(_short(g.printed))
    times = "once" if g.tries == 1 else f"{g.tries} times"
    made = any(note.code == "call-made" for note in g.notes)
    ending = "" if made else "; the call was not made"
    yield "traced", f"{times}, in {units.duration(g.seconds, 2)}{ending}"
    if g.warm:
        yield "warm", f"{', '.join(g.warm)}: {g.framework} keeps these traces for the first call"
    yield "with", units.versions(g.frameworks)


def _estimate_rows(estimates: Sequence[Estimate]) -> Iterator[tuple[str, str]]:
    for each in estimates:
        if each.error:
            yield each.chip, each.error
        elif _is_too_large(each):
            needed = f"needs {units.size(each.memory)}" if each.memory else "needs more than it has"
            yield each.chip, f"{needed}, and has {units.size(each.limit)} for a program"
        yield from _exchanged(each.collectives, f"{each.chip}: ")
    if any(map(_is_here, estimates)):
        left_out = any(each.collectives for each in estimates)
        remark = "; what devices exchange takes time that no estimate holds" if left_out else ""
        yield "estimate", f"here %fwtime measures the time{remark}"


def _argument_rows(g: Graph) -> Iterator[tuple[str, str]]:
    if g.static_argnames:
        names = ", ".join(g.static_argnames)
        typed = g.static_argnames[0] if len(g.static_argnames) == 1 else g.static_argnames
        yield "static", f"{names}: the program depends on it; write static_argnames={typed!r}"
    if g.fixed:
        yield "fixed", f"{', '.join(g.fixed)}: no input, and so part of the program"
    large = [value for value in g.constants if value.nbytes >= _LARGE_CONSTANT_BYTES]
    if g.constants:
        captured = f"{units.count(len(g.constants), 'array')} {_size(g.constants)}"
        if large:
            captured += f", the largest {_one(large[0])}"
        yield "captured", f"{captured}, part of the program"


def _short(text: str) -> list[str]:
    lines = text.rstrip().splitlines()
    return [*lines[:_PRINTED_LINES], *(["..."] if len(lines) > _PRINTED_LINES else [])]


def _compiled(compiled: Compiled, *, captures: bool) -> str:
    parts = [units.flops(compiled.flops)] if compiled.flops is not None else []
    parts += [f"{units.size(int(compiled.moved))} moved"] if compiled.moved is not None else []
    what = "captured arrays and values in between" if captures else "values in between"
    between = f" ({units.size(compiled.temporary)} of it for {what})"
    parts.append(f"{units.size(compiled.memory)} of memory{between if compiled.temporary else ''}")
    why = compiled.why if isinstance(compiled.why, str) else _why(compiled.why)
    return f"{', '.join(parts)}{f'. {why}' if why else ''}"


def _why(difference: CountDifference) -> str:
    if difference.devices > 1:
        ours = (
            "" if difference.ours is None else f"; we count {units.flops(difference.ours)} in all"
        )
        return f"That is on each of {difference.devices} devices{ours}"
    ours = f"We count {units.flops(difference.ours or 0.0)}"
    if difference.reasons:
        reasons = (
            f"{units.flops(flops)} {_REASONS[reason]}" for reason, flops in difference.reasons
        )
        return f"{ours}: {'; '.join(reasons)}"
    if difference.uncounted:
        ours += f", and not {', '.join(difference.uncounted)}"
        if difference.left > 0:
            return ours
    left = units.flops(abs(difference.left))
    if difference.rewritten and difference.left > 0:
        names = ", ".join(difference.rewritten)
        return f"{ours}: XLA counts {left} more, since it computes {names} in another way"
    how = "adds" if difference.left > 0 else "leaves out"
    return f"{ours}: XLA {how} {left}, for reasons that are not known"


def _exchanged(collectives: Sequence[Collective], where: str = "") -> Iterator[tuple[str, str]]:
    if collectives:
        parts = (f"{each.times} {each.name} {units.size(each.nbytes)}" for each in collectives)
        yield "exchanged", f"{where}{', '.join(parts)} on each device"


def _estimates(g: Graph) -> Iterator[Table]:
    if g.estimates:
        head = ("chip", "estimate", "work", "moved", "memory", "padding")
        rows = tuple(map(_estimate, g.estimates))
        several = ", on each of several" if any(e.chip.count(":") > 1 for e in g.estimates) else ""
        caption = f"estimated by each chip's compiler{several}; nothing was run on one"
        yield Table(caption, head, rows, folded=False)


def _estimate(each: Estimate) -> tuple[str, ...]:
    """Return a row; where several chips work together it is that of one."""
    is_known = not (each.error or _is_too_large(each))
    word = "failed" if each.error else "too large"
    if is_known:
        seconds = "none" if each.seconds is None else units.duration(each.seconds)
        word = "?" if _is_here(each) else seconds
    unknown = "?" if is_known else ""
    needed = units.size(each.memory) if each.memory else "more" if word == "too large" else ""
    return (
        each.chip,
        word,
        unknown if each.flops is None else units.flops(each.flops),
        unknown if each.moved is None else units.size(int(each.moved)),
        f"{needed} of {units.size(each.limit)}" if needed and each.limit else needed,
        units.size(each.padding) if is_known and not _is_here(each) else "",
    )


def _is_here(each: Estimate) -> bool:
    return each.chip.startswith("here")


def _is_too_large(each: Estimate) -> bool:
    """Whether it does not fit, by what its compiler says or by what it needs."""
    is_refused = each.memory == 0 and each.moved is None and not each.error
    return is_refused or 0 < each.limit < each.memory


def _tables(g: Graph) -> Iterator[Table]:
    is_long = g.operations > _LONG_OPERATIONS
    word = "primitive" if g.framework == "jax" else "operation"
    if g.stats and (is_long or "stats" in g.details):
        of_stats = tuple((c.name, f"{c.times:,}", _work(c)) for c in g.stats)
        head: tuple[str, ...] = (word, "times", "work")
        yield Table(f"by {word}", head, of_stats, "stats" not in g.details)
    if g.lines and (is_long or "src" in g.details):
        of_lines = tuple(map(_line, g.lines))
        head = ("line", f"{word}s", "times", "work")
        yield Table("by line", head, of_lines, "src" not in g.details)


def _line(count: Count) -> tuple[str, ...]:
    name = f"{count.line}  {count.name}" if count.line else count.name
    return name, _parts(count.parts), f"{count.times:,}", _work(count)


def _work(count: Count) -> str:
    return units.flops(count.flops) if count.flops else ""


def _parts(names: Sequence[str]) -> str:
    """Return as many as leave room for the line of code."""
    shown = [*names[:1]]
    for name in names[1:]:
        if len(", ".join([*shown, name])) > _PARTS_WIDTH:
            break
        shown.append(name)
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


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
