"""``%fwtime``."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING

from ipyjaxbench.host.clock import Clock
from ipyjaxbench.jupyter.errors import one_line_errors
from ipyjaxbench.jupyter.invocation import Typed
from ipyjaxbench.jupyter.location import where
from ipyjaxbench.jupyter.present import as_far_as_it_went, hand_over, screen_for
from ipyjaxbench.jupyter.screen import MutedShell
from ipyjaxbench.usercode.snippet import Namespace, Snippet

if TYPE_CHECKING:
    from ipyjaxbench.timing.measurement import Measurement
    from ipyjaxbench.timing.options import TimeOptions


def fwtime(typed: Typed[TimeOptions]) -> Measurement | None:
    """Time one statement or one cell."""
    __tracebackhide__ = True
    from ipyjaxbench.host.git import revision
    from ipyjaxbench.records import find_baseline
    from ipyjaxbench.timing.measure import measure_snippet

    shell, session = typed.shell, typed.session
    with one_line_errors():
        chosen, shown, code = typed.split()
        start = Clock.elapsed().now()
        snippet, setup = _snippets(typed, code)
        compile_time = (Clock.elapsed().now() - start) * 1e-9
        before = find_baseline.base(chosen, snippet.text, session.kept)
    screen = screen_for(typed, shown)
    with screen, screen.progress("first call") as on_progress:
        result, raised = as_far_as_it_went(
            measure_snippet,
            snippet,
            chosen,
            setup=setup,
            muted=MutedShell(shell),
            compile_time=compile_time,
            on_progress=on_progress,
        )
    if typed.names is not shell.user_ns and typed.local_ns is not None:
        result = _kept_in_function(result, snippet, typed.names, typed.local_ns)
    if chosen.against is not None:
        git = revision(where(shell).directory)
        against = find_baseline.told(result, chosen.against, before, git)
        result = dataclasses.replace(result, against=against)
    session.keep(result, chosen.name or "")
    return hand_over(typed, shown, result, screen, raised=raised)  # type: ignore[no-any-return]


def _snippets(typed: Typed[TimeOptions], line: str) -> tuple[Snippet, Snippet | None]:
    """The code to time, and what a cell's first line sets up for it."""
    if typed.cell is None:
        return Snippet(typed.source(line), typed.names), None
    setup = Snippet(typed.source(line, max(typed.above - 1, 0)), typed.names) if line else None
    return Snippet(typed.source(typed.cell), typed.names), setup


def _kept_in_function(
    result: Measurement, snippet: Snippet, names: Namespace, local_ns: Namespace
) -> Measurement:
    """Bind the names in the calling function, where Python gives a way to, or say so."""
    from ipyjaxbench.timing import notes

    local_ns.update({name: names[name] for name in snippet.binds if name in names})
    if sys.version_info >= (3, 13) or not snippet.binds:
        return result
    note = notes.names_stay_inside(list(snippet.binds))
    return dataclasses.replace(result, notes=(*result.notes, note))
