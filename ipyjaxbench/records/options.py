"""Which measurements of the past are to be shown."""

from dataclasses import dataclass

from ipyjaxbench.errors import OptionError
from ipyjaxbench.option import check_fields, flag, option
from ipyjaxbench.validation import age, newest

_FRAMEWORKS = ("jax", "torch", "tensorflow", "numpy", "python")


@dataclass(frozen=True, kw_only=True)
class HistoryOptions:
    """Which measurements of the past are to be shown; each option says what it does."""

    #: That their name or code has; empty for any.
    text: str = ""
    #: None for all.
    last: int | None = option(20, "--last 50", newest, "show at most this many, newest first (20)")
    #: Seconds that they are old at most.
    since: float | None = option(
        None, "--since 7d", age, "not older than this: 30m, 12h, 7d, 4w or 1y"
    )
    framework: str | None = option(
        None, "--framework jax", _FRAMEWORKS, "only measurements that used this framework"
    )
    here: bool = flag("--here", "only this notebook (or this directory, if its name is not known)")
    plot: bool = flag("--plot", "draw the medians over time")
    #: Seconds.
    prune: float | None = option(
        None, "--prune 30d", age, "delete files with nothing newer than this, then show the rest"
    )

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        check_fields(self)
        if not isinstance(self.text, str):
            raise OptionError(f"text={self.text!r}: must be a string")
