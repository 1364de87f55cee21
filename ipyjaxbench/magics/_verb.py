"""What all magics have: a shell, a session, and one way to hand a result over."""

from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics

from ipyjaxbench.magics._screen import Screen
from ipyjaxbench.magics._session import Session
from ipyjaxbench.magics._typed import Typed
from ipyjaxbench.options import ShownOptions


class Verb(Magics):
    """Magics of one kind.

    Args:
        session: what they share with the others.
    """

    shell: InteractiveShell

    def __init__(self, session: Session) -> None:
        super().__init__(session.shell)
        self.session = session


def is_shown(typed: Typed, chosen: ShownOptions) -> bool:
    """Whether the magic shows its result, rather than IPython or nobody."""
    by_ipython = returned(typed, chosen) and typed.use == "shown"
    return not (chosen.quiet or by_ipython)


def returned(typed: Typed, chosen: ShownOptions) -> bool:
    """Whether the magic gives its result back."""
    return chosen.returned or typed.use == "used"


def hand_over(
    typed: Typed,
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
    return result if returned(typed, chosen) else None
