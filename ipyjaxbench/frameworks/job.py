"""A job of many processes, and the key-value store over which they reach each other.

Nothing here touches a device: a collective in which one process is missing never ends.
"""

from abc import ABC, abstractmethod

from ipyjaxbench.frameworks.framework import Capability, Framework
from ipyjaxbench.frameworks.registry import loaded


class Job(ABC):
    """One process among those of a job, with the store that they share.

    Attributes:
        rank: its number, from 0.
        size: how many processes there are.
    """

    rank: int
    size: int

    @abstractmethod
    def put(self, key: str, value: bytes) -> None:
        """Write what any process may read; each key is written once."""

    @abstractmethod
    def get(self, key: str, milliseconds: int) -> bytes | None:
        """Return what was written, as soon as it is; None if it is not within the time."""

    @abstractmethod
    def peek(self, key: str) -> bytes | None:
        """Return what was written until now; None if nothing was."""

    @abstractmethod
    def add(self, key: str, more: int = 1) -> int:
        """Count more under a key, atomically; return the count."""


class Coordination(Capability):
    """The service that a framework runs among the processes of a job."""

    def job(self) -> Job | None:
        """Return this process's place in a job of several; None where it is alone."""
        return None

    def reason(self) -> str | None:
        """Return why a job of several that is there cannot be used; None where it can."""
        return None

    def wait_for_collectives(self, value: object) -> bool:  # noqa: ARG002
        """Wait for collectives that a value stands for; return whether there were any."""
        return False


def find_job() -> tuple[Framework, Job] | None:
    """Return the job of which this process is one, and whose it is; None where it is alone."""
    frameworks, _ = loaded()
    jobs = ((framework, framework.capability(Coordination).job()) for framework in frameworks)
    return next(((framework, job) for framework, job in jobs if job is not None), None)


def explain_unusable_job() -> str:
    """Return why a job of which this process is one cannot be used; "" where there is none such."""
    reasons = (framework.capability(Coordination).reason() for framework in loaded()[0])
    return next(filter(None, reasons), "")
