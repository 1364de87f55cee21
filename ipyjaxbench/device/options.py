"""What is to be shown of devices and arrays."""

from dataclasses import dataclass

from ipyjaxbench.errors import OptionError
from ipyjaxbench.frameworks import JobOptions
from ipyjaxbench.option import check_fields, flag, option
from ipyjaxbench.validation import share

_PEAK_ALONE = "--peak stands alone on its line: %fwdevices --peak"

_HELD_ALONE = "--held and --release look at the whole session: %fwdevices --held"


@dataclass(frozen=True, kw_only=True)
class DeviceOptions(JobOptions):
    """What is to be shown of devices and arrays; each option says what it does."""

    start: bool = flag("--start", "initialize imported frameworks now, to list their devices")
    peak: bool = flag("--peak", "show the peak rates of each device; measured once per machine")
    remeasure: bool = flag("--remeasure", "with --peak: measure again", old="--fresh")
    prealloc: bool = flag(
        "--no-prealloc", "let frameworks allocate GPU memory as needed", default=True
    )
    fraction: float | None = option(
        None, "--mem-fraction 0.5", share, "limit each framework to this share of each GPU's memory"
    )

    held: bool = flag(
        "--held", "who still holds arrays beside your names: Out, the last traceback, graphs, ..."
    )
    release: bool = flag(
        "--release", "let go of arrays in Out, in _ and in the last traceback; say which"
    )

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        check_fields(self)
        if self.remeasure and not self.peak:
            raise OptionError("--remeasure needs --peak: %fwdevices --peak --remeasure")
        if self.peak and self.sets:
            raise OptionError(_PEAK_ALONE)
        if self.looks_for_holders and (self.peak or self.sets or self.start):
            raise OptionError(_HELD_ALONE)
        if self.engines and self.looks_for_holders:
            raise OptionError("--engines: each process looks into itself: %px %fwdevices --held")
        if self.engines and self.sets:
            raise OptionError(
                "--engines: memory is set by each process itself, before it computes:"
                " %px %fwdevices --no-prealloc"
            )

    @property
    def sets(self) -> bool:
        """Whether something is to be set, not shown."""
        return not self.prealloc or self.fraction is not None

    @property
    def looks_for_holders(self) -> bool:
        """Whether holders of arrays are to be found."""
        return self.held or self.release

    def check(self, code: str, cell: str | None) -> None:
        """Refuse code after the options, and a cell below, where neither is allowed."""
        if self.peak and (code or cell is not None):
            raise OptionError(_PEAK_ALONE)
        if self.looks_for_holders and (code or cell is not None):
            raise OptionError(_HELD_ALONE)
