"""Has the first call of each arm start from the state that the first arm's found: like for like."""

from ipyjaxbench.frameworks import Checkpoint, Compilation, CopyBudget, Held, Scope
from ipyjaxbench.timing import Session
from ipyjaxbench.usercode import ask


class StartState:
    """What the first call of an arm finds, of all that it can change in place.

    It looks before that call, right after it, and puts the state back for the next arm's; at the
    end objects are as the first calls left them.
    """

    def __init__(self, session: Session) -> None:
        snippet, frameworks = session.snippet, session.frameworks
        scope = Scope(snippet, frameworks)
        gives_away = any(
            ask(framework.capability(Compilation).donates, function)
            for framework in frameworks
            for function in scope.functions
        )
        self._found = Checkpoint(
            {**scope.read_values, **scope.called, **scope.captured},
            frameworks,
            snippet.names,
            snippet.codes,
            budget=CopyBudget(gives_away=gives_away, arms=session.arms),
        )
        self._left: list[Held] = []

    def inspect_first_call(self) -> bool:
        """Remember what the call left; return whether it changed anything."""
        self._left = [each._replace(state=each.state.again()) for each in self._found.changed()]
        return bool(self._left)

    def put_back(self) -> None:
        """Have the next arm find the same."""
        self._found.restore()
        self._found.restore_again()

    def leave(self) -> None:
        """Have what the first call changed be as that left it."""
        left, self._left = self._left, []
        for _, state, _ in left:
            if state.can_restore:
                state.restore()
