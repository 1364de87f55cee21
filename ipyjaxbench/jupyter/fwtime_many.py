"""``%fwtime`` in many processes: in all ranks of a job, or on engines."""

from functools import partial

from ipyjaxbench.errors import OptionError
from ipyjaxbench.frameworks import Framework, Job
from ipyjaxbench.host import Clock
from ipyjaxbench.jupyter.errors import measure_until_stopped, one_line_errors
from ipyjaxbench.jupyter.invocation import Invocation
from ipyjaxbench.jupyter.screen import MutedShell
from ipyjaxbench.reports import Result
from ipyjaxbench.timing import FwtimeOptions
from ipyjaxbench.usercode import Snippet


def time_in_job(
    magic: Invocation[FwtimeOptions],
    snippet: Snippet,
    setup: Snippet | None,
    framework: Framework,
    job: Job,
) -> Result | None:
    """Time code in step with the other ranks; rank 0 shows what all measured, others a line."""
    __tracebackhide__ = True
    from ipyjaxbench.cluster import join, measure_rank, refuse_options

    options = magic.options
    with (
        one_line_errors(),
        magic.progress("first call") as on_progress,
    ):
        refuse_options(options, "with --timeout 0")
        with join(framework, job, options.timeout, Clock.elapsed()) as rendezvous:
            result, raised = measure_until_stopped(
                measure_rank,
                *(snippet, options.timing, rendezvous),
                setup=setup,
                muted=MutedShell(magic.shell),
                on_progress=on_progress,
            )
    if result is None:
        print(f"rank {job.rank} of {job.size}: timed; rank 0 shows what all ranks measured.")  # noqa: T201
        if raised is not None:
            raise raised
        return None
    magic.session.keep(result, options.name or "")
    return magic.present(result, raised)


def time_on_engines(magic: Invocation[FwtimeOptions]) -> Result | None:
    """Time code on engines, in their own names."""
    __tracebackhide__ = True
    from ipyjaxbench import cluster

    options, setup = magic.options, None
    code = magic.code if magic.cell is None else magic.cell
    with one_line_errors(), magic.progress("asking engines"):
        cluster.refuse_options(options)
        if Snippet(magic.source(code), {}).awaits:  # what cannot run is refused as in any cell
            raise OptionError("await does not work on engines: call asyncio.run in the code")
        if magic.cell is not None and magic.code:
            setup = magic.transformed(magic.code)
        engines = cluster.find_engines(options.engines or "all", magic.names)
        members = cluster.find_members(engines, options.timeout)
        result, raised = measure_until_stopped(
            cluster.time_on_engines,
            *(members, magic.transformed(code), setup, options.timing, options.timeout),
            on_printed=partial(print, end=""),
        )
    magic.session.keep(result, options.name or "")
    return magic.present(result, raised)
