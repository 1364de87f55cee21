"""How later calls are made: what is waited for and what is set back, learned from the first one."""

from collections.abc import Mapping, Sequence
from typing import Any

from ipyjaxbench import notes
from ipyjaxbench.calls import CERTAIN_NS, Calls, Probe
from ipyjaxbench.frameworks import Framework, Wait
from ipyjaxbench.notes import Note
from ipyjaxbench.snippet import Snippet
from ipyjaxbench.state import all_alive
from ipyjaxbench.waiting import Drain, each, waiter_of

_LARGE = 0.25  # the share of a call that one reading alone must show


class Plan:
    """Arranges calls, and arranges them anew when more is known.

    Args:
        calls: what is to be arranged.
        value: of the last expression in the first call.
        results: values of the names that the first call bound.
        kept: names to set back before each call, with their values.
        frameworks: to ask how to wait.

    Attributes:
        wait: waits for the value and for the names bound, each in the cheapest way; None if
            there is nothing to wait for.
    """

    def __init__(
        self,
        calls: Calls,
        value: object,
        results: Mapping[str, object],
        kept: Mapping[str, Any],
        frameworks: Sequence[Framework],
    ) -> None:
        of_value = waiter_of(value, frameworks)
        of_names = {n: w for n, v in results.items() if (w := waiter_of(v, frameworks))}
        waits = [*([of_value] if of_value else []), *of_names.values()]
        self.wait: Wait | None = each(waits) if waits else None
        self._calls = calls
        self._waits_for_all = False
        self._hands_value = of_value is not None
        self._names = tuple(of_names)
        self._kept = dict(kept)
        self._arrange()

    def _arrange(self) -> None:
        self._calls.arrange(self.wait, value=self._hands_value, names=self._names, kept=self._kept)

    def learn(self, probes: Sequence[Probe]) -> list[Note]:
        """Wait for all devices after each call, if calls leave work that no value shows.

        Args:
            probes: calls that were looked at closely, at least one.

        Returns:
            A Note if it is so.
        """
        seen = [(probe.waited, probe.drained) for probe in probes]
        pending = self._calls.drain.pending(seen)
        if len(probes) == 1 and pending <= max(CERTAIN_NS, _LARGE * probes[0].waited):
            return []
        return self.wait_for_all(pending) if pending else []

    def wait_for_all(self, pending: int) -> list[Note]:
        """Wait for all devices after each call from now on."""
        if self._waits_for_all:
            return []
        self._waits_for_all = True
        self.wait = _then(self.wait, self._calls.drain)
        self._arrange()
        return [notes.elsewhere(pending * 1e-9)]


def _then(wait: Wait | None, drain: Drain) -> Wait:
    def wait_and_drain(value: Any) -> None:
        if wait is not None:
            wait(value)
        drain()

    return wait_and_drain


def set_back(
    snippet: Snippet, values: Mapping[str, object], frameworks: Sequence[Framework]
) -> dict[str, Any]:
    """Names that each call must find as the first one did: those of ``x = f(x)``.

    Without that ``x = concatenate([x, x])`` grows until memory ends. What was donated cannot be
    set back.

    Args:
        snippet: the code.
        values: what the names that it reads stood for before the first call.
        frameworks: to ask whether arrays were given away.

    Returns:
        The names with their values.
    """
    carried = [name for name in snippet.carried if name in values]
    return {name: values[name] for name in carried if all_alive(values[name], frameworks)}
