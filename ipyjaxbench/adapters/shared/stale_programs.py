"""Compiled functions in timed code that run what was traced with other values."""

from collections.abc import Iterator, Sequence

from ipyjaxbench.reports import Note
from ipyjaxbench.retracing import CallWatch, describe_changes, stale_since_latest
from ipyjaxbench.timing import note_stale_program


def note_stale_programs(watch: CallWatch, compiled: Sequence[object]) -> Iterator[Note]:
    """Yield a note for each function whose latest program is stale."""
    for function in compiled:
        if watch.takes(function) and (changes := stale_since_latest(watch, function)):
            yield note_stale_program(watch.name(function), describe_changes(changes))
