"""What a request for the history asks for."""

from dataclasses import dataclass, fields
from datetime import date, datetime, time

from ipyjaxbench.server.errors import QueryError
from ipyjaxbench.validation import age

_MAX_LIMIT, _MAX_TEXT = 1_000, 500
_MARGIN = 3  # days: a time zone takes one, and Python looks a day around
SORTS = ("newest", "regressions", "name", "time")
_FORMATS = ("json", "csv", "jsonl")


@dataclass(frozen=True)
class HistoryQuery:
    """Which measurements, in which order.

    Attributes:
        text: that name or code contain.
        notebook: that the notebook's path ends with.
        framework: one of those that were used.
        device: that a device's name contains.
        since: a date, or an age such as "7d".
        until: a date, included.
        series: whose runs; empty for all.
        newest: whether the newest run of each series is asked for.
        sort: one of `SORTS`.
        offset: how many are left out before the first.
        limit: how many at most.
        format: "json", or "csv" and "jsonl" for files.
    """

    text: str = ""
    notebook: str = ""
    framework: str = ""
    device: str = ""
    since: str = ""
    until: str = ""
    series: str = ""
    newest: bool = False
    sort: str = "newest"
    offset: int = 0
    limit: int = 100
    format: str = "json"

    @classmethod
    def read(cls, arguments: dict[str, str]) -> "HistoryQuery":
        """Return what the arguments of a request ask for; unknown ones are ignored.

        Raises:
            QueryError: one breaks its rule.

        Example:
            >>> HistoryQuery.read({"limit": "5", "newest": "1"}).limit
            5
        """
        given = {f.name: arguments[f.name].strip() for f in fields(cls) if f.name in arguments}
        values: dict[str, object] = {name: text[:_MAX_TEXT] for name, text in given.items()}
        values |= {
            name: _number(name, given[name]) for name in ("offset", "limit") if name in given
        }
        values |= {"newest": given["newest"] == "1"} if "newest" in given else {}
        query = cls(**values)  # type: ignore[arg-type]
        query._check()
        return query

    def moments(self, now: float) -> tuple[float, float]:
        """Return the first and the last moment that match, in seconds since 1970."""
        last = float("inf")
        if self.until:
            last = _moment("until", self.until, days=1)
        return _since(self.since, now), last

    def _check(self) -> None:
        for name, choices in (("sort", SORTS), ("format", _FORMATS)):
            if getattr(self, name) not in choices:
                raise QueryError(f"{name}: must be one of {', '.join(choices)}")
        if not 1 <= self.limit <= _MAX_LIMIT:
            raise QueryError(f"limit: must be a whole number from 1 to {_MAX_LIMIT}")
        self.moments(0.0)


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise QueryError(f"{name}: must be a whole number, 0 or more")
    return int(text)


def _since(text: str, now: float) -> float:
    if not text:
        return float("-inf")
    try:
        return now - age(text)
    except ValueError:
        return _moment("since", text)


def _moment(name: str, text: str, days: int = 0) -> float:
    """Return when a day begins here, or as many days later, in seconds since 1970."""
    try:
        day = datetime.strptime(text, "%Y-%m-%d").date().toordinal() + days
    except ValueError:
        raise QueryError(
            f"{name}: must be a date such as 2026-11-01, or an age such as 7d"
        ) from None
    # The first and the last days that there are have no such moment everywhere.
    day = min(max(day, date.min.toordinal() + _MARGIN), date.max.toordinal() - _MARGIN)
    return datetime.combine(date.fromordinal(day), time()).timestamp()
