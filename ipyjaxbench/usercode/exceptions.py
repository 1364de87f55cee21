"""Errors that the user's code raises in calls whose failure is no failure of the measurement."""

from textwrap import shorten

from ipyjaxbench.reports.note import Note
from ipyjaxbench.timing import notes
from ipyjaxbench.usercode import objects


def ended_by(error: Exception, calls_made: int) -> Note:
    """A call after the first raised."""
    shown = one_line(error)
    once = calls_made == 2
    return notes.runs_once(shown) if once else notes.stopped_by_error(calls_made, shown)


def one_line(error: BaseException) -> str:
    """An error of the user's code by its class and the first line that it shows."""
    try:
        first, *_ = str(error).splitlines() or [""]
    except Exception:  # noqa: BLE001  the user's class of errors may fail to show itself
        first = ""
    shown = f"{objects.name_of(type(error))}: {first}".rstrip(".: ")
    return shorten(shown, 140, placeholder=" …")
