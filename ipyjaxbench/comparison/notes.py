"""Notes on what differs between the arms of a comparison."""

from collections.abc import Mapping, Sequence
from functools import partial

from ipyjaxbench import units
from ipyjaxbench.reports import CHANGES_MEANING, Note

misleading = partial(Note, mark=CHANGES_MEANING)


def arm_failed(label: str, error: str) -> Note:
    """An arm raised."""
    return misleading("arm-failed", f"{label} failed: {error}.")


def not_compared(labels: str, why: str) -> Note:
    """The results are nothing that can be compared."""
    return Note("not-compared", f"What {labels} give could not be compared: {why}.")


def other_result(label: str, base: str, how: str) -> Note:
    """An arm computes something else; ``how`` begins with a colon or a blank, or is empty."""
    return misleading(
        "other-result",
        f"{label} gives another result than {base}{how}.",
        "compare code that computes the same",
    )


def other_data(label: str, name: str, base: str, mine: str) -> Note:
    """An arm reads other numbers."""
    return misleading(
        "other-data",
        f"{label} reads other numbers in {name} than {base} in {mine}.",
        f"make {name} of {mine}, or both of one array",
    )


def other_dtype(groups: Mapping[str, Sequence[str]]) -> Note:
    """The results have different dtypes."""
    advice = "give all of them the same dtype, as in x.astype('float32')"
    return misleading("other-dtype", f"The dtypes differ: {_words(groups)}.", advice)


def other_device(groups: Mapping[str, Sequence[str]]) -> Note:
    """The results are on different kinds of device."""
    advice = "move the data of all of them to the same device"
    return misleading("other-device", f"The devices differ: {_words(groups)}.", advice)


def other_threads(groups: Mapping[str, Sequence[str]]) -> Note:
    """Operations may use different numbers of CPUs."""
    return misleading("other-threads", f"The threads differ: {_words(groups)}.", "--align")


def _words(groups: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{value}: {', '.join(labels)}" for value, labels in groups.items())


def slowed_by_others(label: str, factor: float) -> Note:
    """An arm is slower in turns than alone."""
    return misleading(
        "slowed-by-others",
        f"{label} takes {units.times(factor)} as long in turns with the others as alone: the"
        " others' threads, or other programs, take time from it.",
        "time it alone with %fwtime --name, and compare what was kept",
    )


def eager_beside_compiled(eager: Sequence[str], compiled: Sequence[str]) -> Note:
    """Some arms of a framework are compiled, others are not."""
    verb = "is" if len(compiled) == 1 else "are"
    return Note(
        "eager-beside-compiled",
        f"{', '.join(compiled)} {verb} compiled, and {', '.join(eager)} not.",
    )


def half_alone(label: str, half: Note) -> Note:
    """An arm computes less than others, to the same result."""
    return misleading(
        "half-alone", f"{label} alone does half of the work: {half.text}", half.advice
    )


def copies_alone(label: str, copied: Note) -> Note:
    """An arm copies data that others have where they need it."""
    return misleading(
        "copies-alone",
        f"{label} alone copies: {copied.text[0].lower()}{copied.text[1:]}",
        "make the copy above, and compare without it",
    )
