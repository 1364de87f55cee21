"""The devices of each framework, what their memory is used for, and which is the default."""

from dataclasses import dataclass

from ipyjaxbench.host import summarize_error
from ipyjaxbench.reports import Note


@dataclass(frozen=True)
class Device:
    """One device of a framework.

    Attributes:
        name: such as "cpu:0".
        kind: what it is, such as "NVIDIA H100 80GB HBM3"; empty where that is not known.
        process: to which it belongs, of several that work together.
        coordinates: in a mesh of chips; empty elsewhere.
        used: bytes that its arrays take; None where that is not known.
        peak: most that they took so far; None where that is not known.
        limit: bytes that it has for the framework; None where that is not known.
        users: other processes that hold a part of it; None where that is not known.
    """

    name: str
    kind: str = ""
    process: int = 0
    coordinates: tuple[int, ...] = ()
    used: int | None = None
    peak: int | None = None
    limit: int | None = None
    users: int | None = None

    def failure(self, error: Exception) -> Note:
        """Return that it does not answer, with the reason."""
        return Note("no-answer", f"{self.name} does not respond: {summarize_error(error)}")


def gpu_kind(name: str, capability: str) -> str:
    """Return what a GPU is, with what NVIDIA calls its compute capability where it has one."""
    return f"{name}, compute capability {capability}" if capability else name


@dataclass(frozen=True)
class FrameworkDevices:
    """The devices of one framework.

    Attributes:
        framework: whose they are.
        version: of the framework.
        started: whether it has looked for devices; asking it for them would have it start.
        devices: in its own order; empty where it has not started.
        default: where arrays are made.
        why: what makes that the default, in words.
        words: what to know of its memory; sentences alone where an earlier version saved it.
    """

    framework: str
    version: str
    started: bool
    devices: tuple[Device, ...] = ()
    default: str = ""
    why: str = ""
    words: tuple[Note | str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """What to know of its memory, a sentence each."""
        return tuple(note if isinstance(note, str) else note.text for note in self.words)
