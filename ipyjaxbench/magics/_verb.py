"""What all magics have: a shell, a session, and one way to hand a result over."""

from typing import Any, ClassVar, TypeVar

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics

from ipyjaxbench.commands import Command
from ipyjaxbench.magics._screen import Screen
from ipyjaxbench.magics._session import Session
from ipyjaxbench.magics._typed import Typed
from ipyjaxbench.options import ShownOptions

T = TypeVar("T")


class Verb(Magics):
    """Magics of one kind.

    Args:
        session: what they share with the others.

    Attributes:
        commands: the tables of their options; each magic has the name of its table.
    """

    shell: InteractiveShell
    commands: ClassVar[tuple[Command[Any], ...]] = ()

    def __init__(self, session: Session) -> None:
        super().__init__(session.shell)
        self.session = session

    def split(self, command: Command[T], line: str) -> tuple[T, str]:
        """The options in front of a line, with what the user configured, and the rest."""
        return command.split(line, self.session.settings.chosen())

    def screen(self, typed: Typed, chosen: ShownOptions) -> Screen:
        """Where the magic shows how far it is, if that is wanted, and its result."""
        told = self.session.settings.progress and is_shown(typed, chosen)
        return Screen(self.shell, active=told)

    def document(self) -> None:
        """Have the help of each magic tell what is configured."""
        for each in self.commands:
            getattr(type(self), each.name).__doc__ = each.help(self.session.settings.chosen())


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
