"""Notes that a session tells once: what a framework does where the user has set nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipyjaxbench.reports import Note, Report, Result

#: Codes of the Notes that stay as true, and as useful, as they were in the first report.
_TOLD_ONCE = {"default-precision"}


class KnownNotes:
    """What the reader of this session has been told of the defaults of frameworks."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def forget(self) -> None:
        """Tell everything once more."""
        self._known.clear()

    def leave_out(self, report: Report) -> Report:
        """Return a report without what was told before; what it tells is known from now on."""
        shorter = report.without(lambda note: _key(note) in self._known)
        self._known |= {key for note in report.notes() if (key := _key(note))}
        return shorter


def _key(note: Note) -> str:
    """Return the advice, which names the framework's own setting; "" of what is told each time."""
    return note.advice if note.code in _TOLD_ONCE else ""


class BriefResult:
    """A result as it is displayed: its report without known notes, its record with all of them."""

    def __init__(self, result: Result, known: KnownNotes) -> None:
        self._result, self._known = result, known

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:  # noqa: ARG002
        from ipyjaxbench.reports import MIME, spell_report

        brief = self._known.leave_out(self._result.report())
        return {**spell_report(brief), MIME: self._result.to_dict()}

    def __str__(self) -> str:
        """The full report as text, for shells that display nothing."""
        return str(self._result)
