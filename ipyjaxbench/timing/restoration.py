"""Puts back, when all calls were made, what the calls after the first one changed."""

from collections.abc import Iterator
from contextlib import contextmanager

from ipyjaxbench.frameworks import Checkpoint, Scope, forget_failures, loaded
from ipyjaxbench.timing.session import LaterCalls
from ipyjaxbench.usercode import Muted, Snippet


@contextmanager
def measured_again(snippet: Snippet) -> Iterator[None]:
    """Put back what measuring code changes that has run before, and show nothing that it prints."""
    __tracebackhide__ = True
    frameworks, _ = loaded()
    scope = Scope(snippet, frameworks)
    reached = {**scope.read_values, **scope.called, **scope.captured}
    before = Checkpoint(reached, frameworks, snippet.names, snippet.codes)
    try:
        with Muted():
            yield
    finally:
        before.restore()
        before.restore_again()


def put_back(later: LaterCalls) -> list[str]:
    """Put names, objects and random state back; return names of what could not be put back."""
    first, checkpoint, calls = later.first, later.checkpoint, later.session.calls
    forget_failures(later.frameworks)  # of our own calls: no later cell is to be told of them
    later.jobs.end()
    first.carryover.growth.end(calls.made - calls.set_up_at)
    first.donated.restore()
    checkpoint.restore()
    lost = later.snapshot.restore(later.frameworks, checkpoint.revived)
    checkpoint.restore_again()
    checkpoint.restored += later.snapshot.revived
    later.rewind.give_up()
    calls.end()
    known = checkpoint.known if later.session.options.restore else ()
    reset = later.rewind.names if later.rewind.is_on else ()
    changed = later.changes.changed_names(known, checkpoint.unread, checkpoint.restored, reset)
    told = [*lost, *checkpoint.failed, *changed]
    told = [name for name in told if name not in checkpoint.meanwhile]
    return [*told, *first.files.names(apart=told)]
