"""Two runs as a table of Markdown, for the summary of a job of GitHub Actions."""

import math
import re
from collections.abc import Iterator

from ipyjaxbench import units
from ipyjaxbench.records.notebook_diff import Pair, Rerun
from ipyjaxbench.timing import NO_FIGURE, Change

_ORDER = ("SLOWER", "INVALID", "ONCE", "CAN'T TELL", "SAME", "FASTER")
_ICONS = {"SLOWER": "🔴 ", "FASTER": "🟢 ", "INVALID": "⚠️ "}
_MAX_ROWS = 500  # GitHub takes 1 MiB for each step
_MAX_NAME = 120  # characters
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-!|~&$@:])")
_RULE = (
    "SLOWER and FASTER: the 95 % interval of the ratio is beyond 1 %, corrected for the number of"
    " rows. CAN'T TELL: two runs may differ this much by chance."
)


def to_markdown(r: Rerun) -> str:
    """Return the sentence to read, then a row for each measurement, what became slower first.

    Whatever a name or a path contains, it is shown as it is.
    """
    both = sorted(zip(r.pairs, r.changes, strict=True), key=lambda both: _rank(both[1]))
    lines = [f"**{_sentence(r)}**", ""]
    lines += ["| | median before | median after | ratio (95 % CI) | |", "|---|---:|---:|---:|---|"]
    lines += [_row(pair, change) for pair, change in both[:_MAX_ROWS]]
    lines += ["", *_below(r, len(both) - _MAX_ROWS)]
    return "\n".join(lines).rstrip() + "\n"


def code(text: str) -> str:
    r"""Return a text as code in a cell of a table: one line, with its bars and backticks.

    A run of backticks longer than any in the text delimits it (CommonMark 6.1). A bar ends a cell
    in code, too, unless it is escaped (GitHub Flavored Markdown 4.10).

    Example:
        >>> code("f(a|b)"), code("`x`"), code("a\nb")
        ('`f(a\\|b)`', '`` `x` ``', '`a b`')
    """
    line = units.cut(" ".join(text.split()), _MAX_NAME) or " "
    line = "".join(sign if sign.isprintable() else "�" for sign in line)
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    padding = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{padding}{line}{padding}{fence}".replace("|", "\\|")


def _plain(text: str) -> str:
    """Return a text with what Markdown, HTML and GitHub would read as marks escaped."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _sentence(r: Rerun) -> str:
    total = units.count(len(r.pairs), "measurement")
    slower, faster = len(r.slower), len(r.faster)
    if not (slower or faster):
        said = f"No clear change in {total}"
    elif not slower:
        said = f"{faster} of {total} faster, none slower"
    else:
        worst = max(c.ratio.value for c in r.changes if c.verdict == "SLOWER" and c.ratio)
        more = f" and {faster} faster" if faster else ""
        said = f"{slower} of {total} slower (up to {worst:.2f}×){more}"
    invalid = len(r.invalid)
    return f"{said}; {invalid} not compared: no valid figure." if invalid else f"{said}."


def _rank(change: Change) -> tuple[int, float]:
    """Return the place of a row: the verdict, and within that the largest ratio first."""
    ratio = change.ratio.value if change.ratio else 1.0
    known = change.verdict in _ORDER
    return (_ORDER.index(change.verdict) if known else 1, -math.log(ratio))


def _row(pair: Pair, change: Change) -> str:
    ratio = change.ratio
    has_ratio = ratio is not None and change.verdict not in NO_FIGURE
    against = f"{ratio.words()} {ratio.interval()}" if ratio and has_ratio else ""
    word = f"{_ICONS.get(change.verdict, '')}{change.verdict}"
    name = code(pair.name) + (f" in cell {pair.cell}" if pair.cell else "")
    name += ", edited" if pair.edited else ""
    times = [_time(figure.median, figure.verdict) for figure in (pair.before, pair.after)]
    return f"| {' | '.join((name, *times, against, word))} |"


def _time(median: float, verdict: str) -> str:
    shown = units.duration(median)
    return f"{shown} {verdict}" if verdict in (*NO_FIGURE, "RECOMPILES") else shown


def _below(r: Rerun, left_out: int) -> Iterator[str]:
    if left_out > 0:
        yield f"{left_out} more rows, with smaller changes, are left out."
        yield ""
    facts = [f"before: {code(r.before)}, after: {code(r.after)}"]
    if r.differs:
        facts.append(f"changed: {', '.join(map(_plain, r.differs))}")
    for where, names in (("before", r.only_before), ("after", r.only_after)):
        if names:
            facts.append(f"only {where}: {', '.join(map(code, names))}")
    if r.refused:
        facts.append(f"unreadable: {units.count(r.refused, 'record')}")
    yield f"<sub>{'; '.join(facts)}. {_RULE}</sub>"
