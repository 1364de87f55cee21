"""The work with which a device's ceilings are measured, as one framework does it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from ipyjaxbench.device.microbenchmarks import Run


class Probe(ABC):
    """Makes work for one device; each piece computes, and gives its result when that is done.

    Arrays are made when the work is, so that running it moves and computes nothing else. What a
    device or framework cannot do raises, in any way. All is done in the context of `usual`.

    Attributes:
        device: its name, as placements tell it.
        dtypes: of matrix products that users of it compute.
        on_host: whether its arrays are in the host's memory, so that nothing is copied to it.
        settings: those of the user's that change how fast it computes, in words.
    """

    device: str
    dtypes: tuple[str, ...] = ("float32", "float64")
    on_host: bool = True
    settings: str = ""

    def usual(self) -> AbstractContextManager[object]:
        """Settings of the user's that would keep work from being done, put aside for a while."""
        return nullcontext()

    @abstractmethod
    def product(self, dtype: str, n: int) -> Run:
        """A product of two matrices with n rows and columns."""

    @abstractmethod
    def streams(self, nbytes: int) -> Sequence[tuple[Run, int]]:
        """Ways to go through an array of so many bytes, with the bytes that each moves in all."""

    @abstractmethod
    def upload(self, nbytes: int) -> Run:
        """A copy of so many bytes from the host's memory to the device's."""

    @abstractmethod
    def download(self, nbytes: int) -> Run:
        """A copy of so many bytes from the device's memory to the host's."""

    @abstractmethod
    def nothing(self) -> Run:
        """The smallest operation: what it takes is what starting any operation takes."""
