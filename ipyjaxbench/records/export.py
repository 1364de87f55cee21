"""Rows of measurements for other programs: CSV and lines of JSON, always in UTF-8."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from ipyjaxbench.records.entry import EntryHead
from ipyjaxbench.timing import Figure

#: What spreadsheets take for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(entries: Iterable[EntryHead]) -> str:
    """Return a table as CSV (RFC 4180), with the columns of `History.to_pandas`.

    A text that begins as a formula does, such as a decorator, gets an apostrophe in front: a
    spreadsheet would run it. Numbers stay as they are.
    """
    written = io.StringIO()
    table = csv.DictWriter(written, list(_NOBODY.row()))
    table.writeheader()
    table.writerows(_without_formulas(entry.row()) for entry in entries)
    return written.getvalue()


def to_json_lines(entries: Iterable[EntryHead]) -> str:
    """Return the same rows as objects of JSON, one in each line; an unknown limit is null."""
    import msgspec

    return "".join(f"{msgspec.json.encode(entry.row()).decode()}\n" for entry in entries)


def _without_formulas(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
        for name, value in row.items()
    }


#: Names the columns where there are no entries.
_NOBODY = EntryHead(0, 0.0, "", "", "", Figure(0.0, None, 0, ""), 0.0)
