"""What frameworks may take of a GPU's memory: what was set, what could not be, and how to undo."""

from dataclasses import dataclass
from typing import ClassVar

from ipyjaxbench import units
from ipyjaxbench.reports.blocks import Facts, Headline, Report
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

    def check(self) -> str | None:
        """Nothing that was set is impossible."""
        return None

    def __repr__(self) -> str:
        """One line."""
        return f"<MemorySettings {self.asked}>"

    def report(self) -> Report:
        """Framework by framework."""
        done = sum(bool(each.undo) for each in self.settings)
        headline = Headline(
            f"%fwdevices {self.asked}",
            units.count(done, "setting"),
            "",
            "SET" if done else "NOTHING",
            "",
        )
        rows = []
        for each in self.settings:
            rows.append((each.framework, each.words))
            if each.undo:
                rows.append(("", f"undo: {each.undo}"))
        if self.note:
            rows.append(("", self.note))
        return Report((headline, Facts(tuple(rows))))
