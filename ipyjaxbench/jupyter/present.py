"""What becomes of a magic's result: shown, kept under a name, given back."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from ipyjaxbench.command import ShownOptions
from ipyjaxbench.errors import ArmFailedError, Interrupted
from ipyjaxbench.jupyter.invocation import Typed
from ipyjaxbench.jupyter.screen import Screen

T = TypeVar("T")


def screen_for(typed: Typed[Any], chosen: ShownOptions) -> Screen:
    """Where the magic shows how far it is, if that is wanted, and its result."""
    told = typed.session.settings.progress and is_shown(typed, chosen)
    return Screen(typed.shell, active=told)


def is_shown(typed: Typed[Any], chosen: ShownOptions, raised: BaseException | None = None) -> bool:
    """Whether the magic shows its result, rather than IPython or nobody."""
    by_ipython = _is_returned(typed, chosen) and typed.use == "shown" and raised is None
    return not (chosen.quiet or by_ipython)


def hand_over(
    typed: Typed[Any],
    chosen: ShownOptions,
    result: Any,
    screen: Screen,
    shown: object = None,
    raised: BaseException | None = None,
    **how: Any,
) -> Any:
    """Show a result, keep it under the name that was asked for, and return it where it is used.

    What ended the work early is raised after that, so that a notebook stops there.

    Args:
        typed: the use of the magic.
        chosen: its options.
        result: what it found.
        screen: where to.
        shown: what to display in the place of the result.
        raised: what ended the work: an error of the user's code, or the user.
        how: for IPython's `display`.
    """
    __tracebackhide__ = True
    if is_shown(typed, chosen, raised):
        screen.replace(result if shown is None else shown, **how)
        typed.session.say_where_kept(result)
    if chosen.variable:
        typed.shell.user_ns[chosen.variable] = result
    if raised is not None:
        raise raised
    return result if _is_returned(typed, chosen) else None


def as_far_as_it_went(
    work: Callable[..., T], *args: Any, **named: Any
) -> tuple[T, BaseException | None]:
    """Measure; what was measured, and what ended or failed before all was."""
    __tracebackhide__ = True
    try:
        return work(*args, **named), None
    except Interrupted as stopped:
        interrupt = KeyboardInterrupt(*stopped.args).with_traceback(stopped.__traceback__)
        return cast("T", stopped.result), interrupt
    except ArmFailedError as failed:
        return cast("T", failed.result), failed.error


def _is_returned(typed: Typed[Any], chosen: ShownOptions) -> bool:
    return chosen.returned or typed.use == "used"
