"""Collectives that a framework's processes can make, to measure how fast their network is."""

from collections.abc import Callable

from ipyjaxbench.frameworks.framework import Capability

#: What `Collectives.make` may be asked for, as XLA calls them.
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "broadcast")


class Collectives(Capability):
    """Collectives among all processes of a job, each with data of its own making."""

    def participants(self) -> int:
        """Return how many take part: devices, or processes where each has one; 0 if unknown."""
        return 0

    def transport(self) -> str:
        """Return what carries the data, such as "gloo" or "nccl"."""
        return ""

    def make(self, kind: str, nbytes: int) -> Callable[[], object]:
        """Return what runs one collective and waits for it; all processes must call it.

        Args:
            kind: one of `COLLECTIVES`.
            nbytes: of each participant's buffer; of what all participants hold together in an
                all-gather's result and in a reduce-scatter's argument. nccl-tests counts so.

        Raises:
            NotImplementedError: it is not offered; in any process, and before data is sent.
        """
        raise NotImplementedError(kind)
