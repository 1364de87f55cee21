"""All ranks make the same calls, and count the same ones as samples."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from ipyjaxbench.cluster.lockstep import Follow, Lead
from ipyjaxbench.cluster.rendezvous import Rendezvous
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.timing.call_times import Sample, TimedCall
from ipyjaxbench.timing.samples import Samples
from tests.cluster.threads import ThreadJob, run_ranks

_NO_FRAMEWORK = cast("Framework", None)  # a rendezvous hands it on only


def ended(job: ThreadJob, *, counted: str) -> int:
    """How many calls a rank counts, of two of the warm-up and one sample."""
    samples = Samples(warmup=[TimedCall(5, 5, 0, 5, compiled=False)] * 2)
    steady: Any = SimpleNamespace(
        samples=samples, error=None, run=lambda _: None, calls=SimpleNamespace(),
        options=SimpleNamespace(number=1),
    )  # fmt: skip
    later: Any = SimpleNamespace(
        typical=0, session=SimpleNamespace(calls=SimpleNamespace(interrupt=None))
    )
    rendezvous = Rendezvous(job, _NO_FRAMEWORK, "run", 10, FakeClock())
    role = Lead(rendezvous) if rendezvous.leads else Follow(rendezvous)
    with rendezvous.taking_part():
        if rendezvous.leads:
            if counted == "as samples":
                samples.use_warmup_as_samples()
            elif counted == "as one sample":
                samples.use_warmup_as_one_sample(cast("Any", None), 0)
        samples.taken.append(Sample(1, 5, 5))
        if rendezvous.leads:  # merged, as calls that differ are
            samples.taken = [Sample(sum(each.calls for each in samples.taken), 15, 15)]
        role.run(later, steady, cast("Any", None))
        role.end()
    return sum(each.calls for each in samples.taken)


@pytest.mark.parametrize(
    ("counted", "calls"), [("as samples", 3), ("as one sample", 3), ("never", 1)]
)
def test_the_warmup_counts_in_each_rank_or_in_none(counted: str, calls: int) -> None:
    found = run_ranks(3, lambda job: ended(job, counted=counted))
    assert found == [calls] * 3
