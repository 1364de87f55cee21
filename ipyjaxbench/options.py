"""What can be asked of each verb: frozen, and checked when it is made."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ipyjaxbench.errors import OptionError
from ipyjaxbench.validation import checked, digits, seconds, share, whole

#: Forms of a program by framework, in the order in which a compiler makes them; the first is what
#: is shown where none is asked for.
STAGES = {
    "jax": ("jaxpr", "stablehlo", "hlo", "optimized"),
    "torch": ("aten", "dynamo", "export"),
    "tensorflow": ("tf", "stablehlo", "hlo", "optimized"),
}
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")
_LONGEST_LABEL = 24  # so that a table of arms fits into 80 columns
#: Aim -> relative half width of the interval, and seconds to spend on reaching it; None: as usual.
_AIMS = {"quick": (0.05, 0.5), "usual": (0.02, None), "precise": (0.005, 10.0)}


@dataclass(frozen=True, kw_only=True)
class ShownOptions:
    """What becomes of a result.

    Attributes:
        quiet: show nothing (``-q``).
        returned: return the result object (``-o``).
        variable: name that gets the result object (``-v``).
    """

    quiet: bool = False
    returned: bool = False
    variable: str | None = None


@dataclass(frozen=True, kw_only=True)
class TimeOptions(ShownOptions):
    """How one statement is to be timed and shown.

    Attributes:
        number: calls per sample (``-n``); None lets the clock's resolution decide.
        repeat: number of samples (``-r``); None stops when the figure is steady.
        aim: "quick" (``--quick``), "usual" or "precise" (``--precise``).
        budget: seconds to spend after the first call (``-b``); None leaves it to the aim.
        usual: seconds to spend where neither these nor another aim are given.
        precision: significant digits shown (``-p``).
        name: under which the result is kept for ``%fwcompare`` (``--name``).
        clock: "elapsed", "calendar" (``-t``) or "cpu" (``-c``).
        fresh: make one more call, cold (``--fresh``).
        device: make a profiled pass after the samples (``--device``).
        ops: list the operations that it saw (``--ops``, which implies ``--device``).
        against: a kept one to hold it against: a name, "last" or "best" (``--against``).
        restore: put back what later calls change in place (not ``--no-restore``).
    """

    number: int | None = None
    repeat: int | None = None
    aim: str = "usual"
    budget: float | None = None
    usual: float = 2.0
    precision: int = 3
    name: str | None = None
    clock: Literal["elapsed", "calendar", "cpu"] = "elapsed"
    fresh: bool = False
    device: bool = False
    ops: bool = False
    against: str | None = None
    restore: bool = True

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        checks = (("-n", self.number, whole), ("-r", self.repeat, whole))
        if self.budget is not None and (self.number or self.repeat):
            raise OptionError(
                f"-b {self.budget:g} goes without -n and -r: they say how many calls are made"
            )
        if self.aim not in _AIMS:
            raise OptionError(f"aim {self.aim!r}: it is one of {', '.join(_AIMS)}")
        for flag, value, rule in (*checks, ("-b", self.budget, seconds)):
            if value is not None:
                checked(flag, str(value), rule)
        checked("-p", str(self.precision), digits)
        if self.ops:
            object.__setattr__(self, "device", True)

    @property
    def target(self) -> float:
        """Relative half width of the interval at which the figure is steady."""
        return _AIMS[self.aim][0]

    @property
    def seconds(self) -> float:
        """What to spend after the first call."""
        by_aim = _AIMS[self.aim][1]
        return next(s for s in (self.budget, by_aim, self.usual) if s is not None)


@dataclass(frozen=True, kw_only=True)
class CompareOptions(ShownOptions):
    """How several statements are to be compared and shown.

    Attributes:
        baseline: label of the arm that the others are compared with; None takes the first.
        budget: seconds to spend after the first calls; None leaves it to ``usual``.
        usual: seconds for each arm where no budget is given.
        sweep: names with the values that they are to take, as typed.
        align: give all frameworks all CPUs and full precision, for as long as it takes.
        keep_going: raise nothing at the end where an arm failed and others did not.
        target: relative half width of the widest ratio's interval at which to stop.
        precision: significant digits shown.
        restore: put back what later calls change in place (not ``--no-restore``).
    """

    baseline: str | None = None
    sweep: tuple[tuple[str, str], ...] = ()
    budget: float | None = None
    usual: float = 2.2
    align: bool = False
    keep_going: bool = False
    target: float = 0.02
    precision: int = 3
    restore: bool = True

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        if self.budget is not None:
            checked("-b", str(self.budget), seconds)

    def check(self, labels: Sequence[str]) -> None:
        """Refuse a baseline that is no arm, the same arm twice, and fewer than two arms."""
        if len(labels) < 2:
            raise OptionError("a comparison needs two arms")
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise OptionError(f"{twice[0]!r} stands there twice: a comparison needs two arms")
        long = next((label for label in labels if len(label) > _LONGEST_LABEL), None)
        if long is not None:
            raise OptionError(f"{long!r}: a label has {_LONGEST_LABEL} characters at most")
        if self.baseline is not None and self.baseline not in labels:
            raise OptionError(f"--baseline {self.baseline}: the arms are {', '.join(labels)}")

    def seconds_for(self, arms: int) -> float:
        """What to spend after the first calls."""
        return self.usual * arms if self.budget is None else self.budget


@dataclass(frozen=True, kw_only=True)
class GraphOptions(ShownOptions):
    """Which form of a program is to be shown, and how much of it.

    Attributes:
        stage: one of STAGES (``--stage``, ``--dynamo``, ``--export``); None takes the first one of
            the framework.
        platform: for which it is lowered (``--platform``); None takes the default device's.
        depth: levels of inner programs that a long text shows (``--depth``); None shows all.
        find: show only lines with this text (``--find``).
        stats: how often each primitive is computed, and what the compiler counts (``--stats``).
        src: how much each line of code computes (``--src``).
        mermaid: draw it (``--mermaid``).
        shapes: types and shapes of the arguments, where the code is a function (``--shapes``).
        diff: another call, or "last", whose program this one is held against (``--diff``).
        on: chips whose compilers are asked for an estimate (``--on``).
        shard: arguments with the axis that is cut into a part for each chip (``--shard``).
        grad: the gradient of the call by its first argument (``--grad``).
        vmap: the call for each row of its arrays (``--vmap``).
        numpy: what the code computes with NumPy is computed with jax.numpy (``--np``).
        check: say what the program holds that may not be expected (``--check``).
        tb: show the whole traceback where tracing fails (``--tb``).
    """

    stage: str | None = None
    platform: str | None = None
    depth: int | None = 1
    find: str | None = None
    stats: bool = False
    src: bool = False
    mermaid: bool = False
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    diff: str | None = None
    on: tuple[str, ...] = ()
    shard: tuple[tuple[str, int], ...] = ()
    grad: bool = False
    vmap: bool = False
    numpy: bool = False
    check: bool = False
    tb: bool = False

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        stages = tuple(dict.fromkeys(stage for each in STAGES.values() for stage in each))
        if self.stage is not None and self.stage not in stages:
            raise OptionError(f"--stage {self.stage}: it is one of {', '.join(stages)}")
        if self.platform is not None and self.platform not in PLATFORMS:
            raise OptionError(f"--platform {self.platform}: it is one of {', '.join(PLATFORMS)}")
        if self.platform is not None and self.stage not in ("stablehlo", "hlo"):
            raise OptionError("--platform goes with --stage stablehlo or --stage hlo")
        if self.shard and not self.on:
            raise OptionError("--shard goes with --on and several chips, as in --on tpu:v5e:2x2")

    @property
    def details(self) -> tuple[str, ...]:
        """What is to be said beyond the program: tables, and what was looked for."""
        asked = {"stats": self.stats, "src": self.src, "check": self.check}
        return tuple(name for name, is_asked in asked.items() if is_asked)

    def stage_of(self, framework: str) -> str:
        """The stage that is asked of a framework.

        Raises:
            OptionError: an option is given that this framework has not.
        """
        stages = STAGES[framework]
        if self.stage is not None and self.stage not in stages:
            raise OptionError(
                f"--stage {self.stage}: this is a program of {framework}, whose stages are"
                f" {', '.join(stages)}"
            )
        of_jax = {"--platform": self.platform, "--check": self.check, "--on": self.on,
                  "--grad": self.grad, "--vmap": self.vmap, "--np": self.numpy}  # fmt: skip
        asked = [flag for flag, is_given in of_jax.items() if is_given]
        if framework != "jax" and asked:
            raise OptionError(f"{asked[0]} goes with JAX, and this is a program of {framework}")
        return self.stage or stages[0]


@dataclass(frozen=True, kw_only=True)
class PlaceOptions(ShownOptions):
    """What is to be told of devices and arrays.

    Attributes:
        start: let frameworks that were imported look for devices (``--start``).
        prealloc: False has frameworks take a GPU's memory as they need it (``--no-prealloc``).
        fraction: of each GPU's memory that a framework may take (``--mem-fraction``).
        peak: say what devices can do at most (``--peak``).
        fresh: measure that anew (``--fresh``).
    """

    start: bool = False
    prealloc: bool = True
    fraction: float | None = None
    peak: bool = False
    fresh: bool = False

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        if self.fraction is not None:
            checked("--mem-fraction", str(self.fraction), share)
        if self.fresh and not self.peak:
            raise OptionError("--fresh goes with --peak, which it measures anew: --peak --fresh")
        if self.peak and self.sets:
            raise OptionError("--peak goes on a line of its own: %fwdevices --peak")

    @property
    def sets(self) -> bool:
        """Whether something is to be set, not told."""
        return not self.prealloc or self.fraction is not None

    def check(self, code: str, cell: str | None) -> None:
        """Refuse code where there is none to be.

        Args:
            code: what stands behind the options.
            cell: what stands below; None where the magic is a line.
        """
        if self.peak and (code or cell is not None):
            raise OptionError("--peak goes on a line of its own: %fwdevices --peak")


@dataclass(frozen=True, kw_only=True)
class HistoryOptions(ShownOptions):
    """Which measurements of the past are to be shown.

    Attributes:
        text: that their name or code has; empty for any.
        last: how many, the newest of them; None for all (``--last``).
        since: seconds that they are old at most; None for any age (``--since``).
        framework: that was in play; None for any (``--framework``).
        here: of this notebook alone, or where it is not known of this directory (``--here``).
        plot: draw them over time (``--plot``).
        json: show the record instead of the report (``--json``).
        prune: seconds; older ones are removed (``--prune``).
    """

    text: str = ""
    last: int | None = 20
    since: float | None = None
    framework: str | None = None
    here: bool = False
    plot: bool = False
    json: bool = False
    prune: float | None = None


@dataclass(frozen=True, kw_only=True)
class TraceOptions(ShownOptions):
    """What is to be told of calls of compiled functions.

    Attributes:
        predict: say whether the call would be traced; nothing is run (``--predict``).
        most: traces that are allowed; more are an error (``--max-traces``).
        history: list the signatures with which functions were traced so far (``--history``).
        watch: "on" or "off": a line for each later cell that traces something (``--watch``).
        internal: list what was compiled outside of the calls (``--internal``).
        json: show the record instead of the report (``--json``).
    """

    predict: bool = False
    most: int | None = None
    history: bool = False
    watch: str | None = None
    internal: bool = False
    json: bool = False

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        if self.watch not in (None, "on", "off"):
            raise OptionError(f"--watch {self.watch}: it is on or off")
        alone = [name for name, given in (("--predict", self.predict), ("--history", self.history),
                                          ("--watch", self.watch)) if given]  # fmt: skip
        if len(alone) > 1:
            raise OptionError(f"{alone[0]} and {alone[1]} do not go together")

    def check(self, code: str, cell: str | None) -> None:
        """Refuse code where there is none to be, and options that go on a line of their own.

        Args:
            code: what stands behind the options.
            cell: what stands below; None where the magic is a line.
        """
        alone = self.predict or self.history or self.watch
        if cell is not None and alone:
            raise OptionError("--predict, --history and --watch go on a line of their own")
        if cell is not None and code:
            raise OptionError(f"{code!r} stands where options stand: write code below")
        if not (code or cell or self.watch or self.history):
            raise OptionError("there is nothing to run: %trace_cached f(x)")
