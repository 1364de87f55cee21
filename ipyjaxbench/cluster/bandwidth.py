"""Bandwidth of collectives, as nccl-tests defines it (its doc/PERFORMANCE.md)."""

from collections.abc import Callable

#: What a link carries for each byte, by the number of participants.
_BUS: dict[str, Callable[[int], float]] = {
    "all-reduce": lambda n: 2 * (n - 1) / n,
    "all-gather": lambda n: (n - 1) / n,
    "reduce-scatter": lambda n: (n - 1) / n,
    "broadcast": lambda _: 1.0,
}


def algorithm_bandwidth(nbytes: int, seconds: float) -> float:
    """Return algbw: bytes of the collective in a second.

    Args:
        nbytes: of a participant's buffer in an all-reduce and a broadcast; of all participants'
            parts together in an all-gather and a reduce-scatter.
        seconds: that one collective takes.

    Example:
        >>> algorithm_bandwidth(64_000_000, 0.032)
        2000000000.0
    """
    return nbytes / seconds


def bus_bandwidth(kind: str, participants: int, nbytes: int, seconds: float) -> float:
    """Return busbw: algbw, corrected so that it does not depend on the number of participants.

    Example:
        >>> bus_bandwidth("all-reduce", 8, 64_000_000, 0.032)  # 2 * 7 / 8 of 2 GB/s
        3500000000.0
    """
    return algorithm_bandwidth(nbytes, seconds) * _BUS[kind](participants)
