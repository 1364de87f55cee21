"""What can be configured, by ``%config`` or in ``ipython_config.py``."""

from typing import Any

from traitlets import Bool, Float, Int, TraitError, validate
from traitlets.config import Configurable

#: Trait -> the keyword of options that it stands for where nothing is typed.
_KEYWORDS = {"budget": "usual", "precision": "precision", "restore": "restore"}


class IpyJaxBench(Configurable):
    """Defaults for all magics of ipyjaxbench."""

    budget = Float(
        None,
        allow_none=True,
        help="Seconds to spend after the first call: of %fwtime, and of each arm of %%fwcompare."
        " None means 2 and 2.2.",
    ).tag(config=True)
    precision = Int(3, min=1, max=15, help="Significant digits shown.").tag(config=True)
    progress = Bool(True, help="Show the progress of a long measurement.").tag(  # noqa: FBT003
        config=True
    )
    history = Bool(True, help="Save measurements, for %fwhistory and --against.").tag(config=True)  # noqa: FBT003
    restore = Bool(
        True,  # noqa: FBT003
        help="Undo what repeated calls change in place, in %fwtime and %%fwcompare.",
    ).tag(config=True)
    watch = Bool(
        False,  # noqa: FBT003
        help="Show below each cell what it traced, like %trace_cached --watch on.",
    ).tag(config=True)

    def option_values(self) -> dict[str, object]:
        """Return values by keyword of options, for what is not typed."""
        values = {keyword: getattr(self, trait) for trait, keyword in _KEYWORDS.items()}
        return {keyword: value for keyword, value in values.items() if value is not None}

    @validate("budget")
    def _check_budget(self, proposal: dict[str, Any]) -> float | None:
        from ipyjaxbench.errors import OptionError
        from ipyjaxbench.validation import checked, seconds

        value: float | None = proposal["value"]
        try:
            if value is not None:
                checked(f"{value:g}", seconds, typed=f"budget = {value:g}", example="budget = 5")
        except OptionError as broken:
            raise TraitError(str(broken)) from None
        return value
