"""Which frameworks report of single calls."""

from ipyjaxbench.retracing import Retracing
from ipyjaxbench.retracing.protocol import call_watches
from tests.retracing.fake import Eager, TracingFramework


def test_a_framework_that_offers_nothing_compiles_nothing_and_reports_nothing() -> None:
    offered = Retracing(Eager())
    assert offered.call_watch() is None
    assert offered.is_tracing(((), {})) is False
    assert offered.listen(print) is False


def test_only_those_that_compile_have_a_watch(fake: TracingFramework) -> None:
    assert list(call_watches([Eager(), fake])) == [(fake, fake.watch)]
    fake.watch = None
    assert list(call_watches([fake])) == []
