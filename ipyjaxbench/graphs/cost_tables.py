"""Where a program's cost comes from: by line of code, as heat beside it, and by primitive."""

from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.graphs.counts import Count
from ipyjaxbench.graphs.graph import Graph
from ipyjaxbench.reports import Block, Listing, Table

_MOST_LINES = 15  # of code; of more the costliest are shown
_LONG_OPERATIONS = 100  # above that the text leaves operations out, and tables count them
_PARTS_WIDTH = 20  # columns for the primitives of a line


def code_listing(g: Graph) -> Iterator[Listing]:
    """Yield the lines of code with what each costs, where that tells them apart."""
    costly = [count for count in g.lines if count.flops or count.nbytes]
    if not costly or (len(g.lines) < 2 and "src" not in g.details):
        return
    ranked = sorted(g.lines, key=lambda count: (-count.flops, -count.nbytes))
    shown = [count for count in g.lines if count in ranked[:_MOST_LINES]]
    has_flops = any(count.flops for count in costly)
    heat = {count: count.flops if has_flops else count.nbytes for count in g.lines}
    whole = sum(heat.values())
    rows = tuple((str(c.line or ""), heat[c] / whole, _cost(c), c.name) for c in shown)
    what = " · ".join(
        ["FLOP"] * has_flops + ["bytes before fusion"] * any(c.nbytes for c in costly)
    )
    hidden = len(g.lines) - len(shown)
    left_out = f"; {units.count(hidden, 'cheaper line')} left out" if hidden else ""
    yield Listing(f"cost by line: {what}{left_out}", rows)


def _cost(count: Count) -> str:
    flops = [units.flops(count.flops)] if count.flops else []
    return " · ".join(flops + ([units.size(int(count.nbytes))] if count.nbytes else []))


def cost_tables(g: Graph) -> Iterator[Block]:
    """Yield how often each primitive is computed, and which ones a line is made of."""
    is_long = g.operations > _LONG_OPERATIONS
    word = "primitive" if g.framework == "jax" else "operation"
    if g.stats and (is_long or "stats" in g.details):
        rows = tuple((c.name, f"{c.times:,}", _work(c)) for c in g.stats)
        yield Table(f"by {word}", (word, "count", "work"), rows, "stats" not in g.details)
    if g.lines and (is_long or "src" in g.details):
        of_lines = tuple(map(_line, g.lines))
        head = ("line", f"{word}s", "count", "work")
        yield Table(f"{word}s by line", head, of_lines)


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
