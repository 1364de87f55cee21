"""The result of comparing several pieces of code."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from ipyjaxbench import ratios
from ipyjaxbench.comparison import notes
from ipyjaxbench.ratios import Ratio
from ipyjaxbench.record_types import NonNegativeFloat, PositiveFloat
from ipyjaxbench.reports import CHANGES_MEANING, Note, Result
from ipyjaxbench.timing import NO_FIGURE, Measurement, product_format

#: Codes of an arm's Notes that say nothing about the comparison, and of others that say something
#: about it, though they do not change what a figure means.
_LEFT_OUT_CODES, _SHOWN_CODES = (
    {"unsynchronised"},
    {"output-hidden", "not-all-kept", "not-all-followed"},
)
#: Of an arm's Note that says why its result, and its time, may be others than the code's.
_STALE = "stale-program"
#: Of an arm's Note that says that its time depends on how many calls were made.
_GROWS = "grows"


def grows(m: Measurement) -> bool:
    """Return whether calls made a container longer that they work on."""
    return any(note.code == _GROWS for note in m.notes)


@dataclass(frozen=True)
class ArmResult:
    """One arm of a comparison."""

    label: str  # its name
    measured: Measurement | None  # what was found; None where its first call failed
    failed: str = ""  # the error that ended it, in one line; empty where none did


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Several pieces of code, compared; all times in seconds.

    Attributes:
        sides: the arms, in the order of the cell.
        baseline: label of the arm that the others are compared with.
        interleaved: whether samples of all arms were interleaved, so that the n-th samples of all
            arms belong together. Arms that ended early have fewer.
        elapsed: seconds of all calls after the first ones.
        equal: what is the same in all arms.
        notes: what to know before trusting the ratios.
        alone: seconds of a call of each arm before the samples, without the other arms.

    Example:
        >>> # compare({"eager": f, "jitted": jax.jit(f)}, x).ratio("jitted").verdict
    """

    kind: ClassVar[str] = "comparison"

    sides: tuple[ArmResult, ...]
    baseline: str
    interleaved: bool = True
    elapsed: NonNegativeFloat = 0.0
    equal: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    alone: dict[str, PositiveFloat] = field(default_factory=dict)

    def __getitem__(self, label: str) -> Measurement:
        """Return the measurement of an arm; KeyError where there is none."""
        self._check_label(label)
        arm = next(each for each in self.sides if each.label == label)
        if arm.measured is None:
            raise KeyError(f"{label} {'failed: ' + arm.failed if arm.failed else 'was not run'}")
        return arm.measured

    def _check_label(self, label: str) -> None:
        labels = [arm.label for arm in self.sides]
        if label not in labels:
            raise KeyError(f"{label!r} is none of the arms: {', '.join(labels)}")

    def choose(self, names: Mapping[str, str], baseline: str) -> "Comparison":
        """Return the comparison of some of the arms only, under other names.

        Args:
            names: new label of each arm by its old one, in the order of the arms.
            baseline: new label of the arm to compare with.
        """
        by_label = {arm.label: arm for arm in self.sides}
        sides = (dataclasses.replace(by_label[old], label=new) for old, new in names.items())
        alone = {new: self.alone[old] for old, new in names.items() if old in self.alone}
        # What the run would have needed is no advice for those who look at it again.
        still = tuple(note for note in self.notes if note.code not in notes.UNDECIDED)
        return dataclasses.replace(
            self, sides=tuple(sides), baseline=baseline, notes=still, alone=alone
        )

    def ratio(self, label: str) -> Ratio | None:
        """Return an arm's time divided by the baseline's; None if one failed.

        Also None if calls lengthen a container that one of them works on: the ratio would then
        depend on the number of calls.

        Raises:
            KeyError: there is no such arm.
        """
        self._check_label(label)
        return None if self.depends_on_calls(label) else self._ratios.get(label)

    @property
    def compared(self) -> tuple[str, ...]:
        """The labels of the arms that were timed beside the baseline."""
        return tuple(self._ratios)

    def ratio_alone(self, label: str, other: str = "") -> float | None:
        """Return the ratio to another arm before they were interleaved; None if unknown.

        The other arm is the baseline if none is given.
        """
        both = self.alone.get(label), self.alone.get(other or self.baseline)
        return both[0] / both[1] if both[0] and both[1] else None

    def depends_on_interleaving(self, label: str) -> bool:
        """Return whether an arm compares differently with the baseline when each runs alone."""
        ratio, alone = self.ratio(label), self.ratio_alone(label)
        return bool(ratio and alone and ratios.contradicts(alone, ratio))

    def depends_on_calls(self, label: str) -> bool:
        """Return whether calls lengthen a container that an arm or the baseline works on."""
        both = (self._measured[n] for n in (label, self.baseline) if n in self._measured)
        return any(map(grows, both))

    @cached_property
    def against_itself(self) -> Ratio | None:
        """The baseline compared with itself: every second sample with the one before it."""
        base = self._measured.get(self.baseline)
        return ratios.against_itself(base.samples) if base and self.interleaved else None

    @property
    def floor(self) -> float:
        """The largest difference from itself that the baseline may show, as a logarithm."""
        itself = self.against_itself
        return 0.0 if itself is None else ratios.floor(itself)

    def verdict(self, label: str) -> str:
        """Return FASTER, SLOWER, SAME or CAN'T TELL; INVALID or ONCE for an arm without a figure.

        It is "" for the baseline and for what failed.

        Raises:
            KeyError: there is no such arm.
        """
        self._check_label(label)
        own = {arm.label: m.verdict for arm in self.sides if (m := arm.measured)}
        if label != self.baseline and own.get(label) in NO_FIGURE:
            return own[label]
        if label not in self.compared:
            return ""
        ratio = self.ratio(label)
        if ratio is None or own[self.baseline] in NO_FIGURE:
            return "CAN'T TELL"
        if self.depends_on_interleaving(label):
            return "CAN'T TELL"
        return ratio.verdict_above(self.floor)

    def all_notes(self) -> list[Note]:
        """Return the notes of the comparison and of its arms, each once.

        Where arms multiply float32 in different formats, a framework's default counts as much as
        what the user chose.
        """
        by_note: dict[Note, list[str]] = {}
        formats = {product_format(m.notes) for arm in self.sides if (m := arm.measured)}
        for arm in self.sides:
            for note in arm.measured.notes if arm.measured else ():
                if note.code == "default-precision" and len(formats) > 1:
                    note = dataclasses.replace(note, code="reduced-precision")  # noqa: PLW2901
                important = note.mark == CHANGES_MEANING or note.code in _SHOWN_CODES
                if important and note.code not in _LEFT_OUT_CODES:
                    by_note.setdefault(note, []).append(arm.label)
        of_arms = [
            dataclasses.replace(note, text=f"{', '.join(labels)}: {note.text}")
            for note, labels in by_note.items()
        ]
        failed = [notes.arm_failed(arm.label, arm.failed) for arm in self.sides if arm.failed]
        first = [note for note in of_arms if note.code in (_STALE, _GROWS)]
        others = [note for note in of_arms if note not in first]
        return [*failed, *first, *self._dependent(), *self.notes, *others]

    def _dependent(self) -> Iterator[Note]:
        for label in self.alone:
            ratio, alone = self.ratio(label), self.ratio_alone(label)
            if ratio and alone and self.depends_on_interleaving(label):
                yield notes.depends_on_interleaving(label, self.baseline, ratio.factor(), alone)

    @cached_property
    def _measured(self) -> dict[str, Measurement]:
        return {arm.label: m for arm in self.sides if (m := arm.measured) and m.batches}

    @cached_property
    def _ratios(self) -> dict[str, Ratio]:
        base = self._measured.get(self.baseline)
        others = {n: m for n, m in self._measured.items() if n != self.baseline}
        by_label: dict[str, Ratio] = {}
        for name, other in others.items() if base else ():
            assert base is not None
            pairs = min(len(base.samples), len(other.samples))
            if not self.interleaved:
                first, second = ((m.median, m.half_width) for m in (base, other))
                by_label[name] = ratios.unpaired(first, second, pairs)
            elif ratio := ratios.ratio(ratios.log_ratios(base.samples, other.samples), len(others)):
                by_label[name] = ratio
        return by_label

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        labels = [arm.label for arm in self.sides]
        if len(set(labels)) < len(labels):
            return "two arms have the same name"
        if self.baseline not in labels:
            return "the baseline is none of the arms"
        checked = (m.check() for arm in self.sides if (m := arm.measured))
        return next((wrong for wrong in checked if wrong), None)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each arm; times per call in seconds."""
        return [self._row(arm) for arm in self.sides]

    def _row(self, arm: ArmResult) -> dict[str, Any]:
        m, ratio = arm.measured, self.ratio(arm.label)
        lead, rerun = m and m.headline, m and m.estimate
        interval = ratio if ratio and ratio.coverage else None
        return {
            "arm": arm.label,
            "headline_s": lead and lead.value,
            "statistic": lead and lead.statistic,
            "median_s": m and m.median,
            "rerun_low_s": rerun and rerun.low,
            "rerun_high_s": rerun and rerun.high,
            "throughput_s": m and m.throughput,
            "first_call_s": m and m.first_call,
            "ratio": ratio and ratio.value,
            "ratio_low": interval and interval.low,
            "ratio_high": interval and interval.high,
            "verdict": self.verdict(arm.label),
            "failed": arm.failed,
        }

    def __repr__(self) -> str:
        """One line."""
        parts = [f"{arm.label} {self.verdict(arm.label)}".strip() for arm in self.sides]
        return f"<Comparison {', '.join(parts)}>"
