"""Times a call in step with the other ranks of this process's job."""

from ipyjaxbench.cluster.job_measurement import JobMeasurement
from ipyjaxbench.cluster.join import join
from ipyjaxbench.cluster.measure import measure_rank
from ipyjaxbench.errors import OptionError
from ipyjaxbench.frameworks import explain_unusable_job, find_job
from ipyjaxbench.host import Clock
from ipyjaxbench.timing import TimeOptions
from ipyjaxbench.usercode import Namespace, Snippet, Source


def time_call_in_job(
    code: str, names: Namespace, options: TimeOptions, timeout: float
) -> JobMeasurement | None:
    """Time code in all ranks of the job that this process belongs to; each calls this.

    Returns:
        In rank 0, what all ranks measured; None in the others.

    Raises:
        OptionError: there is no job, or it cannot be used.
        RankError: a rank did not come, or its code failed.
    """
    __tracebackhide__ = True
    found = find_job()
    if found is None:
        reason = explain_unusable_job() or "this process is no rank of a job"
        raise OptionError(f"engines='job': {reason}")
    with join(*found, timeout, Clock.elapsed()) as rendezvous:
        return measure_rank(Snippet(Source.plain(code), names), options, rendezvous)
