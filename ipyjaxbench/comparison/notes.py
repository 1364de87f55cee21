"""Notes on what differs between the arms of a comparison."""

import math
from collections.abc import Mapping, Sequence
from functools import partial

from ipyjaxbench import units
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.option import spell
from ipyjaxbench.reports import CHANGES_MEANING, Note

_WORTH_WAITING_SECONDS = 3600.0
#: Codes of the Notes that say that arms do not do the same work on the same terms.
UNLIKE = {"other-result", "other-data", "other-dtype", "other-device", "other-threads",
          "other-precision", "half-alone", "copies-alone"}  # fmt: skip
#: Of these, those that say what each arm has: "Different dtypes: float32 (a); float64 (b)."
NAMED = {"other-device", "other-dtype", "other-precision", "other-threads"}
_APART = "time each arm on its own: with %fwtime --name and %fwcompare, or with measure"
#: Codes of the Notes on what to ask for where arms cannot be told apart.
UNDECIDED = ("few-samples", "undecided")
misleading = partial(Note, mark=CHANGES_MEANING)


def arm_failed(label: str, error: str) -> Note:
    """An arm raised."""
    return misleading("arm-failed", f"{label} failed: {error}.")


def not_compared(labels: str, why: str) -> Note:
    """The results are nothing that can be compared."""
    return Note("not-compared", f"The results of {labels} were not compared: {why}.")


def other_result(label: str, base: str, how: str) -> Note:
    """An arm computes something else; ``how`` begins with a colon or a blank, or is empty."""
    return misleading(
        "other-result",
        f"The result of {label} differs from that of {base}{how}.",
        "compare code that computes the same result",
    )


def other_data(label: str, name: str, base: str, mine: str) -> Note:
    """An arm reads other numbers."""
    if name == mine:  # their own setup makes it
        read, advice = (
            f"{base} and {label} read {name}, each its own",
            f"make {name} once, for both",
        )
    else:
        read = f"{label} reads {name}, {base} reads {mine}"
        advice = f"make {name} from {mine}, or both from one array"
    return misleading("other-data", f"Different inputs: {read}, and their values differ.", advice)


def other_dtype(groups: Mapping[str, Sequence[str]]) -> Note:
    """The results have different dtypes."""
    advice = "give every arm the same dtype, for example with x.astype('float32')"
    return misleading("other-dtype", f"Different dtypes: {_words(groups)}.", advice)


def other_device(groups: Mapping[str, Sequence[str]]) -> Note:
    """The results are on different kinds of device."""
    advice = "move the data of every arm to the same device"
    return misleading("other-device", f"Different devices: {_words(groups)}.", advice)


def other_precision(groups: Mapping[str, Sequence[str]]) -> Note:
    """Products of float32 are rounded in another way."""
    advice = f"{spell(CompareOptions, align=True)} computes the products of every arm in float32"
    return misleading("other-precision", f"Different precision: {_words(groups)}.", advice)


def other_threads(groups: Mapping[str, Sequence[str]]) -> Note:
    """Operations may use different numbers of CPUs."""
    advice = f"{spell(CompareOptions, align=True)} gives every arm all CPUs"
    return misleading("other-threads", f"Different numbers of threads: {_words(groups)}.", advice)


def _words(groups: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{value} ({', '.join(labels)})" for value, labels in groups.items())


def slowed_by_others(factors: Mapping[str, float]) -> Note:
    """Arms are slower between calls of others than alone, each by its factor."""
    (first, slowed), *more = sorted(factors.items(), key=lambda arm: -arm[1])
    others = "".join(f", {label} {units.times(factor)}" for label, factor in more)
    return misleading(
        "slowed-by-others",
        f"{first} takes {units.times(slowed)} as long interleaved as alone{others}: threads of"
        " other arms, or other programs, compete for the CPUs.",
        _APART,
    )


def depends_on_interleaving(label: str, base: str, factor: str, alone: float) -> Note:
    """Two arms compare in another way when each runs alone; ``factor`` is that of interleaving."""
    return misleading(
        "depends-on-interleaving",
        f"{label} takes {factor} the time of {base} interleaved, and {units.times(alone)} when each"
        " runs alone: the arms affect each other, for example through caches or threads.",
        _APART,
    )


def undecided(labels: Sequence[str], spent: float, needed: float, samples: int | None) -> Note:
    """Some arms may be faster or slower than the baseline; an answer takes seconds in all.

    ``samples`` of each arm take as long; None where seconds were given, not samples.
    """
    text = f"{', '.join(labels)}: undecided after {units.duration(spent, 2)}."
    if needed > _WORTH_WAITING_SECONDS:
        return Note("undecided", text, "run it again when the machine is quieter")
    seconds = math.ceil(needed)
    about = f" (about {units.duration(seconds, 2)})" if seconds >= 60 or samples else ""
    typed = spell(CompareOptions, repeat=samples) if samples else _budget(seconds)
    return Note("undecided", text, f"{typed} for an answer{about}")


def few_samples(labels: Sequence[str], samples: int, fewest: int, seconds: float | None) -> Note:
    """Some arms have fewer samples than an answer takes, which takes these seconds.

    None stands for a number of samples that was asked for.
    """
    taken = units.count(samples, "sample")
    text = f"{', '.join(labels)}: undecided: {taken} of each arm, at least {fewest} are needed."
    typed = spell(CompareOptions, repeat=fewest) if seconds is None else _budget(math.ceil(seconds))
    return Note("few-samples", text, typed)


def _budget(seconds: int) -> str:
    return spell(CompareOptions, budget=seconds)


def eager_beside_compiled(eager: Sequence[str], compiled: Sequence[str]) -> Note:
    """Some arms of a framework are compiled, others are not."""
    are, are_not = ("is" if len(labels) == 1 else "are" for labels in (compiled, eager))
    return Note(
        "eager-beside-compiled",
        f"{', '.join(compiled)} {are} compiled, {', '.join(eager)} {are_not} not.",
    )


def half_alone(label: str, half: Note) -> Note:
    """An arm computes less than others, to the same result."""
    text = f"Not like for like: only {label} does half the work. {half.text}"
    return misleading("half-alone", text, half.advice)


def copies_alone(label: str, copied: Note) -> Note:
    """An arm copies data that others have where they need it."""
    return misleading(
        "copies-alone",
        f"Not like for like: only {label} copies data. {copied.text}",
        "make the copy in the setup, so that it is not timed",
    )
