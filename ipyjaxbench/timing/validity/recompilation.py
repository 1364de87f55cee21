"""Compiling in the samples: where more than half of them compile, that is what was timed."""

from collections.abc import Sequence

from ipyjaxbench.reports import Note
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.samples import Samples
from ipyjaxbench.timing.validity import notes as validity_notes
from ipyjaxbench.timing.validity.compiled_work import Builder

_COMPILING_SHARE = 0.25  # of a call, as far as frameworks tell it: from then on compiling was timed


def check_recompilation(
    calls: Calls,
    samples: Samples,
    compiling: float,
    built: Builder | None,
    reused: Sequence[str] | None = (),
) -> list[Note]:
    """Note that calls compile; leave out samples that do where they are rare.

    ``compiling`` is in seconds, of all calls; ``built`` has the code make a new function each time,
    and those of ``reused`` are made only once, which may be unknown.
    """
    late = sum(samples.compiled)
    if 2 * late > len(samples.taken):
        per_call = compiling / max(calls.made - 1, 1)
        if built is None and 0 < per_call * 1e9 < _COMPILING_SHARE * samples.per_call:
            return [validity_notes.compiles_too(per_call, samples.per_call * 1e-9)]
        cause = built.name if built else ""
        return [validity_notes.recompiles(late, len(samples.taken), per_call, cause, reused)]
    if late:
        samples.leave_out({i for i, compiled in enumerate(samples.compiled) if compiled})
        return [notes.compiled_late(late)]
    return []
