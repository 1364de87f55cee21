"""What becomes of a magic's result: shown, kept under a name, given back."""

from typing import Any

from ipyjaxbench.magics._screen import Screen
from ipyjaxbench.magics._typed import Typed
from ipyjaxbench.options import ShownOptions


def screen_for(typed: Typed[Any], chosen: ShownOptions) -> Screen:
    """Where the magic shows how far it is, if that is wanted, and its result."""
    told = typed.session.settings.progress and is_shown(typed, chosen)
    return Screen(typed.shell, active=told)


def is_shown(typed: Typed[Any], chosen: ShownOptions) -> bool:
    """Whether the magic shows its result, rather than IPython or nobody."""
    by_ipython = _is_returned(typed, chosen) and typed.use == "shown"
    return not (chosen.quiet or by_ipython)


def hand_over(
    typed: Typed[Any],
    chosen: ShownOptions,
    result: Any,
    screen: Screen,
    shown: object = None,
    **how: Any,
) -> Any:
    """Show a result, keep it under the name that was asked for, and return it where it is used.

    Args:
        typed: the use of the magic.
        chosen: its options.
        result: what it found.
        screen: where to.
        shown: what to display in the place of the result.
        how: for IPython's `display`.
    """
    if is_shown(typed, chosen):
        screen.replace(result if shown is None else shown, **how)
    if chosen.variable:
        typed.shell.user_ns[chosen.variable] = result
    return result if _is_returned(typed, chosen) else None


def _is_returned(typed: Typed[Any], chosen: ShownOptions) -> bool:
    return chosen.returned or typed.use == "used"
