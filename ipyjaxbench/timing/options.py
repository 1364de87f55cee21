"""How one statement is to be timed."""

from dataclasses import dataclass, fields
from typing import Literal

from ipyjaxbench.errors import OptionError, short_init_errors
from ipyjaxbench.frameworks import JobOptions
from ipyjaxbench.option import (
    Option,
    check_fields,
    flag,
    option,
    options,
    refuse_together,
    unlisted,
)
from ipyjaxbench.validation import (
    NEWEST_OR_FASTEST,
    digits,
    few,
    name as valid_name,
    seconds,
    trace_file,
    whole,
)

#: Aim -> relative half width of the interval, and seconds to spend on reaching it; None: as usual.
AIMS = {"quick": (0.05, 0.5), "usual": (0.02, None), "precise": (0.005, 10.0)}

#: Fields for calls that are repeated, or made elsewhere: a loop runs once, here.
_NOT_OF_LOOPS = (
    *("number", "repeat", "budget", "aim", "name", "against", "clock", "passes", "fresh", "ops"),
    *("trace", "profile", "energy", "cold", "memory", "restore", "engines"),
)


@short_init_errors
@dataclass(frozen=True, kw_only=True)
class TimeOptions:
    """How one statement is to be timed; each option says what it does."""

    #: None lets the clock's resolution decide.
    number: int | None = option(
        None, "-n, --number", whole, "calls per sample; with -r, exactly N times R calls"
    )
    #: None stops when the figure is steady.
    repeat: int | None = option(
        None, "-r, --repeat", whole, "number of samples (7 if only -n is given)"
    )
    #: None leaves it to the aim.
    budget: float | None = option(
        None, "-b, --budget", seconds, "seconds to spend after the first call ({usual:g})"
    )
    aim: str = options(
        "usual",
        Option("--quick", "quick", "stop at +-5 %, or after 0.5 s (or -b)"),
        Option("--precise", "precise", "stop at +-0.5 %, or after 10 s (or -b)"),
    )
    #: Seconds to spend where neither a budget nor another aim is given.
    usual: float = unlisted(2.0, seconds, 5)
    precision: int = option(3, "-p, --precision", digits, "significant digits shown ({precision})")
    name: str | None = option(
        None,
        "--name before",
        valid_name,
        "keep the result under this name, for --against and %fwcompare",
        names="kept",
    )
    against: str | None = option(
        None,
        "--against last",
        NEWEST_OR_FASTEST,
        "compare with a kept result: its name, or the last or best run of this code",
        names="kept",
    )
    clock: Literal["elapsed", "calendar", "cpu"] = options(
        "elapsed",
        Option("-t, --calendar", "calendar", "read time.time() instead of the most precise clock"),
        Option("-c, --cpu", "cpu", "measure CPU time of the process, not elapsed time"),
    )
    fresh: int = option(
        0, "--fresh", few,
        "also time a cold call, compiled again; N: N of them, and calls of each program",
        bare=1,
    )  # fmt: skip
    passes: bool = flag(
        "--passes",
        "like --fresh, and list the longest passes of compiling and the lines behind them",
    )
    profile: bool = flag(
        "--profile", "profile a few extra calls: how long devices are busy", old="--device"
    )
    ops: bool = flag("--ops", "like --profile, and list the slowest operations")
    trace: str | None = option(
        None,
        "--trace step.json.gz",
        trace_file,
        "like --profile, and write that pass to a file for ui.perfetto.dev",
    )
    energy: bool = flag(
        "--energy", "two seconds of extra calls: joules per call, by the GPU driver's counter"
    )
    cold: bool = flag(
        "--cold", "extra calls with cold caches: other data is written before each of them"
    )
    memory: bool = flag(
        "--memory", "up to two more calls: the most memory a call needs at once, and for what"
    )
    restore: bool = flag(
        "--no-restore", "do not undo what repeated calls change in place", default=True
    )

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        if isinstance(self.fresh, bool):
            object.__setattr__(self, "fresh", int(self.fresh))
        check_fields(self)
        refuse_together(self, ("number", "repeat"), ("budget", "aim"))
        if self.passes and not self.fresh:
            object.__setattr__(self, "fresh", 1)
        if self.ops or self.trace is not None:
            object.__setattr__(self, "profile", True)

    @property
    def target(self) -> float:
        """Relative half width of the interval at which the figure is steady."""
        return AIMS[self.aim][0]

    @property
    def seconds(self) -> float:
        """What to spend after the first call."""
        by_aim = AIMS[self.aim][1]
        return next(s for s in (self.budget, by_aim, self.usual) if s is not None)


@dataclass(frozen=True, kw_only=True)
class LoopOptions:
    """Which loop's steps are to be timed, instead of repeated calls."""

    loop: bool = flag(
        "--loop", "run the cell once: where the time of its training loop's steps goes"
    )
    line: int | None = option(
        None, "--line", whole, "with --loop, the loop in this line (the innermost that computes)"
    )


@dataclass(frozen=True, kw_only=True)
class FwtimeOptions(LoopOptions, JobOptions, TimeOptions):
    """Options of ``%fwtime``: how a statement is to be timed, and in which processes."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense for a cell that runs once."""
        super().__post_init__()
        if self.line is not None and not self.loop:
            raise OptionError(
                f"--line {self.line} needs --loop: %%fwtime --loop --line {self.line}"
            )
        if self.loop:
            refuse_together(self, ("loop",), _NOT_OF_LOOPS)

    @property
    def timing(self) -> TimeOptions:
        """How it is to be timed."""
        return TimeOptions(**{own.name: getattr(self, own.name) for own in fields(TimeOptions)})
