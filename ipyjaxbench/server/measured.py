"""One measurement as the API describes it."""

import hashlib
from collections.abc import Sequence
from typing import Any

from ipyjaxbench.records import EntryHead
from ipyjaxbench.timing import Change
from ipyjaxbench.usercode import first_line

TREND = 20  # runs in a sparkline
_NO_CHANGE = "CAN'T TELL"


def split_id(own_id: str) -> tuple[str, int]:
    """Return the process that measured, and the number of the line in its file."""
    process, _, line = own_id.rpartition(".")
    return process, int(line)


def series_of(head: EntryHead) -> str:
    """Return what runs of the same code on the same data have in common, as a short key.

    Code that the user has named may change. The label of an arm, such as ``a``, is no name: in
    another cell it is other code.
    """
    is_name = head.label and (head.magic == "fwtime" or "." in head.label)
    name = head.label if is_name else (head.label, head.code)
    facts = (name, head.clock, sorted(head.at.items()), sorted(head.environment.data.items()))
    return hashlib.sha1(repr(facts).encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[
        :16
    ]


def describe_change(
    before: EntryHead | None, now: EntryHead, among: int = 1
) -> dict[str, Any] | None:
    """Return how a measurement differs from another one; None where there is no other.

    Of ``among`` changes that are shown together one may miss in 5 % of cases, as in
    ``python -m ipyjaxbench diff``.
    """
    if before is None:
        return None
    return describe(Change(before.figure, now.figure, among), edited=before.code != now.code)


def describe(change: Change, *, edited: bool) -> dict[str, Any]:
    """Return a change as numbers and in words: ``1.8× slower``, ``same``, ``can't tell``.

    Where the code was ``edited`` too, the words say so.
    """
    ratio, verdict = change.ratio, change.verdict
    words = verdict.lower() if verdict in ("SAME", _NO_CHANGE) else verdict
    if ratio is not None and verdict in ("FASTER", "SLOWER"):
        shown = ratio.inverse if verdict == "FASTER" else ratio
        words = " ".join(filter(None, (shown.factor(), verdict.lower(), _brackets(shown.span()))))
    return {
        "verdict": verdict,
        "words": f"{words}, edited code" if edited else words,
        "ratio": ratio and ratio.value,
        "low": ratio and ratio.low,
        "high": ratio and ratio.high,
    }


def _brackets(text: str) -> str:
    return f"({text})" if text else ""


def describe_measured(
    id: str,
    head: EntryHead,
    before: EntryHead | None,
    trend: Sequence[float],
    among: int = 1,
) -> dict[str, Any]:
    """Return one measurement.

    Args:
        id: of it in the history; empty for one that is not there.
        head: what is known of it.
        before: the run that it is compared with.
        trend: medians of the last runs, in seconds.
        among: how many changes are shown together.
    """
    rerun, around = head.figure.estimate, head.environment
    return {
        "id": id,
        "run": split_id(id)[0] if id else "",
        "series": series_of(head),
        "name": head.name,
        "line": first_line(head.code),
        "magic": head.magic,
        "at": head.at,
        "when": head.when,
        "median": head.median,
        "low": rerun.low,
        "high": rerun.high,
        "figure": head.headline.words(),
        "statistic": head.headline.statistic,
        "range": head.headline.span(),
        "verdict": head.figure.verdict,
        "clock": head.clock,
        "notebook": head.where.notebook,
        "cell": head.where.cell,
        "frameworks": around.frameworks,
        "devices": around.devices,
        "revision": around.revision,
        "python": around.python,
        "first_call": [{"phase": name, "seconds": s} for name, s in head.first_call.items()],
        "change": describe_change(before, head, among),
        "trend": trend,
    }
