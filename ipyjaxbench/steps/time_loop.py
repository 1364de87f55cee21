"""Runs a cell once, and times each step of a loop in it."""

import ast
import dataclasses
import linecache
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ipyjaxbench.steps import notes
from ipyjaxbench.steps.find_loop import ForLoop, find_loop, has_loop
from ipyjaxbench.steps.fit_loop import FIT, MarkedFit, find_fit, fit_sites, mark_fit
from ipyjaxbench.steps.framework_calls import FrameworkCalls
from ipyjaxbench.steps.insert_marks import MARKS, READY, MarkedLoop, Site
from ipyjaxbench.steps.line_kinds import LineKinds
from ipyjaxbench.steps.loop_times import LoopTimes
from ipyjaxbench.steps.loop_watch import LoopWatch
from ipyjaxbench.steps.marks import Marks
from ipyjaxbench.steps.step_parts import LineTime
from ipyjaxbench.steps.step_rows import StepRows
from ipyjaxbench.steps.step_times import parts_of_sites, queue_waits, split_site, step_time
from ipyjaxbench.usercode import (
    Namespace,
    Source,
    compile_changed,
    copy_tree,
    describe_error,
    remove_hooks,
    run,
    strip_hook_frames,
)


def time_loop(
    source: Source, names: Namespace, line: int | None = None
) -> tuple[LoopTimes, BaseException | None]:
    """Run a cell once, and say where the time of a loop's steps goes.

    Args:
        source: the cell.
        names: its namespace.
        line: number of a line of the loop; None takes the innermost loop that calls a framework.

    Returns:
        What was measured, and what the cell raised; None where it ran to its end.

    Raises:
        SnippetError: there is no such loop.
    """
    __tracebackhide__ = True
    tree = copy_tree(source.tree)
    plan = _plan(tree, names, line)
    code = compile_changed(source, plan.tree, plan.objects)
    raised: BaseException | None = None
    try:
        run(code, names)
    except BaseException as error:  # noqa: BLE001  what was measured until then is shown
        raised = error
        if error.__traceback__ is not None:
            error.__traceback__.tb_next = strip_hook_frames(error.__traceback__.tb_next)
    finally:
        plan.watch.close()
        remove_hooks([code])
    return _summarize(source, plan, raised), raised


@dataclass(frozen=True)
class _Plan:
    """A cell with marks, and who gets what they note."""

    tree: ast.Module
    sites: list[Site]
    marks: Marks
    watch: LoopWatch
    fit: MarkedFit | None = None

    @property
    def objects(self) -> dict[str, Any]:
        """What constants in the tree stand for."""
        return {MARKS: self.marks, READY: self.watch, FIT: self.fit}


def _plan(tree: ast.Module, names: Namespace, line: int | None) -> _Plan:
    """Put marks into a loop of a cell, or into its call of ``fit`` where it has no loop."""
    call = find_fit(tree) if line is None else None
    if call is not None and not has_loop(tree):
        sites = fit_sites(call)
        watch = LoopWatch((), names)
        marks = Marks(StepRows(len(sites) - 1), watch)
        mark_fit(call)
        return _Plan(tree, sites, marks, watch, MarkedFit(marks, watch))
    loop = find_loop(tree, line, FrameworkCalls(tree, names))
    marked = MarkedLoop(loop)
    watch = LoopWatch(marked.sites, names)
    marks = Marks(StepRows(marked.header), watch)
    return _Plan(_Exchange(loop, marked.statement).visit(tree), marked.sites, marks, watch)


class _Exchange(ast.NodeTransformer):
    """Puts a statement in the place of a loop."""

    def __init__(self, loop: ForLoop, statement: ast.stmt) -> None:
        self._loop, self._statement = loop, statement

    def visit(self, node: ast.AST) -> Any:
        return self._statement if node is self._loop else self.generic_visit(node)


def _summarize(source: Source, plan: _Plan, raised: BaseException | None) -> LoopTimes:
    """Return what was measured, as seconds by part and by line."""
    marks, watch, sites = plan.marks, plan.watch, plan.sites
    found, kinds = marks.fold(), watch.kinds
    if plan.fit is not None:
        plan.fit.settle(watch.frameworks, found.rows)
    rows = found.rows
    parts = parts_of_sites(sites, kinds, rows)
    plain = tuple(step_time(row, parts, {}) for row in rows)
    dispatching = [f for f in watch.frameworks if f.name in kinds.dispatching.values()]
    runs_ahead = any(f.runs_ahead() for f in dispatching)
    times = LoopTimes(
        code=source.text.strip(),
        line=sites[-1].line,
        steps=plain,
        # Where nothing runs ahead of Python, a long wait at the end is another program's.
        backlog=marks.backlog * 1e-9 if runs_ahead else 0.0,
        was_stopped=marks.was_stopped and runs_ahead,
        runs=found.runs,
        advice=kinds.advice,
        draws_inside=plan.fit is not None and plan.fit.draws_inside,
        frameworks={f.name: f.version() for f in dispatching},
        error="" if raised is None else describe_error(raised),
    )
    is_behind = None if times.was_stopped else bool(times.steady) and times.summary.is_behind
    asynchronous = [site for site in kinds.dispatching if parts[site] == "host"]
    usual = queue_waits(asynchronous, rows, is_behind=is_behind)
    steps = (*plain[:1], *(step_time(row, parts, usual) for row in rows[1:]))
    lines = _lines(source, sites, found, parts, usual, kinds)
    times = dataclasses.replace(times, steps=steps, lines=lines)
    backend = plan.fit.backend if plan.fit is not None else ""
    found_notes = notes.notes_on(times, raised, watch.wait_error, backend)
    return dataclasses.replace(times, notes=tuple(found_notes))


def _lines(
    source: Source,
    sites: Sequence[Site],
    found: StepRows,
    parts: list[str],
    usual: dict[int, float],
    kinds: LineKinds,
) -> tuple[LineTime, ...]:
    """Return the loop's own line, which waits for data, and those of its body."""
    steady = [row for row in found.rows[1:-1] if row.complete and not row.compiled]
    header = sites[-1]
    data = sum(row.data for row in steady) * 1e-9
    *texts, header_text = _texts(source, sites)
    lines = [LineTime(header.line, header_text, "data", data)]
    for number, site in enumerate(sites[:-1]):
        split = [split_site(row, number, usual) for row in steady]
        lines.append(
            LineTime(
                line=site.line,
                text=texts[number],
                part=parts[number],
                seconds=sum(busy for busy, _ in split) * 1e-9,
                waited=sum(waited for _, waited in split) * 1e-9,
                waits=found.waiting_steps.get(number, 0),
                framework=kinds.dispatching.get(number, ""),
            )
        )
    return tuple(lines)


def _texts(source: Source, sites: Sequence[Site]) -> list[str]:
    """Return the line of each site, of a line with several statements its own."""
    begins = {(site.line, site.node.col_offset) for site in sites}
    texts = []
    for site in sites:
        start = site.node.col_offset
        ends = [column for line, column in begins if line == site.line and column > start]
        line = linecache.getline(source.filename, site.line).encode()  # columns are of bytes
        texts.append(line[start : min(ends, default=None)].decode().strip("; \n"))
    return texts
