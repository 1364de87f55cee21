"""``%fwtime``."""

import dataclasses
import sys

from ipyjaxbench.frameworks import find_job
from ipyjaxbench.host import Clock, revision
from ipyjaxbench.jupyter.errors import measure_until_stopped, one_line_errors
from ipyjaxbench.jupyter.fwtime_many import time_in_job, time_on_engines
from ipyjaxbench.jupyter.invocation import Invocation
from ipyjaxbench.jupyter.screen import MutedShell
from ipyjaxbench.records import choose_baseline, find_baseline
from ipyjaxbench.reports import Result
from ipyjaxbench.timing import (
    FwtimeOptions,
    Measurement,
    find_program_texts,
    measure_snippet,
    note_names_stay_inside,
    start_recording,
)
from ipyjaxbench.usercode import Snippet
from ipyjaxbench.validation import kept_name


def fwtime(magic: Invocation[FwtimeOptions]) -> Result | None:
    """Time one statement or one cell."""
    __tracebackhide__ = True
    options = magic.options
    if options.loop:
        from ipyjaxbench.jupyter.fwtime_loop import time_steps

        return time_steps(magic)
    if options.engines is not None:
        return time_on_engines(magic)
    with one_line_errors():
        snippet, setup, compile_time = _compile(magic)
    if job := find_job() if options.timeout else None:
        return time_in_job(magic, snippet, setup, *job)
    with one_line_errors():
        start_recording(options)  # refuses a place before anything runs
        base = find_baseline(options, snippet.text, magic.session.measurements)
    result, raised = _measure(magic, snippet, setup, compile_time)
    is_named = options.name is not None or options.against is not None
    programs = find_program_texts(snippet) if is_named and raised is None else {}
    if options.against is not None:
        git = revision(magic.session.location.directory)
        kept = magic.session.programs.get(kept_name(options.against), {})
        baseline = choose_baseline(result, options.against, base, git, programs, kept)
        result = dataclasses.replace(result, against=baseline)
    if magic.is_shown(raised):
        result = magic.session.advise_once(result)
    magic.session.keep(result, options.name or "", programs)
    return magic.present(result, raised)


def _compile(magic: Invocation[FwtimeOptions]) -> tuple[Snippet, Snippet | None, float]:
    """Return the code to time, what a cell's first line sets up for it, and the seconds taken."""
    start = Clock.elapsed().now()
    setup = None
    if magic.cell is not None and magic.code:
        setup = Snippet(magic.source(magic.code, max(magic.above - 1, 0)), magic.names)
    code = magic.code if magic.cell is None else magic.cell
    snippet = Snippet(magic.source(code), magic.names)
    return snippet, setup, (Clock.elapsed().now() - start) * 1e-9


def _measure(
    magic: Invocation[FwtimeOptions], snippet: Snippet, setup: Snippet | None, compile_time: float
) -> tuple[Measurement, BaseException | None]:
    """Return what was measured, and what ended it early."""
    __tracebackhide__ = True
    with magic.progress("first call") as on_progress:
        result, raised = measure_until_stopped(
            measure_snippet,
            *(snippet, magic.options),
            setup=setup,
            muted=MutedShell(magic.shell),
            compile_time=compile_time,
            on_progress=on_progress,
        )
    return _bind_in_function(magic, snippet, result), raised


def _bind_in_function(
    magic: Invocation[FwtimeOptions], snippet: Snippet, result: Measurement
) -> Measurement:
    """Bind the names in the calling function, where Python gives a way to, or say so."""
    names, local_ns = magic.names, magic.local_ns
    if names is magic.shell.user_ns or local_ns is None:
        return result
    local_ns.update({name: names[name] for name in snippet.binds if name in names})
    if sys.version_info >= (3, 13) or not snippet.binds:
        return result
    note = note_names_stay_inside(list(snippet.binds))
    return dataclasses.replace(result, notes=(*result.notes, note))
