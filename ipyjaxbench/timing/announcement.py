"""Other processes of a job are told of calls, and make the same ones."""

from typing import Protocol


class Announce(Protocol):
    """Tells other processes of calls, before they are made."""

    def __call__(self, purpose: str, calls: int, ahead: int = 0, *, samples: int = 1) -> None:
        """Say what they are for, how many make a sample, how many untimed ones go before."""


def announce_to_nobody(purpose: str, calls: int, ahead: int = 0, *, samples: int = 1) -> None:
    """Nobody else makes the same calls."""
