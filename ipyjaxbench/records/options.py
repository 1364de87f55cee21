"""Which measurements of the past are to be shown."""

from dataclasses import dataclass

from ipyjaxbench.option import flag, option
from ipyjaxbench.validation import age, newest

_FRAMEWORKS = ("jax", "torch", "tensorflow", "numpy", "python")


@dataclass(frozen=True, kw_only=True)
class HistoryOptions:
    """Which measurements of the past are to be shown; each option says what it does."""

    #: That their name or code has; empty for any.
    text: str = ""
    #: None for all.
    last: int | None = option(20, "--last 50", newest, "how many, the newest of them (20)")
    #: Seconds that they are old at most.
    since: float | None = option(None, "--since 7d", age, "not older than: 30m, 12h, 7d, 4w or 1y")
    framework: str | None = option(
        None, "--framework jax", _FRAMEWORKS, "only where this one was in play"
    )
    here: bool = flag("--here", "of this notebook; of this directory where its name is not known")
    plot: bool = flag("--plot", "draw the median over time")
    #: Seconds.
    prune: float | None = option(
        None, "--prune 30d", age, "remove files with nothing younger in them, then show the rest"
    )
