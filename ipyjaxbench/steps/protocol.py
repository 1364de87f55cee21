"""What a framework says of where Python waits for its devices."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from ipyjaxbench.frameworks import Capability


class WaitPoint(NamedTuple):
    """A function, method or property in which Python waits for a device.

    Attributes:
        owner: the class or module that has it.
        name: its name there.
        waits: whether a call with these arguments may wait; None where each does.
    """

    owner: Any
    name: str
    waits: Callable[..., bool] | None = None


class DeviceWaits(Capability):
    """Where Python waits for the framework's devices, and who computes inside of a call."""

    def points(self) -> Sequence[WaitPoint]:
        """Return all places where Python waits; none, where there is never anything to wait for."""
        return ()

    def while_compiling(
        self,
        on_change: Callable[[bool], None],  # noqa: ARG002
    ) -> AbstractContextManager[object]:
        """Return a context that says when compiling begins (True) and ends (False).

        It is for frameworks that read the functions that `points` names, to compile them.
        """
        return nullcontext()

    def computes_in_call(self, array: Any) -> bool:  # noqa: ARG002
        """Whether the call that just made an array came back with its numbers computed.

        On the host's CPU that call is host and device at once. False for an accelerator's arrays:
        that works beside Python.
        """
        return True

    def is_read_in_place(self, value: object) -> bool:  # noqa: ARG002
        """Whether NumPy reads its memory, and waits for its numbers, without a call of `points`."""
        return False

    def wait(self, array: Any) -> None:
        """Wait for one array that is read in place."""

    def loader_advice(self, value: object) -> str:  # noqa: ARG002
        """Return what makes a loader of the framework's own faster; "" for other values."""
        return ""
