"""What frameworks may take of a GPU's memory: what was set, what could not be, and how to undo."""

from dataclasses import dataclass
from typing import ClassVar

from ipyjaxbench.reports.result import Result


@dataclass(frozen=True)
class MemorySetting:
    """What became of what was asked, in one framework.

    Attributes:
        framework: whose memory.
        words: what was set, or why it was not.
        undo: what to type to have it as before; empty where nothing was set.
    """

    framework: str
    words: str
    undo: str = ""


@dataclass(frozen=True, repr=False)
class MemorySettings(Result):
    """What became of what was asked, in all frameworks.

    Attributes:
        asked: as it is typed, such as "--no-prealloc".
        settings: by framework.
        note: what holds for all of them; empty where nothing does.
    """

    kind: ClassVar[str] = "memory settings"

    asked: str
    settings: tuple[MemorySetting, ...]
    note: str = ""

    def __repr__(self) -> str:
        """One line."""
        return f"<MemorySettings {self.asked}>"
