"""What each call is waited for: decided once, and handed to what makes the calls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ipyjaxbench.frameworks import Framework, Wait, find_waiter, wait_for_each


@dataclass(frozen=True)
class Waiting:
    """What each call is waited for, before the next one begins."""

    wait: Wait | None = None  # waits for the value and the names; None where nothing is waited for
    takes_value: bool = False  # whether it is given the value
    names: tuple[str, ...] = ()  # those whose values it is given
    for_all: bool = False  # whether it also waits for work that neither of them shows
    is_asynchronous: bool = False  # whether calls come back before their work is done

    @classmethod
    def for_results(
        cls, value: object, results: Mapping[str, object], frameworks: Sequence[Framework]
    ) -> "Waiting":
        """Wait for values built like one and for names bound, each in the cheapest way."""
        of_value = find_waiter(value, frameworks)
        of_names = {n: w for n, v in results.items() if (w := find_waiter(v, frameworks))}
        waits = [*([of_value] if of_value else []), *of_names.values()]
        wait = wait_for_each(waits) if waits else None
        return cls(wait, of_value is not None, tuple(of_names), is_asynchronous=bool(waits))

    def and_for(self, synchronize: Callable[[], object]) -> "Waiting":
        """Wait for work that the results do not show, too."""
        wait = self.wait

        def wait_for_all(value: Any) -> None:
            __tracebackhide__ = True
            if wait is not None:
                wait(value)
            synchronize()

        return replace(self, wait=wait_for_all, for_all=True, is_asynchronous=True)
