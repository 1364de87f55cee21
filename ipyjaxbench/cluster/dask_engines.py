"""The workers of Dask."""

from collections.abc import Callable, Sequence
from typing import Any

from ipyjaxbench.cluster.engines import Engines, Pending
from ipyjaxbench.cluster.on_engine import interrupt


def addresses_of(client: Any) -> Sequence[str]:
    """Return the addresses of the workers that the scheduler has, in order.

    It is asked each time: what the client keeps of its answers has no workers, now and then.

    Raises:
        OSError: the scheduler does not answer.
    """
    return sorted(client.nthreads())


class DaskEngines(Engines):
    """Workers of a client, by their addresses.

    Work is submitted to one worker each; it must not run on the worker's event loop, where it would
    stop the heartbeats.
    """

    def __init__(
        self, client: Any, addresses: Sequence[str], numbers: Sequence[int] | None = None
    ) -> None:
        self._client = client
        self._addresses = tuple(addresses)
        self.numbers = tuple(range(len(addresses)) if numbers is None else numbers)
        self.labels = tuple(f"worker {number}" for number in self.numbers)

    def submit(self, index: int, function: Callable[..., Any], *args: Any) -> Pending:
        """Have one worker call a function, in a thread of its own."""
        pending: Pending = self._client.submit(
            *(function, *args),
            workers=[self._addresses[index]],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )
        return pending

    def abort(self, pending: Any) -> None:
        """Take back what a worker has not begun."""
        pending.cancel()

    def interrupt(self, indices: Sequence[int]) -> None:
        """Raise KeyboardInterrupt in what the workers run for us."""
        alive = [self._addresses[index] for index in indices if self.is_alive(index)]
        if alive:
            self._client.run(interrupt, workers=alive, on_error="ignore")  # it takes no time

    def send_mark(self, index: int) -> Pending | None:  # noqa: ARG002
        """Nothing tells: a worker has threads, and what was sent later may be done sooner."""
        return None

    def is_alive(self, index: int) -> bool:
        """Return whether the scheduler still has a worker, however busy that is."""
        try:
            return self._addresses[index] in addresses_of(self._client)
        except OSError:
            return bool(self._client.status == "running")  # else the scheduler is gone

    def cause(self, error: BaseException) -> tuple[str, str]:
        """Return the class of an error that a worker raised, and its message."""
        return type(error).__name__, str(error)

    def choose(self, indices: Sequence[int]) -> "DaskEngines":
        """Return some of them, by their places among these."""
        addresses = [self._addresses[index] for index in indices]
        return DaskEngines(self._client, addresses, [self.numbers[index] for index in indices])
