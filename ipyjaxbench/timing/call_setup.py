"""How later calls are made: what is waited for and what is set back, learned from the first one."""

from collections.abc import Mapping, Sequence
from typing import Any

from ipyjaxbench.frameworks import Framework, Wait
from ipyjaxbench.reports import Note
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.isolation import all_alive
from ipyjaxbench.timing.runner import Calls, TimedCall
from ipyjaxbench.timing.synchronize import Drain, find_waiter, leaves_work, wait_for_each
from ipyjaxbench.usercode import Snippet


class CallPlan:
    """Arranges calls, and arranges them anew when more is known."""

    def __init__(
        self,
        calls: Calls,
        value: object,
        results: Mapping[str, object],
        kept: Mapping[str, Any],
        frameworks: Sequence[Framework],
    ) -> None:
        of_value = find_waiter(value, frameworks)
        of_names = {n: w for n, v in results.items() if (w := find_waiter(v, frameworks))}
        waits = [*([of_value] if of_value else []), *of_names.values()]
        # Waits for the value and for the names bound; None if there is nothing to wait for.
        self.wait: Wait | None = wait_for_each(waits) if waits else None
        self._calls = calls
        self.waits_for_all = False  # whether it also waits for work that neither of them shows
        self._hands_value = of_value is not None
        self._names = tuple(of_names)
        self._kept = dict(kept)
        self._arrange()

    def _arrange(self) -> None:
        self._calls.arrange(self.wait, value=self._hands_value, names=self._names, kept=self._kept)

    def decide_waiting(self, warmup: Sequence[TimedCall]) -> list[Note]:
        """Wait from now on for all that a call starts, where these calls left work; say so."""
        seen = [(call.waited, call.left) for call in warmup]
        left = leaves_work(seen, is_certain=self._calls.hidden.is_certain)
        return self.wait_for_all(left) if left else []

    def wait_for_all(self, left: int) -> list[Note]:
        """Wait from now on, after each call, for the frameworks whose work was found running."""
        if self.waits_for_all:
            return []
        self.waits_for_all = True
        drain = Drain([*self._calls.hidden.found_running], self._calls.clock)
        self.wait = _then(self.wait, drain)
        self._arrange()
        return [notes.elsewhere(left * 1e-9)]


def _then(wait: Wait | None, drain: Drain) -> Wait:
    def wait_and_drain(value: Any) -> None:
        if wait is not None:
            wait(value)
        drain()

    return wait_and_drain


def values_to_reset(
    snippet: Snippet, values: Mapping[str, object], frameworks: Sequence[Framework]
) -> dict[str, Any]:
    """Return the values of names that each call must find as the first one did: of ``x = f(x)``.

    Without that ``x = concatenate([x, x])`` grows until memory ends. What was donated cannot be
    set back.
    """
    carried = [name for name in snippet.carried if name in values]
    return {name: values[name] for name in carried if all_alive(values[name], frameworks)}
