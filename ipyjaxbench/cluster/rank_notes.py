"""Notes of many ranks: what differs between them, then what each says, once."""

from collections.abc import Iterator
from dataclasses import replace

from ipyjaxbench.cluster.job_measurement import JobMeasurement
from ipyjaxbench.cluster.machine_differences import describe_differing_machines
from ipyjaxbench.cluster.rank_facts import describe_differing
from ipyjaxbench.cluster.rank_names import name_ranks
from ipyjaxbench.reports import CHANGES_MEANING, Note

_MAX_NOTES = 8
_OF_ONE_PROCESS = "processes"  # what one process says where the others are not seen


def list_notes(job: JobMeasurement) -> tuple[Note, ...]:
    """Return what to know before believing a job's figures, the most important first."""
    found = [*_differences(job), *_shared(job)]
    found.sort(key=lambda note: note.mark != CHANGES_MEANING)
    if len(found) > _MAX_NOTES:
        rest = len(found) - _MAX_NOTES + 1
        found[_MAX_NOTES - 1 :] = [Note("", f"{rest} more notes: `r.ranks[0].measurement.notes`.")]
    return tuple(found)


def _differences(job: JobMeasurement) -> Iterator[Note]:
    """Yield what ranks do not have in common."""
    known = [(job.labels[each.rank], each.facts) for each in job.ranks if each.facts is not None]
    for words in describe_differing([(label, facts) for label, facts in known if facts]):
        yield Note("ranks-differ", words)
    conditions = [(job.labels[each.rank], each.measurement.conditions) for each in job.ranks]
    for words in describe_differing_machines([(label, c) for label, c in conditions if c]):
        yield Note("ranks-differ", words)
    compiled = [job.labels[each.rank] for each in job.ranks if each.measurement.compilations]
    if compiled and len(compiled) < len(job.ranks):
        words = f"{name_ranks(compiled)} compiled in the first call, the others did not"
        yield Note("ranks-differ", f"{words}: the first call of all took that long.")


def _shared(job: JobMeasurement) -> Iterator[Note]:
    """Yield each rank's notes, those of one kind once; ranks are named where not all have it."""
    first: dict[str, Note] = {}
    labels: dict[str, list[str]] = {}
    said: dict[str, dict[str, list[str]]] = {}
    for each in job.ranks:
        for note in each.measurement.notes:
            if note.code == _OF_ONE_PROCESS:
                continue
            key = note.code or note.text
            if key not in first or note.mark == CHANGES_MEANING:
                first[key] = note
            own = labels.setdefault(key, [])
            label = job.labels[each.rank]
            own.extend([label] if label not in own else [])
            said.setdefault(key, {}).setdefault(note.text, []).append(label)
    for key, note in first.items():
        alike = said[key]
        if len(alike) == 1 and len(labels[key]) == len(job.ranks):
            yield note
            continue
        others = [label for text, all_labels in alike.items() if text != note.text
                  for label in all_labels]  # fmt: skip
        more = f" Similar in {name_ranks(others)}." if others else ""
        yield replace(note, text=f"{name_ranks(alike[note.text])}: {note.text}{more}")
