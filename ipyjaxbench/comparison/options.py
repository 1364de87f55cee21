"""How several statements are to be compared."""

from collections.abc import Sequence
from dataclasses import dataclass

from ipyjaxbench.errors import OptionError
from ipyjaxbench.option import check_numbers, flag, option
from ipyjaxbench.validation import digits, seconds, swept

_MAX_LABEL_LENGTH = 24  # so that a table of arms fits into 80 columns


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
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
        "compare at each of these values: n=100,300 or n=2**6..2**12",
        several=True,
    )
    #: None leaves it to `usual`.
    budget: float | None = option(
        None, "-b, --budget", seconds, "seconds to spend after the first calls ({usual:g} an arm)"
    )
    #: Seconds for each arm where no budget is given.
    usual: float = 2.2
    keep_going: bool = flag(
        "--keep-going", "where an arm fails, go on to the next cell all the same"
    )
    align: bool = flag("--align", "all CPUs and full matrix precision for all arms")
    #: Relative half width of the widest ratio's interval at which to stop.
    target: float = 0.02
    precision: int = option(3, "-p, --precision", digits, "significant digits shown ({precision})")
    restore: bool = flag(
        "--no-restore", "leave what later calls change in place, and copy nothing", default=True
    )

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        check_numbers(self)

    def check(self, labels: Sequence[str]) -> None:
        """Refuse a baseline that is no arm, the same arm twice, and fewer than two arms."""
        if len(labels) < 2:
            given = f"only one arm, {labels[0]!r}" if labels else "no arms"
            raise OptionError(f"{given}: a comparison needs at least two arms")
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise OptionError(f"{twice[0]!r} appears twice: labels must be unique")
        long = next((label for label in labels if len(label) > _MAX_LABEL_LENGTH), None)
        if long is not None:
            raise OptionError(
                f"{long!r} is too long: a label has at most {_MAX_LABEL_LENGTH} characters"
            )
        if self.baseline is not None and self.baseline not in labels:
            raise OptionError(
                f"baseline {self.baseline!r}: no such arm; the arms are {', '.join(labels)}"
            )

    def seconds_for(self, arms: int) -> float:
        """Return what to spend after the first calls."""
        return self.usual * arms if self.budget is None else self.budget
