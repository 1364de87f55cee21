"""How a measurement is told against one that was kept."""

from collections.abc import Iterator
from dataclasses import dataclass

from ipyjaxbench import ratios, units
from ipyjaxbench.timing.figure import Change, Figure


@dataclass(frozen=True)
class Against:
    """A measurement that was kept, to hold the new one against.

    Attributes:
        name: what was asked for: a name, "last" or "best".
        base: what it found; None where nothing is kept yet.
        age: seconds since then; None where it was kept in this session.
        differs: what is not the same now, in words.
    """

    name: str
    base: Figure | None = None
    age: float | None = None
    differs: tuple[str, ...] = ()

    def check(self) -> str | None:
        """Why these facts cannot be true, in words; None where they can."""
        return self.base.check() if self.base else None

    def change(self, now: Figure) -> Change | None:
        """The new figure against it; None where nothing is kept yet."""
        return Change(self.base, now) if self.base else None

    def rows(self, now: Figure) -> Iterator[tuple[str, str]]:
        """Labelled lines for the report of the new one."""
        change = self.change(now)
        if change is None:
            yield "against", f"{self.name}: nothing of this code with such data was kept before"
            return
        ratio, word = change.ratio, change.verdict
        explained = dict(ratios.EXPLAINED)
        if ratio and ratio.covers_one():
            explained["CAN'T TELL"] = "runs at two times differ as much by themselves"
        when = f", {units.ago(self.age)}" if self.age is not None else ", in this session"
        told = f"{word}: {explained[word]}" if word in explained else word
        takes = f"{ratio.words()}× {ratio.interval()} the time of" if ratio else "no ratio to"
        name = {"last": "the last run", "best": "the best run"}.get(self.name, f"'{self.name}'")
        yield "against", f"{takes} {name} ({change.base.words()}{when}). {told}"
        if self.differs:
            yield "differs", " · ".join(self.differs)
