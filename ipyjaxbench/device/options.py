"""What is to be shown of devices and arrays."""

from dataclasses import dataclass

from ipyjaxbench.errors import OptionError
from ipyjaxbench.option import check_fields, flag, option
from ipyjaxbench.validation import share

_PEAK_ALONE = "--peak stands alone on its line: %fwdevices --peak"


@dataclass(frozen=True, kw_only=True)
class DeviceOptions:
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

    def __post_init__(self) -> None:
        """Refuse what breaks a rule, from Python as from a magic."""
        check_fields(self)
        if self.remeasure and not self.peak:
            raise OptionError("--remeasure needs --peak: %fwdevices --peak --remeasure")
        if self.peak and self.sets:
            raise OptionError(_PEAK_ALONE)

    @property
    def sets(self) -> bool:
        """Whether something is to be set, not shown."""
        return not self.prealloc or self.fraction is not None

    def check(self, code: str, cell: str | None) -> None:
        """Refuse code after the options, and a cell below, where neither is allowed."""
        if self.peak and (code or cell is not None):
            raise OptionError(_PEAK_ALONE)
