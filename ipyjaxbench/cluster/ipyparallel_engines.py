"""The engines of ipyparallel."""

from collections.abc import Callable, Sequence
from typing import Any

from ipyjaxbench.cluster.engines import Engines, Pending


class IpyparallelEngines(Engines):
    """Engines of a client, by their numbers."""

    def __init__(self, client: Any, targets: Sequence[int]) -> None:
        self._client = client
        self._targets = self.numbers = tuple(targets)
        self.labels = tuple(f"engine {target}" for target in targets)

    def submit(self, index: int, function: Callable[..., Any], *args: Any) -> Pending:
        """Have one engine call a function."""
        view = self._client[self._targets[index]]
        pending: Pending = view.apply_async(function, *args)
        return pending

    def abort(self, pending: Any) -> None:
        """Take back what an engine has not begun."""
        self._client.abort(pending, targets=pending.engine_id, block=False)  # it may be gone

    def interrupt(self, indices: Sequence[int]) -> None:
        """Send Ctrl-C to engines, also while they compute: their nannies hand it on."""
        alive = [self._targets[index] for index in indices if self.is_alive(index)]
        if alive:
            self._client.send_signal("SIGINT", targets=alive, block=False)

    def send_mark(self, index: int) -> Pending | None:
        """Have an engine answer when it has done all that it was sent before."""
        return self.submit(index, bool)

    def is_alive(self, index: int) -> bool:
        """Return whether an engine is still there."""
        return self._targets[index] in self._client.ids

    def cause(self, error: BaseException) -> tuple[str, str]:
        """Return the class of an error that an engine raised, and its message."""
        return getattr(error, "ename", type(error).__name__), getattr(error, "evalue", str(error))

    def choose(self, indices: Sequence[int]) -> "IpyparallelEngines":
        """Return some of them, by their places among these."""
        return IpyparallelEngines(self._client, [self._targets[index] for index in indices])
