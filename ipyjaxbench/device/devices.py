"""The devices of each framework, what their memory is used for, and which is the default."""

from dataclasses import dataclass

from ipyjaxbench.host import summarize_error
from ipyjaxbench.reports import Note


@dataclass(frozen=True)
class Device:
    """One device of a framework.

    Attributes:
        name: such as "cpu:0".
        kind: model, such as "NVIDIA H100 80GB HBM3"; empty where not known.
        process: index of the process that it belongs to.
        coordinates: in a mesh of chips; empty elsewhere.
        used: bytes in use; None where not known.
        peak: highest use so far in bytes; None where not known.
        limit: bytes that the framework may use; None where not known.
        users: number of other processes that use it; None where not known.
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
        """Return a note that it does not respond, with the reason."""
        return Note("no-answer", f"{self.name} does not respond: {summarize_error(error)}")


def gpu_kind(name: str, capability: str) -> str:
    """Return what a GPU is, with what NVIDIA calls its compute capability where it has one."""
    return f"{name}, compute capability {capability}" if capability else name


@dataclass(frozen=True)
class FrameworkDevices:
    """The devices of one framework.

    Attributes:
        framework: its name.
        version: its version.
        started: whether it is initialized; looking does not initialize it.
        devices: its devices, in its own order; empty if it is not initialized.
        default: device of new arrays.
        why: the setting that chose the default; empty if none did.
        words: notes on its memory; plain sentences in records of earlier versions.
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
        """Notes on its memory, as sentences."""
        return tuple(note if isinstance(note, str) else note.text for note in self.words)
