"""What can be configured, by ``%config`` or in ``ipython_config.py``."""

from typing import Any

from traitlets import Bool, Float, Int, TraitError, validate
from traitlets.config import Configurable

#: Trait -> the keyword of options that it stands for where nothing is typed.
_KEYWORDS = {"budget": "usual", "precision": "precision", "restore": "restore"}


class IpyJaxBench(Configurable):
    """What holds for all magics of ipyjaxbench where nothing else is typed."""

    budget = Float(
        None,
        allow_none=True,
        help="Seconds that %fwtime spends after the first call, and %%fwcompare on each arm;"
        " None for 2 and 2.2.",
    ).tag(config=True)
    precision = Int(3, min=1, max=15, help="Significant digits shown.").tag(config=True)
    progress = Bool(True, help="Whether a line tells how far a long measurement is.").tag(  # noqa: FBT003
        config=True
    )
    history = Bool(True, help="Whether measurements are kept in the history.").tag(config=True)  # noqa: FBT003
    restore = Bool(
        True,  # noqa: FBT003
        help="Whether %fwtime and %%fwcompare put back what later calls change in place.",
    ).tag(config=True)
    watch = Bool(
        False,  # noqa: FBT003
        help="Whether a line tells what a cell traced, as %trace_cached --watch on has it.",
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
                checked("budget", f"{value:g}", seconds)
        except OptionError as broken:
            raise TraitError(str(broken)) from None
        return value
