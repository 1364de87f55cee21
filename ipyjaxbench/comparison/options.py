"""How several statements are to be compared."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ipyjaxbench import ratios
from ipyjaxbench.comparison.scaling import KINDS
from ipyjaxbench.errors import OptionError
from ipyjaxbench.frameworks import JobOptions
from ipyjaxbench.option import (
    Option,
    check_fields,
    flag,
    option,
    options,
    options_of,
    refuse_together,
    unlisted,
)
from ipyjaxbench.timing import AIMS
from ipyjaxbench.validation import checked, digits, label, name as valid_name, seconds, swept, whole

#: Between the ends of a range of swept values.
RANGE_SIGN = ".."
#: Fields that mean nothing where kept results are compared.
_OF_CELL = (
    "sweep",
    "scaling",
    "engines",
    "timeout",
    "number",
    "repeat",
    "budget",
    "aim",
    "name",
    "align",
)


@dataclass(frozen=True, kw_only=True)
class CompareOptions(JobOptions):
    """How several statements are to be compared; each option says what it does."""

    baseline: str | None = option(
        None,
        "--baseline numpy",
        str,
        "label of the arm to compare with (the first)",
        names="labels",
    )
    #: Names with their values, which stay text until their namespace is known.
    sweep: tuple[tuple[str, str], ...] = option(
        (),
        "--sweep n=100,300",
        swept,
        "compare at each of these values: n=100,300 or n=2**6..2**12; engines=1,2,4 compares"
        " numbers of engines",
        several=True,
    )
    #: None lets the code decide.
    scaling: Literal["strong", "weak"] | None = option(
        None,
        "--scaling strong",
        KINDS,
        "with --sweep engines=1,2: the work is divided (strong, if the code reads engines) or each"
        " engine does all of it (weak)",
    )
    #: None lets the clock's resolution decide.
    number: int | None = option(None, "-n, --number", whole, "calls per sample, for every arm")
    #: None stops when the ratios are steady.
    repeat: int | None = option(
        None, "-r, --repeat", whole, "samples of each arm (20 when only -n is given)"
    )
    #: None leaves it to the aim.
    budget: float | None = option(
        None, "-b, --budget", seconds, "seconds to spend after the first calls ({usual:g} per arm)"
    )
    aim: str = options(
        "usual",
        Option("--quick", "quick", "stop at +-5 %, or after 0.5 s per arm (or -b)"),
        Option("--precise", "precise", "stop at +-0.5 %, or after 10 s per arm (or -b)"),
    )
    #: Seconds for each arm where neither a budget nor another aim is given.
    usual: float = unlisted(2.2, seconds, 5)
    name: str | None = option(
        None,
        "--name before",
        valid_name,
        "keep each arm as before.LABEL, for %fwcompare and --against",
        names="kept",
    )
    keep_going: bool = flag("--keep-going", "do not stop the notebook when an arm fails")
    align: bool = flag("--align", "all CPUs and full matrix precision for every arm")
    precision: int = option(3, "-p, --precision", digits, "significant digits shown ({precision})")
    restore: bool = flag(
        "--no-restore", "do not undo what repeated calls change in place", default=True
    )

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        check_fields(self)
        refuse_together(self, ("number", "repeat"), ("budget", "aim"))
        self._refuse_two_sweeps()

    def _refuse_two_sweeps(self) -> None:
        """Refuse a name that is swept twice: which of its values are meant is not known."""
        for (name, first), (other, second) in itertools.combinations(self.sweep, 2):
            if name == other:
                is_list = not any(RANGE_SIGN in text for text in (first, second))
                one = f"type one --sweep {name}={first},{second}"
                raise OptionError(
                    f"--sweep {name}={first} and --sweep {name}={second}: {name} is swept twice:"
                    f" {one if is_list else 'leave out one of them'}"
                )

    def check(self, labels: Sequence[str]) -> None:
        """Refuse labels that break their rule, and what `check_names` refuses."""
        check_labels(labels)
        self.check_names(labels)

    def check_names(self, labels: Sequence[str]) -> None:
        """Refuse a baseline that is no arm, the same arm twice, and fewer than two arms."""
        if len(labels) < 2:
            given = f"only one arm, {labels[0]!r}" if labels else "no arms"
            raise OptionError(f"{given}: a comparison needs at least two arms")
        twice = [each for each in labels if labels.count(each) > 1]
        if twice:
            raise OptionError(f"{twice[0]!r} appears twice: labels must be unique")
        if self.baseline is not None and self.baseline not in labels:
            raise OptionError(
                f"baseline {self.baseline!r}: no such arm; the arms are {', '.join(labels)}"
            )

    def needs_cell(self) -> str:
        """Return a flag that was typed and means nothing for kept results; "" where none was."""
        changed = {
            name for name in _OF_CELL if getattr(self, name) != getattr(CompareOptions, name)
        }
        typed = (row for row in options_of(CompareOptions) if row.field in changed)
        flags = (row.flags[0] for row in typed if row.field != "aim" or row.value == self.aim)
        return next(flags, "")

    def seconds_for(self, arms: int) -> float:
        """Return what to spend after the first calls; an aim has its seconds for each arm."""
        if self.budget is not None:
            return self.budget
        return (AIMS[self.aim][1] or self.usual) * arms

    @property
    def target(self) -> float:
        """Relative half width of the widest ratio's interval at which to stop."""
        return AIMS[self.aim][0]

    @property
    def samples(self) -> int | None:
        """How many samples of each arm to take; None stops when the ratios are steady."""
        return self.repeat or (ratios.FEWEST if self.number else None)


def check_labels(labels: Sequence[str]) -> None:
    """Refuse labels that break their rule."""
    for each in labels:
        checked(each, label, typed=f"label {each!r}", example="a")
